// SPDX-License-Identifier: BSD-2-Clause
// Decodes the numbers of variables by their attributes:
//
//   scale_factor, add_offset      value = scale_factor * number + add_offset
//   _Unsigned = "true"            negative integers mean unsigned ones of the same size, as they
//                                 do where an unsigned type of 8 bytes is read as int64
//   _FillValue, missing_value     these numbers mark missing values; without _FillValue a default
//   valid_min, valid_max, valid_range   numbers beyond these bounds are missing
//
// Marks are numbers of the stored type, before unpacking, and so are bounds, unless these are real
// and the stored numbers are packed integers: then they are bounds of the values. For example a
// short -32768 with _FillValue -32768 is missing, and 1500 with scale_factor 0.01 and add_offset
// 273.15 is 288.15, within a valid_range of 200.0, 330.0.
#include "io/dataset/encoding.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tenon {

namespace {

// An attribute that must have `count` numbers.
std::optional<std::vector<double>> numbersOf(const VariableAttributes& attributes, const char* name,
                                             std::size_t count) {
  auto numbers = attributes.numbers(name);
  if (numbers && numbers->size() != count)
    attributes.fail(
        fmt::format("its attribute {} has {} values; expected {}", name, numbers->size(), count));
  return numbers;
}

double numberOf(const VariableAttributes& attributes, const char* name, double otherwise) {
  const auto numbers = numbersOf(attributes, name, 1);
  return numbers ? numbers->front() : otherwise;
}

} // namespace

Encoding::Encoding(StoredNumbers stored, const VariableAttributes& attributes,
                   std::optional<double> defaultFill)
    : stored_(stored), factor_(numberOf(attributes, "scale_factor", 1)),
      offset_(numberOf(attributes, "add_offset", 0)),
      // They are only shown, so units that are no text are left out.
      units_(attributes.kind("units") == AttributeKind::Text ? *attributes.text("units") : "") {
  if (!std::isfinite(factor_) || !std::isfinite(offset_))
    attributes.fail(
        fmt::format("its attributes scale_factor and add_offset are {} and {}; expected "
                    "finite numbers",
                    factor_, offset_));
  const std::string isUnsigned = attributes.text("_Unsigned").value_or("");
  if (stored_.areUnsigned64 ||
      (stored_.areIntegers && (isUnsigned == "true" || isUnsigned == "True")))
    unsignedRange_ = std::ldexp(1.0, 8 * stored_.bytes);
  std::vector<double> marks = attributes.numbers("missing_value").value_or(std::vector<double>{});
  if (const auto fill = numbersOf(attributes, "_FillValue", 1))
    marks.push_back(fill->front());
  else if (defaultFill)
    marks.push_back(*defaultFill);
  for (const double mark : marks)
    if (std::isnan(mark))
      isNanMissing_ = true;
    else // an attribute of another type is converted to the stored one, as for 1e20 in float32
      marks_.push_back(isFloat32() ? static_cast<double>(static_cast<float>(mark))
                                   : withoutSign(mark));
  std::ranges::sort(marks_);
  marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
  readRange(attributes);
}

void Encoding::readRange(const VariableAttributes& attributes) {
  if (const auto range = numbersOf(attributes, "valid_range", 2)) {
    addBound(attributes, "valid_range", (*range)[0], min_);
    addBound(attributes, "valid_range", (*range)[1], max_);
  }
  if (const auto bound = numbersOf(attributes, "valid_min", 1))
    addBound(attributes, "valid_min", bound->front(), min_);
  if (const auto bound = numbersOf(attributes, "valid_max", 1))
    addBound(attributes, "valid_max", bound->front(), max_);
}

// If one bound is of values, both are: they have the same type.
void Encoding::addBound(const VariableAttributes& attributes, const char* name, double number,
                        std::optional<double>& bound) {
  const bool isOfValues =
      isPacked() && stored_.areIntegers && attributes.kind(name) == AttributeKind::Reals;
  areBoundsUnpacked_ |= isOfValues;
  bound = isOfValues    ? number
          : isFloat32() ? static_cast<double>(static_cast<float>(number))
                        : withoutSign(number);
}

// The comparisons are quiet ones, which raise no exception for NaN.
bool Encoding::marksMissing(double number) const noexcept {
  if (std::isnan(number))
    return isNanMissing_;
  for (const double mark : marks_)
    if (number == mark)
      return true;
  const double compared = areBoundsUnpacked_ ? unpacked(number) : number;
  return (min_ && std::isless(compared, *min_)) || (max_ && std::isgreater(compared, *max_));
}

template <class T>
void Encoding::decode(std::span<T> numbers, Index first, std::vector<Index>& missing) const {
  const bool canMiss = !marks_.empty() || isNanMissing_ || min_ || max_;
  if (!canMiss && !isPacked() && unsignedRange_ == 0)
    return;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = withoutSign(static_cast<double>(numbers[i]));
    if (canMiss && marksMissing(number)) {
      missing.push_back(first + static_cast<Index>(i));
      numbers[i] = T(0);
    } else if (isPacked()) {
      numbers[i] = static_cast<T>(unpacked(number));
    } else if (unsignedRange_ > 0 && numbers[i] < 0) {
      constexpr double kEndOfInt64 = 0x1p63;
      if (std::is_integral_v<T> && number >= kEndOfInt64)
        throw Error(TENON_ERR_FORMAT,
                    fmt::format("element {} of a batch of labels is the unsigned number {}, which "
                                "does not fit into int64",
                                first + static_cast<Index>(i), number));
      numbers[i] = static_cast<T>(number);
    }
  }
}

template void Encoding::decode(std::span<float>, Index, std::vector<Index>&) const;
template void Encoding::decode(std::span<double>, Index, std::vector<Index>&) const;
template void Encoding::decode(std::span<std::int64_t>, Index, std::vector<Index>&) const;

std::string Encoding::describe() const {
  std::vector<std::string> parts;
  if (!units_.empty())
    parts.push_back("units " + units_);
  if (isPacked())
    parts.push_back(fmt::format("packed (scale_factor {}, add_offset {})", factor_, offset_));
  if (unsignedRange_ > 0)
    parts.push_back("unsigned");
  std::vector<std::string> marks;
  for (const double mark : marks_)
    marks.push_back(isFloat32() ? fmt::format("{}", static_cast<float>(mark))
                                : fmt::format("{}", mark));
  if (isNanMissing_)
    marks.push_back("NaN");
  if (min_)
    marks.push_back(fmt::format("below {}", *min_));
  if (max_)
    marks.push_back(fmt::format("above {}", *max_));
  if (!marks.empty())
    parts.push_back(fmt::format("missing: {}", fmt::join(marks, " or ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace tenon
