// SPDX-License-Identifier: BSD-2-Clause
// Reads the PCI bus from Linux's sysfs. A container sees the bus of its host, so a GPU counts even
// if the container has no driver for it; the advice to install a driver is then correct.
#include "sys/cuda/pci.hpp"

#include <filesystem>
#include <fstream>

namespace tenon::cuda {

namespace {

constexpr const char* kNvidia = "0x10de";    // the vendor
constexpr const char* kControllers = "0x03"; // the begin of the class of display and 3D controllers

std::string firstWord(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

} // namespace

bool isWithoutGpu(const std::string& devices) {
  std::error_code failed;
  bool isEmpty = true;
  for (std::filesystem::directory_iterator at(devices, failed), end; !failed && at != end;
       at.increment(failed)) {
    isEmpty = false;
    if (firstWord(at->path() / "vendor") == kNvidia &&
        firstWord(at->path() / "class").starts_with(kControllers))
      return false;
  }
  // A bus that cannot be read, or seems to have no device at all, proves nothing.
  return !failed && !isEmpty;
}

} // namespace tenon::cuda
