// SPDX-License-Identifier: BSD-2-Clause
// Target of libFuzzer: parses the input as a weights map (weights/assignment.hpp). It may be
// refused with TENON_ERR_FORMAT; any other error is a crash.
#include "read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tenon::test::refusedOrFine([&] {
    tenon::parseWeightsMap(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  });
}
