// SPDX-License-Identifier: BSD-2-Clause
// Element types in weights files, named as in safetensors, and conversion of elements to float or
// double.
#pragma once

#include "sys/types.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace tenon {

// All types that safetensors can contain.
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
// Whether parameters can be read from this type: F16, BF16, F32, F64.
bool isReal(ElementType type);

// Converts `count` elements: to[i * stride] = element i. The type must be real. Returns false if a
// finite number overflows T.
template <class T>
bool convertElements(ElementType type, const std::byte* from, Index count, T* to, Index stride);

} // namespace tenon
