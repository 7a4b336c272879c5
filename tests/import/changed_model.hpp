// SPDX-License-Identifier: BSD-2-Clause
// Copies of model files in which one number of a tensor differs.
#pragma once

#include "layer/run_layer.hpp"
#include "weights/zip.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenon::test {

// The file of a process, which the end of the process removes.
struct ChangedCopy {
  const std::string path = testing::TempDir() + "changed_" + std::to_string(getpid()) + ".pt2";
  ~ChangedCopy() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

// Writes a copy of a model, in which element `number` of a tensor is multiplied by 1 + part, and
// returns its path. The tensor's checksum, which a zip archive has twice, is corrected, so the file
// is valid. Each process writes a copy with a name of its own; all have equal bytes.
template <class T>
inline std::string changedModel(const char* model, const std::string& tensor, std::size_t number,
                                double part) {
  std::ifstream file(model, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  std::string bytes = all.str();
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "model");
  for (const ZipMember& member : readZip(*source)) {
    if (!member.name.ends_with("/" + tensor))
      continue;
    const std::uint32_t before = member.crc;
    char* first = bytes.data() + member.begin;
    T weight;
    std::memcpy(&weight, first + number * sizeof weight, sizeof weight);
    weight *= static_cast<T>(1 + part);
    std::memcpy(first + number * sizeof weight, &weight, sizeof weight);
    const auto after = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(first), static_cast<uInt>(member.bytes)));
    int places = 0; // where the checksum was found
    for (std::size_t at = 0;
         (at = bytes.find(std::string(reinterpret_cast<const char*>(&before), 4), at)) !=
         bytes.npos;
         ++places)
      bytes.replace(at, 4, reinterpret_cast<const char*>(&after), 4);
    EXPECT_EQ(places, 2);
  }
  static const ChangedCopy copy;
  std::ofstream(copy.path, std::ios::binary) << bytes;
  return copy.path;
}

} // namespace tenon::test
