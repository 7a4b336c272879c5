// SPDX-License-Identifier: BSD-2-Clause
// numpy's npy format. The header is "\x93NUMPY", a version of two bytes, the length of the
// following text (2 bytes in version 1, 4 bytes later), and the text, a Python literal
//  {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// The elements follow.
#pragma once

#include "weights/byte_source.hpp"
#include "weights/element_type.hpp"
#include "weights/stored_tensor.hpp"

#include <string_view>

namespace tenon {

// numpy's npz format: a zip archive with one npy file for each array, "name.npy", in the order in
// which the arrays were saved.

// Both throw TENON_ERR_FORMAT. The first reads one member of any archive, whose name ends with
// .npy; the array's name is that without the ending.
StoredTensor readNpyMember(const ByteSource& source, const ZipMember& member);
WeightsDirectory readNpz(const ByteSource& source);

struct NpyHeader {
  ElementType type = ElementType::F32;
  bool isFortranOrder = false;
  std::vector<Index> shape = {};
};

// Number of bytes to read for the length of the text.
inline constexpr Index kNpyStart = 12;
inline constexpr Index kMaxNpyText = Index(1) << 16;

struct NpyStart {
  Index textBegin = 0, textBytes = 0;
};
// Parse the start (from the first kNpyStart bytes of array `name`) and the text. Both functions
// throw TENON_ERR_FORMAT.
NpyStart parseNpyStart(const ByteSource& source, const std::string& name, const std::byte* first);
NpyHeader parseNpyText(const ByteSource& source, const std::string& name, std::string_view text);

// Returns everything before the elements; its size is a multiple of 64 bytes.
std::string npyHeader(ElementType type, const std::vector<Index>& shape);

} // namespace tenon
