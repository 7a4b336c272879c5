// SPDX-License-Identifier: BSD-2-Clause
// Names, sizes and checks of the data types. A new type must also be added to visitDataType(),
// whose `default` is int64.
#include "sys/data_type.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

const char* dataTypeName(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return "float32";
  case TENON_FLOAT64:
    return "float64";
  case TENON_INT64:
    return "int64";
  case TENON_INT32:
    return "int32";
  default:
    return type == kBFloat16 ? "bfloat16" : "unknown";
  }
}

Index dataTypeSize(TenonDataType type) {
  return type == kBFloat16 ? 2 : type == TENON_FLOAT32 || type == TENON_INT32 ? 4 : 8;
}

void checkDataType(TenonDataType type) {
  if (type != TENON_FLOAT32 && type != TENON_FLOAT64 && !isInteger(type))
    throw Error(TENON_ERR_DATATYPE, fmt::format("unknown data type {}; use TENON_FLOAT32, "
                                                "TENON_FLOAT64, TENON_INT64 or TENON_INT32",
                                                static_cast<int>(type)));
}

bool fitsInto(TenonDataType type, double number) noexcept {
  // From -2^31 or -2^63, which a double holds exactly, to less than the same with the other sign.
  const double end = type == TENON_INT32 ? 0x1p31 : 0x1p63;
  return number >= -end && number < end && number == std::trunc(number);
}

void throwTypesDiffer(TenonDataType ofArray, TenonDataType ofKernel) {
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("a kernel of {} is called with an array of {}; pass arrays of the type "
                          "that it was made for",
                          dataTypeName(ofKernel), dataTypeName(ofArray)));
}

void checkFloating(TenonDataType type, const char* what) {
  checkDataType(type);
  if (isInteger(type))
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} needs float32 or float64 elements, but the data type is {}", what,
                            dataTypeName(type)));
}

} // namespace tenon
