// SPDX-License-Identifier: BSD-2-Clause
// A tensor as a weights file has it: name, type, shape, and where its bytes lie.
#pragma once

#include "weights/byte_source.hpp"
#include "weights/element_type.hpp"

#include <optional>

namespace tenon {

// A member of a zip archive.
struct ZipMember {
  std::string name;
  Index header = 0;            // offset of its local header
  Index begin = 0;             // of its bytes in the file
  Index stored = 0, bytes = 0; // their number, and that of what they unpack to
  std::uint32_t crc = 0;
  bool deflated = false, hasDescriptor = false;
};

struct StoredTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<Index> shape = {};
  bool isFortranOrder = false; // the first dimension varies fastest
  // Where the bytes begin: in the file for safetensors, in the unpacked member for npz.
  Index begin = 0;
  Index bytes = 0;
  std::optional<ZipMember> member = {};
};

struct WeightsDirectory {
  std::vector<StoredTensor> tensors = {};
  // Whether the order of the tensors is that in which the program that wrote them has them.
  bool isOrdered = false;
};

inline constexpr std::size_t kMaxDimensions = 32;
// A larger directory is refused: that of a hundred thousand tensors is smaller.
inline constexpr Index kMaxDirectoryBytes = Index(16) << 20;

// The bytes of so many elements; none if no 64-bit integer holds them.
std::optional<Index> bytesOf(const std::vector<Index>& shape, ElementType type);
// Names come from a file and go into messages: not empty, at most 1,024 bytes, no control
// characters. Throws TENON_ERR_FORMAT.
void checkName(const ByteSource& source, const std::string& name);
// Throws TENON_ERR_FORMAT if a name is given twice.
void checkDistinct(const ByteSource& source, const std::vector<StoredTensor>& tensors);

} // namespace tenon
