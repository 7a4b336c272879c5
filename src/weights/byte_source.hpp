// SPDX-License-Identifier: BSD-2-Clause
// The bytes of a file of known length, read in place, and a name for messages.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class ByteSource {
public:
  // `kind` is what messages call it.
  explicit ByteSource(std::string name, std::string kind = kWeightsFile)
      : name_(std::move(name)), kind_(std::move(kind)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  static constexpr const char* kWeightsFile = "weights file";

  const std::string& name() const noexcept { return name_; }
  const std::string& kind() const noexcept { return kind_; }
  virtual Index size() const noexcept = 0;
  // Reads all of them or throws TENON_ERR_FILE; `offset` and `count` are within the size.
  virtual void read(Index offset, std::byte* to, Index count) const = 0;

  // Throws TENON_ERR_FORMAT unless the bytes lie within the size; `what` names them.
  std::vector<std::byte> readPart(Index offset, Index count, const char* what) const;
  // Throws TENON_ERR_FORMAT naming the file, and the tensor in it unless that is empty.
  [[noreturn]] void fail(const std::string& tensor, const std::string& why) const;

private:
  std::string name_, kind_;
};

// A regular file, open while the source lives. Throws TENON_ERR_FILE.
std::unique_ptr<ByteSource> openBytes(const std::string& path,
                                      const std::string& kind = ByteSource::kWeightsFile);
// The same of a path below a folder, without following symbolic links; TENON_ERR_SUPPORT where it
// would leave the folder.
std::unique_ptr<ByteSource> openBytesBelow(const std::string& folder, const std::string& path,
                                           const std::string& kind);
// Bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> bytesAt(const std::byte* first, Index count, std::string name);

// A little-endian number of `count` <= 8 bytes.
std::uint64_t littleEndian(const std::byte* from, int count);

} // namespace tenon
