// SPDX-License-Identifier: BSD-2-Clause
// Target of libFuzzer: reads any bytes as a weights file (read_everything.hpp). CMakeLists.txt lets
// it begin with safetensors files.
#include "read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tenon::test::readEverything(data, size);
}
