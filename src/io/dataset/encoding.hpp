// SPDX-License-Identifier: BSD-2-Clause
// What the attributes of a variable say about its stored numbers, by the conventions of NetCDF and
// CF: that they are packed, that some of them mark missing values, and the units.
#pragma once

#include "sys/types.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon {

// The type of numbers in a file.
struct StoredNumbers {
  bool areIntegers = false;
  int bytes = 8;
  // Of 8 bytes and unsigned: read as int64 by their bits, since int64 lacks the upper half.
  bool areUnsigned64 = false;
};

// The most numbers, and bytes of text, of an attribute that is read. A longer one is
// AttributeKind::Other.
inline constexpr int kMaxAttributeNumbers = 64, kMaxAttributeText = 4096;

// What an attribute consists of: one text or numbers, each within the limits above, or anything
// else.
enum class AttributeKind { None, Integers, Reals, Text, Other };

// The attributes of a variable. `numbers` and `text` return nothing without such an attribute, and
// throw if it is of the other kind. `fail` throws an error with this reason.
struct VariableAttributes {
  std::function<AttributeKind(const char* name)> kind;
  std::function<std::optional<std::vector<double>>(const char* name)> numbers;
  std::function<std::optional<std::string>(const char* name)> text;
  std::function<void(const std::string& reason)> fail;
};

// How the stored numbers of one variable become values, and which of them are missing.
class Encoding {
public:
  // Without attributes: stored numbers are the values.
  Encoding() = default;
  // `defaultFill` marks missing values unless the attribute _FillValue does.
  Encoding(StoredNumbers stored, const VariableAttributes& attributes,
           std::optional<double> defaultFill = {});

  // Whether values differ from stored numbers by a factor or an offset; they are then real numbers.
  bool isPacked() const noexcept { return factor_ != 1 || offset_ != 0; }
  // Text for a view: "units K, packed (scale_factor 0.01, add_offset 273.15), missing: -32768".
  std::string describe() const;

  // Replaces stored numbers by their values. Those that mark a missing value become 0, and their
  // positions, the first of which is `first`, are appended to `missing`.
  template <class T>
  void decode(std::span<T> numbers, Index first, std::vector<Index>& missing) const;

private:
  void readRange(const VariableAttributes& attributes);
  void addBound(const VariableAttributes& attributes, const char* name, double number,
                std::optional<double>& bound);
  bool isFloat32() const noexcept { return !stored_.areIntegers && stored_.bytes == 4; }
  double unpacked(double number) const noexcept { return number * factor_ + offset_; }
  double withoutSign(double number) const noexcept {
    return unsignedRange_ > 0 && number < 0 ? number + unsignedRange_ : number;
  }
  bool marksMissing(double number) const noexcept;

  StoredNumbers stored_;
  double factor_ = 1, offset_ = 0;
  double unsignedRange_ = 0; // 2^bits if negative integers mean unsigned ones, otherwise 0
  std::vector<double> marks_;
  bool isNanMissing_ = false;
  // Values beyond these bounds are missing; the bounds are compared with stored numbers, or with
  // unpacked ones.
  std::optional<double> min_, max_;
  bool areBoundsUnpacked_ = false;
  std::string units_;
};

} // namespace tenon
