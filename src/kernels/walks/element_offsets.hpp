// SPDX-License-Identifier: BSD-2-Clause
// From the number of an element of a box, counted row by row, to its offsets in several arrays.
// Device code needs this, since its threads take elements by number and have no loops over rows.
#pragma once

#include "kernels/walks/block.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace tenon {

// Division of 32-bit numbers by one that is known before: a product and shifts, where a device's
// division of 64-bit numbers is a call. (Granlund and Montgomery, PLDI 1994, figure 4.1.)
class Divisor {
public:
  Divisor() = default;
  // 1 to 2^31
  explicit Divisor(std::uint32_t d) : divisor_(d) {
    const int bits = std::bit_width(d - 1);
    factor_ = static_cast<std::uint32_t>(((((std::uint64_t(1) << bits) - d) << 32) / d) + 1);
    first_ = bits > 0 ? 1 : 0;
    second_ = static_cast<std::uint32_t>(bits) - first_;
  }
  // n becomes the quotient; the remainder is returned.
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

// The divisor of an extent. An extent of 0 gives 1, since nothing will be divided; an extent above
// 2^31 gives the largest divisor, since checkElementCount() refuses the walk before it divides.
inline Divisor divisorOf(Index extent) {
  return Divisor(static_cast<std::uint32_t>(std::clamp<Index>(extent, 1, Index(1) << 31)));
}

// The most elements that one walk by number covers.
inline constexpr Index kMaxWalkedElements = std::numeric_limits<std::int32_t>::max();

// The offsets in K arrays of the elements of a box, which has at most kMaxWalkedElements. Unit
// dimensions are dropped, and the outermost dimension needs no division, so that a single row costs
// one product for each array.
template <int K>
class ElementOffsets {
public:
  // strides[k] are those of array k.
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
    Index of[K];
  };
  TENON_DEVICE Offsets operator()(Index element) const {
    Offsets offsets{};
    auto rest = static_cast<std::uint32_t>(element);
    for (int d = 0; d < divided_; ++d)
      add(extent_[d].divide(rest), stride_[d], offsets);
    add(rest, outermost_, offsets);
    return offsets;
  }

  // The offsets of the elements first, first + step, ..., one after the other. It divides only
  // where an innermost row ends; what is beyond the last element may be requested.
  class Steps {
  public:
    TENON_DEVICE Steps(const ElementOffsets& of, Index first, Index step)
        : of_(of), number_(static_cast<std::uint32_t>(first)),
          step_(static_cast<std::uint32_t>(step)) {
      for (int k = 0; k < K; ++k)
        apart_[k] = step * (of.divided_ > 0 ? of.stride_[0][k] : of.outermost_[k]);
      place();
    }
    TENON_DEVICE Offsets next() {
      const Offsets now = here_;
      if (stays(1)) {
        skip(1);
      } else {
        number_ += step_;
        place();
      }
      return now;
    }
    // Whether the `count` elements behind this one are of its row; then that which is `count`
    // ahead, and going there.
    TENON_DEVICE bool stays(std::uint32_t count) const { return left_ > count * step_; }
    TENON_DEVICE Offsets ahead(int count) const {
      Offsets there = here_;
      for (int k = 0; k < K; ++k)
        there.of[k] += count * apart_[k];
      return there;
    }
    TENON_DEVICE void skip(std::uint32_t count) {
      number_ += count * step_;
      left_ -= count * step_;
      here_ = ahead(static_cast<int>(count));
    }

  private:
    TENON_DEVICE void place() {
      auto rest = number_;
      left_ = of_.divided_ > 0 ? of_.extent_[0].divisor() - of_.extent_[0].divide(rest)
                               : std::numeric_limits<std::uint32_t>::max();
      here_ = of_(number_);
    }

    const ElementOffsets& of_;
    std::uint32_t number_, step_, left_; // left: elements of the row from this one on
    Index apart_[K];
    Offsets here_;
  };

private:
  static constexpr int kMaxDivided = kMaxBlockRank - 1;

  TENON_DEVICE static void add(Index here, const Index (&stride)[K], Offsets& offsets) {
    for (int k = 0; k < K; ++k)
      offsets.of[k] += here * stride[k];
  }

  int divided_ = 0;
  Index count_ = 1;
  Divisor extent_[kMaxDivided]; // the innermost first
  Index stride_[kMaxDivided][K] = {}, outermost_[K] = {};
};

} // namespace tenon
