// SPDX-License-Identifier: BSD-2-Clause
// Sequential access to the bytes of one tensor, or of one archive member (decompressed), through a
// buffer of fixed size.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

// Calls: any number of read() and skip(), then finish().
class ByteStream {
public:
  virtual ~ByteStream() = default;
  // Both throw TENON_ERR_FORMAT if there are not enough bytes.
  virtual void read(std::byte* to, Index count) = 0;
  virtual void skip(Index count) = 0;
  // For a member of an archive, reads to the end and verifies the checksum. Throws
  // TENON_ERR_FORMAT.
  virtual void finish() = 0;
};

// Streams bytes of the file; skipped bytes are not read. The range must be inside the file.
std::unique_ptr<ByteStream> streamBytes(const ByteSource& source, Index begin, Index count);
// Streams the decompressed bytes of an archive member.
std::unique_ptr<ByteStream> streamMember(const ByteSource& source, const ZipMember& member);

} // namespace tenon
