// SPDX-License-Identifier: BSD-2-Clause
#include "read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tenon::test::readEverything(data, size);
}
