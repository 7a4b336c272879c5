// SPDX-License-Identifier: BSD-2-Clause
// Builds weights files in memory for tests, from the descriptions of the formats and without the
// library's own code:
//
//   safetensors   length of the header (8 bytes), header (JSON), data of the tensors
//   npy           "\x93NUMPY", version, length of the header (2 bytes, from version 2 on 4),
//                 header (a Python dictionary), data of one array
//   npz           a zip file whose members are npy files, packed with deflate or not
//
// All integers are little-endian. zip() can also write wrong values, for tests of damaged files. At
// the end, openFile() and readAll() read such a file with the library.
#pragma once

#include "weights/weights_file.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

// The last `bytes` bytes of an integer, the least significant byte first.
inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

// The values as they are in memory.
template <class T>
std::string rawBytes(const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

inline std::string safetensors(const std::string& json, const std::string& data) {
  return number(json.size(), 8) + json + data;
}

// `dictionary` is the header, for example {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3),
// }.
inline std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  return "\x93NUMPY" + number(static_cast<std::uint64_t>(version), 1) + number(0, 1) +
         number(dictionary.size(), version == 1 ? 2 : 4) + dictionary + data;
}

// Packed with deflate, without zlib's own header (negative window bits), as zip files store it.
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

// A member of a zip file. The last three members of this struct make the file invalid.
struct Member {
  std::string name, bytes; // the contents, not packed
  bool isDeflated = false;
  bool isZip64 = false;       // sizes are in an extra field with 64-bit integers
  bool hasDescriptor = false; // sizes and checksum follow the data, as in a file written to a pipe
  int flags = 0;              // additional general-purpose flags, such as 1 for "encrypted"
  std::uint64_t claimedBytes = ~std::uint64_t(0); // replaces the size of `bytes`, unless it is ~0
  std::string before = {};                        // bytes in front of the local header
};

// The signatures of the records of a zip file (APPNOTE of PKWARE, section 4.3).
inline constexpr std::uint64_t kLocalHeader = 0x04034b50;
inline constexpr std::uint64_t kDescriptor = 0x08074b50;
inline constexpr std::uint64_t kDirectoryEntry = 0x02014b50;
inline constexpr std::uint64_t kZip64End = 0x06064b50;
inline constexpr std::uint64_t kZip64Locator = 0x07064b50;
inline constexpr std::uint64_t kEnd = 0x06054b50;

// A zip file:
//
//   local header, data [, descriptor]   for each member
//   directory entry                     for each member: the header's fields and its position
//   [zip64 end, zip64 locator]          if endIsZip64
//   end                                 number of members, size and position of the directory

inline std::string zip(const std::vector<Member>& members, const std::string& comment = "",
                       bool endIsZip64 = false) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string stored = m.isDeflated ? deflated(m.bytes) : m.bytes;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size()));
    const std::uint64_t bytes = ~m.claimedBytes ? m.claimedBytes : m.bytes.size();
    const std::uint64_t isInField = 0xffffffff; // in place of a size: read it from the extra field
    const int flags = m.flags | (m.hasDescriptor ? 8 : 0); // bit 3: a descriptor follows the data
    file += m.before;
    const std::size_t begin = file.size();
    // Needed version 2.0, flags, method (8: deflate), time and date: the same in header and entry.
    const std::string start = number(20, 2) + number(static_cast<std::uint64_t>(flags), 2) +
                              number(m.isDeflated ? 8 : 0, 2) + number(0, 4);
    // The extra field with number 1 (zip64) has 16 bytes: both sizes. numpy writes it for small
    // members too.
    const std::string field =
        m.isZip64 ? number(1, 2) + number(16, 2) + number(bytes, 8) + number(stored.size(), 8) : "";
    file += number(kLocalHeader, 4) + start + number(m.hasDescriptor ? 0 : crc, 4) +
            number(m.hasDescriptor ? 0
                   : m.isZip64     ? isInField
                                   : stored.size(),
                   4) +
            number(m.hasDescriptor ? 0
                   : m.isZip64     ? isInField
                                   : bytes,
                   4) +
            number(m.name.size(), 2) + number(field.size(), 2) + m.name + field + stored;
    if (m.hasDescriptor)
      file += number(kDescriptor, 4) + number(crc, 4) + number(stored.size(), 4) + number(bytes, 4);
    directory += number(kDirectoryEntry, 4) + number(45, 2) + start + number(crc, 4) +
                 number(m.isZip64 ? isInField : stored.size(), 4) +
                 number(m.isZip64 ? isInField : bytes, 4) + number(m.name.size(), 2) +
                 number(field.size(), 2) + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(begin, 4) + m.name + field;
  }
  const std::size_t begin = file.size();
  file += directory;
  if (endIsZip64) {
    const std::size_t end64 = file.size();
    file += number(kZip64End, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4) +
            number(0, 4) + number(members.size(), 8) + number(members.size(), 8) +
            number(directory.size(), 8) + number(begin, 8);
    file += number(kZip64Locator, 4) + number(0, 4) + number(end64, 8) + number(1, 4);
  }
  // With a zip64 end, all bits of the fields of the plain end are set.
  const auto inPlainEnd = [&](std::uint64_t value, int count) {
    return endIsZip64 ? number(~std::uint64_t(0), count) : number(value, count);
  };
  return file + number(kEnd, 4) + number(0, 4) + inPlainEnd(members.size(), 2) +
         inPlainEnd(members.size(), 2) + inPlainEnd(directory.size(), 4) + inPlainEnd(begin, 4) +
         number(comment.size(), 2) + comment;
}

// Opens a file in memory under the name 'some file'. `bytes` must not be destroyed before the
// result.
inline WeightsFile openFile(const std::string& bytes) {
  return WeightsFile(bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                             static_cast<Index>(bytes.size()), "some file"));
}

// All elements of a tensor, row-major.
template <class T = double>
std::vector<T> readAll(const WeightsFile& file, const StoredTensor& tensor) {
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
