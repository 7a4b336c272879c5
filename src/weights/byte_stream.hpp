// SPDX-License-Identifier: BSD-2-Clause
// The bytes of one tensor, or of one member of an archive, from the first to the last, through a
// buffer of fixed size.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

class ByteStream {
public:
  virtual ~ByteStream() = default;
  // Both throw TENON_ERR_FORMAT if there are fewer.
  virtual void read(std::byte* to, Index count) = 0;
  virtual void skip(Index count) = 0;
  // For a member of an archive, reads to the end and compares the checksum. Throws
  // TENON_ERR_FORMAT.
  virtual void finish() = 0;
};

// Bytes that the file has as they are; what is skipped is not read. The file must have `count`
// bytes.
std::unique_ptr<ByteStream> streamBytes(const ByteSource& source, Index begin, Index count);
// What the member unpacks to.
std::unique_ptr<ByteStream> streamMember(const ByteSource& source, const ZipMember& member);

} // namespace tenon
