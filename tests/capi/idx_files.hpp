// SPDX-License-Identifier: BSD-2-Clause
// IDX files of bytes, as tests write them.
#pragma once

#include "capi/expect_code.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace tenon::test {

using Bytes = std::vector<unsigned char>;

inline Bytes idxHeader(const std::vector<unsigned>& shape) {
  Bytes bytes{0, 0, 8, static_cast<unsigned char>(shape.size())};
  for (unsigned extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<unsigned char>(extent >> shift));
  return bytes;
}

// One rank writes, all may read when it returns.
inline void writeBytes(const std::string& path, const Bytes& bytes) {
  if (worldRank() == 0) {
    std::ofstream file(path, std::ios::binary);
    for (unsigned char byte : bytes)
      file.put(static_cast<char>(byte));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace tenon::test
