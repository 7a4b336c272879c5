// SPDX-License-Identifier: BSD-2-Clause
// Network files: what is read is written again as a text that is read as the same.
#include "declaration/core/network_file.hpp"
#include "read_everything.hpp"

#include <cstdlib>

namespace {

constexpr tenon::Index kProcesses = 1024;

std::unique_ptr<tenon::Declaration> nobodyKnows(const std::string&) {
  return nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string written;
  tenon::test::refusedOrFine([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    written = tenon::networkText(tenon::parseNetwork(text, "fuzz", nobodyKnows, kProcesses));
  });
  if (!written.empty() &&
      tenon::networkText(tenon::parseNetwork(written, "fuzz", nobodyKnows, kProcesses)) != written)
    std::abort();
  return 0;
}
