// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/callers_array.hpp"

#include "dtensor/stride_sums.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <span>

namespace tenon {

namespace {

constexpr std::uint64_t kMostBytes = std::numeric_limits<Index>::max();

std::uint64_t magnitude(Index stride) {
  return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// The elements from the lowest to the highest, with strides divided by `by`; kMostBytes if there are
// more than that.
std::uint64_t spanOf(const Shape& extent, const Strides& strides, std::uint64_t by = 1) {
  std::uint64_t span = 1;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(magnitude(strides[d]) / by,
                               static_cast<std::uint64_t>(extent[d] - 1), &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > kMostBytes)
      return kMostBytes;
  }
  return span;
}

std::string textOf(const Shape& extent, const Strides& strides) {
  return fmt::format("strides {{{}}} over [{}] elements",
                     fmt::join(std::span(strides.data(), extent.size()), ","),
                     fmt::join(extent, ","));
}

bool countBytes(const Shape& extent, const Strides& strides, std::uint64_t length,
                std::uint64_t elementSize) {
  bool divisible = true;
  for (std::size_t d = 0; d < extent.size(); ++d)
    divisible &= magnitude(strides[d]) % elementSize == 0 || extent[d] == 1;
  return divisible && spanOf(extent, strides, elementSize) <= length;
}

} // namespace

void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize) {
  if (length < 0)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("length is {}; pass the number of elements of the array, or 0", length));
  const std::uint64_t span = spanOf(extent, strides);
  if (span > kMostBytes / elementSize)
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

} // namespace tenon
