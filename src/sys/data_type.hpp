// SPDX-License-Identifier: BSD-2-Clause
// Data types of tensors, and the dispatch from the run-time type to code for its C++ type.
#pragma once

#include "sys/bfloat16.hpp"
#include "sys/errors/error.hpp"
#include "sys/types.hpp"

#include <tenon/types.h>

#include <type_traits>

namespace tenon {

// The type of tensors with values rounded to bfloat16, which are stored but not computed with. Only
// the library creates them, so the type is not in the public TenonDataType: its value is one that
// the enumeration can represent but does not define.
inline constexpr auto kBFloat16 = static_cast<TenonDataType>(TENON_DATATYPE_MAX_ - 1);

Index dataTypeSize(TenonDataType type);
const char* dataTypeName(TenonDataType type);
// Throws TENON_ERR_DATATYPE unless the type is one of TenonDataType.
void checkDataType(TenonDataType type);
// True for int32 and int64.
constexpr bool isInteger(TenonDataType type) noexcept {
  return type == TENON_INT32 || type == TENON_INT64;
}
// Whether the number is an integer that this integer type can hold.
bool fitsInto(TenonDataType type, double number) noexcept;
// Throws TENON_ERR_DATATYPE unless the type is float32 or float64; `what` is the operation that
// needs it.
void checkFloating(TenonDataType type, const char* what);
// Throws TENON_ERR_INTERNAL: an array has another type than the kernel that is called with it.
[[noreturn]] void throwTypesDiffer(TenonDataType ofArray, TenonDataType ofKernel);

template <class T>
constexpr TenonDataType dataTypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return TENON_FLOAT32;
  if constexpr (std::is_same_v<T, double>)
    return TENON_FLOAT64;
  if constexpr (std::is_same_v<T, BFloat16>)
    return kBFloat16;
  if constexpr (std::is_same_v<T, std::int32_t>)
    return TENON_INT32;
  return TENON_INT64;
}

// Calls f with a value of the C++ type: visitDataType(type, [&]<class T>(T) { ... }). f is compiled
// for all types.
template <class F>
decltype(auto) visitDataType(TenonDataType type, F&& f) {
  checkDataType(type);
  switch (type) {
  case TENON_FLOAT32:
    return f(float());
  case TENON_FLOAT64:
    return f(double());
  case TENON_INT32:
    return f(std::int32_t());
  default:
    return f(std::int64_t());
  }
}

// visitDataType() for float32 and float64 only; throws TENON_ERR_DATATYPE for an integer type.
template <class F>
decltype(auto) visitFloating(TenonDataType type, F&& f) {
  checkFloating(type, "this operation");
  return type == TENON_FLOAT32 ? f(float()) : f(double());
}

} // namespace tenon
