// SPDX-License-Identifier: BSD-2-Clause
// The header of numpy's npy format: "\x93NUMPY", a version of two bytes, the length of the text
// that follows (2 bytes in version 1, 4 after it), and the text, a Python literal
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// The elements follow.
#pragma once

#include "weights/byte_source.hpp"
#include "weights/element_type.hpp"
#include "weights/stored_tensor.hpp"

#include <string_view>

namespace tenon {

// numpy's npz format: a zip archive with one npy file for each array, "name.npy", in the order in
// which they were saved.

// Both throw TENON_ERR_FORMAT. A member of any archive, whose name ends with .npy, as an array of
// that name without the ending.
StoredTensor readNpyMember(const ByteSource& source, const ZipMember& member);
WeightsDirectory readNpz(const ByteSource& source);

struct NpyHeader {
  ElementType type = ElementType::F32;
  bool isFortranOrder = false;
  std::vector<Index> shape = {};
};

// The bytes before the text, of which the length is read.
inline constexpr Index kNpyStart = 12;
inline constexpr Index kMaxNpyText = Index(1) << 16;

struct NpyStart {
  Index textBegin = 0, textBytes = 0;
};
// From the first kNpyStart bytes of the tensor `name`. Both functions throw TENON_ERR_FORMAT.
NpyStart parseNpyStart(const ByteSource& source, const std::string& name, const std::byte* first);
NpyHeader parseNpyText(const ByteSource& source, const std::string& name, std::string_view text);

// All before the elements, whose number of bytes is a multiple of 64.
std::string npyHeader(ElementType type, const std::vector<Index>& shape);

} // namespace tenon
