// SPDX-License-Identifier: BSD-2-Clause
// Weights files in memory, made by hand from the formats' descriptions.
#pragma once

#include "weights/weights_file.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

template <class T>
std::string rawBytes(const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

inline std::string safetensors(const std::string& json, const std::string& data) {
  return number(json.size(), 8) + json + data;
}

inline std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  return "\x93NUMPY" + number(static_cast<std::uint64_t>(version), 1) + number(0, 1) +
         number(dictionary.size(), version == 1 ? 2 : 4) + dictionary + data;
}

inline std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

// What a test may say wrongly of a member.
struct Member {
  std::string name, bytes;
  bool isDeflated = false, isZip64 = false, hasDescriptor = false;
  int flags = 0;
  std::uint64_t claimedBytes = ~std::uint64_t(0); // in the directory
  std::string before = {};                        // bytes in front of the local header
};

inline std::string zip(const std::vector<Member>& members, const std::string& comment = "",
                       bool endIsZip64 = false) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string stored = m.isDeflated ? deflated(m.bytes) : m.bytes;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::uint64_t bytes = ~m.claimedBytes ? m.claimedBytes : m.bytes.size();
    const std::uint64_t large = 0xffffffff;
    const int flags = m.flags | (m.hasDescriptor ? 8 : 0);
    file += m.before;
    const std::size_t begin = file.size();
    const std::string start = number(20, 2) + number(static_cast<std::uint64_t>(flags), 2) +
                              number(m.isDeflated ? 8 : 0, 2) + number(0, 4);
    // As numpy writes: a zip64 field whatever the size.
    const std::string field =
        m.isZip64 ? number(1, 2) + number(16, 2) + number(bytes, 8) + number(stored.size(), 8) : "";
    const bool isLater = m.hasDescriptor;
    file += number(0x04034b50, 4) + start + number(isLater ? 0 : crc, 4) +
            number(isLater     ? 0
                   : m.isZip64 ? large
                               : stored.size(),
                   4) +
            number(isLater     ? 0
                   : m.isZip64 ? large
                               : bytes,
                   4) +
            number(m.name.size(), 2) + number(field.size(), 2) + m.name + field + stored;
    if (isLater)
      file += number(0x08074b50, 4) + number(crc, 4) + number(stored.size(), 4) + number(bytes, 4);
    directory += number(0x02014b50, 4) + number(45, 2) + start + number(crc, 4) +
                 number(m.isZip64 ? large : stored.size(), 4) +
                 number(m.isZip64 ? large : bytes, 4) + number(m.name.size(), 2) +
                 number(field.size(), 2) + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(begin, 4) + m.name + field;
  }
  const std::size_t begin = file.size();
  file += directory;
  if (endIsZip64) {
    const std::size_t end64 = file.size();
    file += number(0x06064b50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4) +
            number(0, 4) + number(members.size(), 8) + number(members.size(), 8) +
            number(directory.size(), 8) + number(begin, 8);
    file += number(0x07064b50, 4) + number(0, 4) + number(end64, 8) + number(1, 4);
  }
  const auto small = [&](std::uint64_t value, int count) {
    return endIsZip64 ? number(~std::uint64_t(0), count) : number(value, count);
  };
  return file + number(0x06054b50, 4) + number(0, 4) + small(members.size(), 2) +
         small(members.size(), 2) + small(directory.size(), 4) + small(begin, 4) +
         number(comment.size(), 2) + comment;
}

// The bytes must live as long as the file.
inline WeightsFile openFile(const std::string& bytes) {
  return WeightsFile(bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                             static_cast<Index>(bytes.size()), "some file"));
}

// The whole tensor, row-major.
template <class T = double>
std::vector<T> allOf(const WeightsFile& file, const StoredTensor& tensor) {
  std::vector<WeightsFile::Part> parts(tensor.shape.size());
  Index stride = 1;
  for (std::size_t d = parts.size(); d-- > 0;) {
    parts[d] = {0, tensor.shape[d], stride};
    stride *= tensor.shape[d];
  }
  std::vector<T> values(static_cast<std::size_t>(stride));
  file.read(tensor, parts, values.data());
  return values;
}

} // namespace tenon::test
