// SPDX-License-Identifier: BSD-2-Clause
// A sequence of bytes of known length, in a file or in memory, with a name for messages.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tenon {

// The interface of all sources; reading has no file position, so a source can be shared.
class ByteSource {
public:
  // `kind` is a description for messages, such as "weights file".
  explicit ByteSource(std::string name, std::string kind = kWeightsFile)
      : name_(std::move(name)), kind_(std::move(kind)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  static constexpr const char* kWeightsFile = "weights file";

  const std::string& name() const noexcept { return name_; }
  const std::string& kind() const noexcept { return kind_; }
  virtual Index size() const noexcept = 0;
  // Reads exactly `count` bytes, or throws TENON_ERR_FILE. The range must be inside the source.
  virtual void read(Index offset, std::byte* to, Index count) const = 0;

  // Returns the bytes of a range. Throws TENON_ERR_FORMAT if it exceeds the source; `what`
  // describes the bytes in the message.
  std::vector<std::byte> readPart(Index offset, Index count, const char* what) const;
  // Throws TENON_ERR_FORMAT with the name of the file, and of the tensor unless it is empty.
  [[noreturn]] void fail(const std::string& tensor, const std::string& why) const;

private:
  std::string name_, kind_;
};

// Opens a regular file, which stays open while the source exists. Throws TENON_ERR_FILE.
std::unique_ptr<ByteSource> openBytes(const std::string& path,
                                      const std::string& kind = ByteSource::kWeightsFile);
// Opens a file at a path relative to a folder, without following symbolic links. Throws
// TENON_ERR_SUPPORT if the path would leave the folder.
std::unique_ptr<ByteSource> openBytesBelow(const std::string& folder, const std::string& path,
                                           const std::string& kind);
// Returns a source of bytes in memory, which must outlive it.
std::unique_ptr<ByteSource> bytesAt(const std::byte* first, Index count, std::string name);

// Decodes a little-endian number of `count` <= 8 bytes.
std::uint64_t littleEndian(const std::byte* from, int count);

} // namespace tenon
