// SPDX-License-Identifier: BSD-2-Clause
// IDX files, the format of MNIST: two zero bytes, a type code, the rank, the extents as big-endian
// 32-bit numbers, then the elements in row-major order. The leading dimension counts the items.
//
// A process of a distributed network needs only a part of each item, so a reading names a box, and
// nothing outside it is kept. The file is checked when it is opened, against its whole length, so a
// truncated or foreign file is refused before training begins.
#pragma once

#include "geometry/layout/box.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

class IdxFile {
public:
  // The type codes of the format. Only unsigned bytes can be read.
  enum class ElementType : std::uint8_t {
    UnsignedByte = 0x08,
    SignedByte = 0x09,
    Short = 0x0b,
    Int = 0x0c,
    Float = 0x0d,
    Double = 0x0e
  };

  explicit IdxFile(std::string path);

  const std::string& path() const noexcept { return path_; }
  ElementType elementType() const noexcept { return elementType_; }
  const Shape& shape() const noexcept { return shape_; }

  // The elements in a box of all dimensions, in row-major order.
  std::vector<std::uint8_t> readBox(const Box& box) const;
  // The same for all items: one interval for each dimension but the leading one.
  std::vector<std::uint8_t> readCrop(const Box& crop) const;

private:
  void checkBox(const Box& box) const;

  std::string path_;
  ElementType elementType_ = ElementType::UnsignedByte;
  Shape shape_;
  Index headerBytes_ = 0;
};

} // namespace tenon
