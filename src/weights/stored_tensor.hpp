// SPDX-License-Identifier: BSD-2-Clause
// A tensor in a weights file: its name, type and shape, and the position of its bytes.
#pragma once

#include "weights/byte_source.hpp"
#include "weights/element_type.hpp"

#include <optional>

namespace tenon {

// A member of a zip archive.
struct ZipMember {
  std::string name;
  Index header = 0;            // offset of its local header
  Index begin = 0;             // offset of its data in the file
  Index stored = 0, bytes = 0; // size in the file and decompressed size, in bytes
  std::uint32_t crc = 0;
  bool deflated = false, hasDescriptor = false;
};

// A tensor in the directory of a file; its elements have not been read.
struct StoredTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<Index> shape = {};
  bool isFortranOrder = false; // the first dimension varies fastest
  // Offset of the data: in the file for safetensors, in the decompressed member for npz.
  Index begin = 0;
  Index bytes = 0;
  std::optional<ZipMember> member = {};
};

// All tensors of a file.
struct WeightsDirectory {
  std::vector<StoredTensor> tensors = {};
  // Whether the tensors are in the order of the program that wrote them.
  bool isOrdered = false;
};

inline constexpr std::size_t kMaxDimensions = 32;
// Larger directories are rejected; 100,000 tensors need less.
inline constexpr Index kMaxDirectoryBytes = Index(16) << 20;

// Returns the number of bytes; none if it overflows 64 bits.
std::optional<Index> bytesOf(const std::vector<Index>& shape, ElementType type);
// Checks a name from a file before it is used in messages: 1 to 1,024 bytes, no control characters.
// Throws TENON_ERR_FORMAT.
void checkName(const ByteSource& source, const std::string& name);
// Throws TENON_ERR_FORMAT if two tensors have the same name.
void checkDistinct(const ByteSource& source, const std::vector<StoredTensor>& tensors);

} // namespace tenon
