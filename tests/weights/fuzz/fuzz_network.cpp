// SPDX-License-Identifier: BSD-2-Clause
// Fuzz target of network files (JSON). An input that can be parsed is written as text; this text
// must be parsed without an error, and written as the same text again.
#include "declaration/core/network_file.hpp"
#include "read_everything.hpp"

#include <cstdlib>

namespace {

constexpr tenon::Index kProcesses = 1024;

// Layer types that the library does not have are unknown here.
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
