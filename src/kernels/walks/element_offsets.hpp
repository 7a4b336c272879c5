// SPDX-License-Identifier: BSD-2-Clause
// Converts the row-major number of an element of a box to its offsets in several arrays. Example:
// in a box [3, 4], element 6 has the index (1, 2) and in an array with strides {10, 1} the offset
// 12. Device code needs this, since a thread starts from an element's number instead of looping
// over rows. Divisor divides fast, ElementOffsets converts one number, and ElementOffsets::Steps
// iterates over every step-th element with few divisions.
#pragma once

#include "kernels/walks/block.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace tenon {

// Division of 32-bit numbers by an invariant divisor: a multiplication and shifts, where a 64-bit
// division on a device is a function call. (Granlund and Montgomery, PLDI 1994, figure 4.1.)
class Divisor {
public:
  Divisor() = default;
  // The divisor is 1 to 2^31.
  explicit Divisor(std::uint32_t d) : divisor_(d) {
    const int bits = std::bit_width(d - 1);
    factor_ = static_cast<std::uint32_t>(((((std::uint64_t(1) << bits) - d) << 32) / d) + 1);
    first_ = bits > 0 ? 1 : 0;
    second_ = static_cast<std::uint32_t>(bits) - first_;
  }
  // n becomes the quotient; returns the remainder.
  TENON_DEVICE std::uint32_t divide(std::uint32_t& n) const {
    const auto high = static_cast<std::uint32_t>((std::uint64_t(n) * factor_) >> 32);
    const std::uint32_t quotient = (high + ((n - high) >> first_)) >> second_;
    const std::uint32_t rest = n - quotient * divisor_;
    n = quotient;
    return rest;
  }

  TENON_DEVICE std::uint32_t divisor() const noexcept { return divisor_; }

private:
  std::uint32_t divisor_ = 1, factor_ = 1, first_ = 0, second_ = 0;
};

// The divisor of an extent. Extent 0 becomes 1, since nothing will be divided. Extents above 2^31
// are clamped, since checkElementCount() throws before they are used.
inline Divisor divisorOf(Index extent) {
  return Divisor(static_cast<std::uint32_t>(std::clamp<Index>(extent, 1, Index(1) << 31)));
}

// Maximum number of elements that one kernel can index.
inline constexpr Index kMaxWalkedElements = std::numeric_limits<std::int32_t>::max();

// Work on more elements is divided into several kernels (walks/slices.hpp): kMaxWalkedElements,
// which tests lower, since their machines lack the memory for so many elements.
inline Index sliceElements = kMaxWalkedElements;

// Offsets in K arrays of the elements of a box, which has at most kMaxWalkedElements. Dimensions of
// extent 1 are dropped, and the outermost needs no division: a single row costs one multiplication
// per array.
template <int K>
class ElementOffsets {
public:
  // strides[k] are the strides of array k.
  ElementOffsets(int rank, const Index* extent, const Index* const (&strides)[K]) {
    int outermost = 0;
    while (outermost < rank && extent[outermost] == 1)
      ++outermost;
    for (int d = rank - 1; d >= 0; --d) {
      count_ *= extent[d];
      if (extent[d] == 1)
        continue;
      Index* const stride = d == outermost ? outermost_ : stride_[divided_];
      for (int k = 0; k < K; ++k)
        stride[k] = strides[k][d];
      if (d != outermost)
        extent_[divided_++] = divisorOf(extent[d]);
    }
  }
  TENON_DEVICE Index count() const noexcept { return count_; }

  struct Offsets {
    Index of[K]; // one per array
  };
  TENON_DEVICE Offsets operator()(Index element) const {
    Offsets offsets{};
    auto rest = static_cast<std::uint32_t>(element);
    for (int d = 0; d < divided_; ++d)
      add(extent_[d].divide(rest), stride_[d], offsets);
    add(rest, outermost_, offsets);
    return offsets;
  }

  // Iterates over the offsets of the elements first, first + step, .... It divides only at the end
  // of an innermost row; positions beyond the last element are allowed. next() returns the current
  // offsets and advances by one step. A `count` below is a number of such steps.
  class Steps {
  public:
    TENON_DEVICE Steps(const ElementOffsets& offsets, Index first, Index step)
        : offsets_(offsets), number_(static_cast<std::uint32_t>(first)),
          step_(static_cast<std::uint32_t>(step)) {
      for (int k = 0; k < K; ++k)
        strides_[k] = step * (offsets.divided_ > 0 ? offsets.stride_[0][k] : offsets.outermost_[k]);
      convertNumber();
    }
    TENON_DEVICE Offsets next() {
      const Offsets position = current_;
      if (stays(1)) {
        skip(1);
      } else {
        number_ += step_;
        convertNumber();
      }
      return position;
    }
    // stays(): whether the next `count` elements are in the same row. If so, ahead() returns the
    // offsets `count` elements later, and skip() advances to them.
    TENON_DEVICE bool stays(std::uint32_t count) const { return remaining_ > count * step_; }
    TENON_DEVICE Offsets ahead(int count) const {
      Offsets offsets = current_;
      for (int k = 0; k < K; ++k)
        offsets.of[k] += count * strides_[k];
      return offsets;
    }
    TENON_DEVICE void skip(std::uint32_t count) {
      number_ += count * step_;
      remaining_ -= count * step_;
      current_ = ahead(static_cast<int>(count));
    }

  private:
    TENON_DEVICE void convertNumber() {
      auto rest = number_;
      remaining_ = offsets_.divided_ > 0
                       ? offsets_.extent_[0].divisor() - offsets_.extent_[0].divide(rest)
                       : std::numeric_limits<std::uint32_t>::max();
      current_ = offsets_(number_);
    }

    const ElementOffsets& offsets_;
    // Remaining: elements of the row from the current one on.
    std::uint32_t number_, step_, remaining_;
    Index strides_[K];
    Offsets current_;
  };

private:
  static constexpr int kMaxDivided = kMaxBlockRank - 1;

  TENON_DEVICE static void add(Index coordinate, const Index (&stride)[K], Offsets& offsets) {
    for (int k = 0; k < K; ++k)
      offsets.of[k] += coordinate * stride[k];
  }

  int divided_ = 0; // number of dimensions that need a division: all but the outermost
  Index count_ = 1;
  // Extents and strides of these dimensions, the innermost first; strides of the outermost.
  Divisor extent_[kMaxDivided];
  Index stride_[kMaxDivided][K] = {}, outermost_[K] = {};
};

} // namespace tenon
