// SPDX-License-Identifier: BSD-2-Clause
// What was read of a file, kept to be read again elsewhere: one process reads the description of a
// network, the others get these bytes and read the same description from them; and whoever opens the
// file later for its weights can tell whether it is the same file.
#pragma once

#include "weights/byte_source.hpp"

#include <map>

namespace tenon {

// The parts of a file that have been read, by offset; neighbours and overlaps are joined.
class RecordedBytes {
public:
  explicit RecordedBytes(Index size) : size_(size) {}
  // From text(). Throws TENON_ERR_INTERNAL for another text.
  static RecordedBytes fromText(const std::string& text);

  void add(Index offset, const std::byte* bytes, Index count);
  Index size() const noexcept { return size_; }
  // Throws TENON_ERR_INTERNAL if they were not recorded.
  void read(Index offset, std::byte* to, Index count) const;
  std::string text() const;
  // Throws TENON_ERR_FILE unless the file has these bytes.
  void checkSame(const ByteSource& file) const;

private:
  Index size_; // of the file
  std::map<Index, std::string> parts_;
};

// A file that notes what is read of it, and one made of what was noted; the records must outlive them.
std::unique_ptr<ByteSource> recording(const ByteSource& file, RecordedBytes& record);
std::unique_ptr<ByteSource> replaying(const RecordedBytes& record, const std::string& name,
                                      const std::string& kind);

} // namespace tenon
