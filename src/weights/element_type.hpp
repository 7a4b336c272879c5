// SPDX-License-Identifier: BSD-2-Clause
// The types of elements in weights files, named as in safetensors, and their values as numbers.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace tenon {

enum class ElementType {
  Bool,
  U8,
  I8,
  F8_E5M2,
  F8_E4M3,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  I64,
  U64,
  F64
};

const char* elementTypeName(ElementType type);
std::optional<ElementType> elementTypeNamed(std::string_view name);
Index elementSize(ElementType type);
// Whether a parameter can be read from it: F16, BF16, F32, F64.
bool isReal(ElementType type);

// to[i stride] = element i, for each of `count`. The type is real. Returns false if a finite number
// is too large for T.
template <class T>
bool convertElements(ElementType type, const std::byte* from, Index count, T* to, Index stride);

} // namespace tenon
