// SPDX-License-Identifier: BSD-2-Clause
// Element types and their conversion to float or double. Every value is converted via double, which
// represents all real types exactly, so only the last conversion can round or overflow.
#include "weights/element_type.hpp"

#include "sys/errors/error.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace tenon {

namespace {

static_assert(std::endian::native == std::endian::little,
              "weights files are little-endian, and so must this machine be");

struct TypeInfo {
  const char* name;
  Index size;
};
// One entry per constant of the enumeration ElementType, in its order.
constexpr std::array<TypeInfo, 15> kTypes = {{{"BOOL", 1},
                                              {"U8", 1},
                                              {"I8", 1},
                                              {"F8_E5M2", 1},
                                              {"F8_E4M3", 1},
                                              {"I16", 2},
                                              {"U16", 2},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"I32", 4},
                                              {"U32", 4},
                                              {"F32", 4},
                                              {"I64", 8},
                                              {"U64", 8},
                                              {"F64", 8}}};

const TypeInfo& infoOf(ElementType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits. A normal number is
// (1 + fraction / 2^10) 2^(exponent - 15); exponent 0 is subnormal, 31 is infinity or NaN.
double fromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(fraction + 1024, exponent - 25)
                      : fraction == 0 ? HUGE_VAL
                                      : std::nan("");
  return bits & 0x8000 ? -size : size;
}

// A bfloat16 is the upper half of a float32.
double fromBfloat(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

// Converts each element of type Stored by valueOf. Returns false if a finite number became
// infinite.
template <class Stored, class T, class ValueOf>
bool convert(const std::byte* from, Index count, T* to, Index stride, ValueOf valueOf) {
  bool fits = true;
  for (Index i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
    const double value = valueOf(stored);
    to[i * stride] = static_cast<T>(value);
    fits = fits && (std::isfinite(to[i * stride]) || !std::isfinite(value));
  }
  return fits;
}

} // namespace

const char* elementTypeName(ElementType type) {
  return infoOf(type).name;
}

std::optional<ElementType> elementTypeNamed(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (name == kTypes[i].name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

Index elementSize(ElementType type) {
  return infoOf(type).size;
}

bool isReal(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}

template <class T>
bool convertElements(ElementType type, const std::byte* from, Index count, T* to, Index stride) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (type) {
  case ElementType::F16:
    return convert<std::uint16_t>(from, count, to, stride, fromHalf);
  case ElementType::BF16:
    return convert<std::uint16_t>(from, count, to, stride, fromBfloat);
  case ElementType::F32:
    return convert<float>(from, count, to, stride, same);
  case ElementType::F64:
    return convert<double>(from, count, to, stride, same);
  default:
    throw Error(TENON_ERR_INTERNAL, "elements of a type that holds no real numbers");
  }
}

template bool convertElements<float>(ElementType, const std::byte*, Index, float*, Index);
template bool convertElements<double>(ElementType, const std::byte*, Index, double*, Index);

} // namespace tenon
