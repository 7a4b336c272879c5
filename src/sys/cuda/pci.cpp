// SPDX-License-Identifier: BSD-2-Clause
// Reads the PCI bus from Linux's sysfs. A container sees the bus of its host, so a GPU counts even
// if the container has no driver for it; the advice to install a driver is then correct.
#include "sys/cuda/pci.hpp"

#include <filesystem>
#include <fstream>

namespace tenon::cuda {

namespace {

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
    if (firstWord(at->path() / "vendor") == "0x10de" &&
        firstWord(at->path() / "class").starts_with("0x03"))
      return false;
  }
  return !failed && !isEmpty;
}

} // namespace tenon::cuda
