// SPDX-License-Identifier: BSD-2-Clause
// Names, sizes and checks of the data types. A new type must also be added to visitDataType(),
// whose `default` is int64.
#include "sys/data_type.hpp"

#include <fmt/format.h>

namespace tenon {

const char* dataTypeName(TenonDataType type) {
  switch (type) {
  case TENON_FLOAT32:
    return "float32";
  case TENON_FLOAT64:
    return "float64";
  case TENON_INT64:
    return "int64";
  default:
    return type == kBFloat16 ? "bfloat16" : "unknown";
  }
}

Index dataTypeSize(TenonDataType type) {
  return type == kBFloat16 ? 2 : type == TENON_FLOAT32 ? 4 : 8;
}

void checkDataType(TenonDataType type) {
  if (type != TENON_FLOAT32 && type != TENON_FLOAT64 && type != TENON_INT64)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("unknown data type {}; use TENON_FLOAT32, TENON_FLOAT64 or TENON_INT64",
                            static_cast<int>(type)));
}

void throwTypesDiffer(TenonDataType ofArray, TenonDataType ofKernel) {
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("a kernel of {} is called with an array of {}; pass arrays of the type "
                          "that it was made for",
                          dataTypeName(ofKernel), dataTypeName(ofArray)));
}

void checkFloating(TenonDataType type, const char* what) {
  checkDataType(type);
  if (type == TENON_INT64)
    throw Error(
        TENON_ERR_DATATYPE,
        fmt::format("{} needs float32 or float64 elements, but the data type is int64", what));
}

} // namespace tenon
