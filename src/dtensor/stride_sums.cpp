// SPDX-License-Identifier: BSD-2-Clause
// Decides whether a distance is a sum of strides, by a search over the dimensions from the largest
// stride to the smallest. With it, decides whether arrays overlap and whether a user's strides are
// valid. Comparing the bounds of arrays would not suffice: the components of interleaved arrays are
// within each other's bounds and share no memory.
#include "dtensor/stride_sums.hpp"

#include "dtensor/arithmetic.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <limits>
#include <span>

namespace tenon {

namespace {

Index floorDivide(Index a, Index b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

constexpr std::uint64_t kMaxBytes = std::numeric_limits<Index>::max();

std::uint64_t magnitude(Index stride) {
  return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// The number of elements from the lowest to the highest, with strides divided by `divisor`; at most
// kMaxBytes.
std::uint64_t spanOf(const Shape& extent, const Strides& strides, std::uint64_t divisor = 1) {
  std::uint64_t span = 1;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(magnitude(strides[d]) / divisor,
                               static_cast<std::uint64_t>(extent[d] - 1), &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > kMaxBytes)
      return kMaxBytes;
  }
  return span;
}

std::string textOf(const Shape& extent, const Strides& strides) {
  return fmt::format("strides {{{}}} over [{}] elements",
                     fmt::join(std::span(strides.data(), extent.size()), ","),
                     fmt::join(extent, ","));
}

// True if the user seems to have counted strides in bytes: divided by the element size they match
// the array.
bool countBytes(const Shape& extent, const Strides& strides, std::uint64_t length,
                std::uint64_t elementSize) {
  bool divisible = true;
  for (std::size_t d = 0; d < extent.size(); ++d)
    divisible &= magnitude(strides[d]) % elementSize == 0 || extent[d] == 1;
  return divisible && spanOf(extent, strides, elementSize) <= length;
}

// False for a tensor whose array is not allocated yet: requesting its address would allocate it.
bool hasArray(const DTensor& x) {
  return x.localElements() > 0 && (x.isPlaced() || x.arrayBytes() > 0);
}

bool isWithinReach(const ByteSpan& x, const ByteSpan& y) {
  const std::less<const std::byte*> before;
  return before(x.begin, y.begin + y.bytes) && before(y.begin, x.begin + x.bytes);
}

// Adds the distances in bytes from the first element of x to its other bytes or, with isReversed,
// the negative distances.
void addSteps(const DTensor& x, bool isReversed, StrideSum& sum) {
  const Index size = dataTypeSize(x.dataType());
  const auto add = [&](Index stride, Index maxSteps) {
    const bool isPositive = (stride > 0) != isReversed;
    sum.merge({.stride = std::abs(stride),
               .below = isPositive ? 0 : maxSteps,
               .above = isPositive ? maxSteps : 0,
               .dim = 0}); // not used: the sum is only tested
  };
  for (int d = 0; d < x.ndim(); ++d)
    if (x.strides()[d] != 0 && x.extent()[d] > 1)
      add(x.strides()[d] * size, x.extent()[d] - 1);
  add(1, size - 1);
}

} // namespace

void StrideSum::add(const StrideTerm& term) {
  int position = count_++;
  for (; position > 0 && terms_[position - 1].stride < term.stride; --position)
    terms_[position] = terms_[position - 1];
  terms_[position] = term;
}

void StrideSum::merge(const StrideTerm& term) {
  for (int i = 0; i < count_; ++i)
    if (terms_[i].stride == term.stride) {
      terms_[i].below += term.below;
      terms_[i].above += term.above;
      return;
    }
  add(term);
}

Index StrideSum::highest(int from) const {
  Index sum = 0;
  for (; from < count_; ++from)
    sum += terms_[from].above * terms_[from].stride;
  return sum;
}

Index StrideSum::lowest(int from) const {
  Index sum = 0;
  for (; from < count_; ++from)
    sum -= terms_[from].below * terms_[from].stride;
  return sum;
}

bool StrideSum::reach(Index distance) {
  return reach(distance, 0);
}

// The search: tries each k of term `from` that leaves a distance between the smallest and the
// largest sum of the following terms. Only a few k do, since these strides are smaller, so the
// search is short in practice, although it is exponential in the worst case.
bool StrideSum::reach(Index distance, int from) {
  if (from == count_)
    return distance == 0;
  StrideTerm& term = terms_[from];
  const Index first =
      std::max(-term.below, -floorDivide(highest(from + 1) - distance, term.stride));
  const Index last = std::min(term.above, floorDivide(distance - lowest(from + 1), term.stride));
  for (term.k = first; term.k <= last; ++term.k)
    if (reach(distance - term.k * term.stride, from + 1))
      return true;
  return false;
}

bool StrideSum::returnToZero() {
  // d is the first dimension with nonzero k. Positive k suffice, since the negative of a sum of 0
  // is also 0.
  for (int d = count_ - 1; d >= 0; --d) {
    StrideTerm& term = terms_[d];
    const Index last = std::min(term.above, -floorDivide(lowest(d + 1), term.stride));
    for (term.k = 1; term.k <= last; ++term.k)
      if (reach(-term.k * term.stride, d + 1)) {
        for (int outer = 0; outer < d; ++outer)
          terms_[outer].k = 0;
        return true;
      }
  }
  return false;
}

std::optional<SameElement> sameElement(const Shape& extent, const Strides& strides) {
  StrideSum sum;
  for (std::size_t d = 0; d < extent.size(); ++d)
    if (extent[d] > 1 && strides[d] != 0)
      sum.add({.stride = std::abs(strides[d]),
               .below = extent[d] - 1,
               .above = extent[d] - 1,
               .dim = static_cast<int>(d)});
  if (!sum.returnToZero())
    return {};
  // The k are differences of two indices: positive ones are entries of the first index, negative
  // ones of the second, and all other entries are 0.
  SameElement same{std::vector<Index>(extent.size()), std::vector<Index>(extent.size())};
  for (const StrideTerm& term : sum) {
    const Index k = strides[term.dim] < 0 ? -term.k : term.k;
    (k > 0 ? same.first : same.second)[term.dim] = std::abs(k);
  }
  return same;
}

void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize) {
  if (length < 0)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("length is {}; pass the number of elements of the array, or 0", length));
  const std::uint64_t span = spanOf(extent, strides);
  if (span > kMaxBytes / elementSize)
    throw Error(TENON_ERR_SHAPE, fmt::format("{}, ghosts included, reach further than memory can",
                                             textOf(extent, strides)));
  if (length == 0 || span <= static_cast<std::uint64_t>(length))
    return;
  const bool bytes = countBytes(extent, strides, length, elementSize);
  throw Error(TENON_ERR_SHAPE,
              fmt::format("{}, ghosts included, span {} elements, but the array has a length of "
                          "{}{}",
                          textOf(extent, strides), span, length,
                          bytes ? fmt::format("; strides count elements, not bytes: divide them "
                                              "by {}",
                                              elementSize)
                                : ""));
}

void checkDistinct(const Shape& extent, const Strides& strides, bool readOnly) {
  for (std::size_t d = 0; d < extent.size() && !readOnly; ++d)
    if (strides[d] == 0 && extent[d] > 1)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("dimension {} has {} elements on this rank, but a stride of 0, so that "
                      "they are the same; only a constant array can repeat an element",
                      d, extent[d]));
  if (const auto same = sameElement(extent, strides))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("with {}, indices ({}) and ({}) are the same element of the array; each "
                    "stride is the distance in elements between neighbours in its "
                    "dimension",
                    textOf(extent, strides), fmt::join(same->first, ","),
                    fmt::join(same->second, ",")));
}

// Byte p of element i of x is byte q of element j of y if i . stepsX + p - j . stepsY - q is the
// distance from the first element of x to that of y: a sum of strides with bounded factors, which
// StrideSum decides.
bool shareElements(const DTensor& x, const DTensor& y) {
  if (!hasArray(x) || !hasArray(y) || x.space() != y.space() ||
      !isWithinReach(spanOf(x), spanOf(y)))
    return false;
  StrideSum sum;
  addSteps(x, /*isReversed=*/false, sum);
  addSteps(y, /*isReversed=*/true, sum);
  return sum.reach(static_cast<const std::byte*>(arrayOf(y)) -
                   static_cast<const std::byte*>(arrayOf(x)));
}

bool areSameElements(const DTensor& x, const DTensor& y) {
  if (x.extent() != y.extent() || x.dataType() != y.dataType() || arrayOf(x) != arrayOf(y))
    return false;
  for (int d = 0; d < x.ndim(); ++d)
    if (x.extent()[d] > 1 && x.strides()[d] != y.strides()[d])
      return false;
  return true;
}

} // namespace tenon
