// SPDX-License-Identifier: BSD-2-Clause
// From the number of a cell of a box to its offsets in several arrays, as device code needs it, which has
// no loops over rows.
#pragma once

#include "kernels/block.hpp"
#include "kernels/divisor.hpp"

#include <limits>

namespace tenon {

// The most cells that one such walk covers.
inline constexpr Index kMostWalkedCells = std::numeric_limits<std::int32_t>::max();

// Of a box of at most so many cells and K arrays. Unit dimensions are dropped, and the outermost needs no division: a
// row is a product for each array.
template <int K>
class Cells {
public:
  // strides[k] are those of array k.
  Cells(int rank, const Index* extent, const Index* const (&strides)[K]) {
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
  TENON_DEVICE Offsets operator()(Index cell) const {
    Offsets offsets{};
    auto rest = static_cast<std::uint32_t>(cell);
    for (int d = 0; d < divided_; ++d)
      add(extent_[d].divide(rest), stride_[d], offsets);
    add(rest, outermost_, offsets);
    return offsets;
  }

private:
  static constexpr int kMostDivided = kMaxBlockRank - 1;

  TENON_DEVICE static void add(Index here, const Index (&stride)[K], Offsets& offsets) {
    for (int k = 0; k < K; ++k)
      offsets.of[k] += here * stride[k];
  }

  int divided_ = 0;
  Index count_ = 1;
  Divisor extent_[kMostDivided]; // the innermost first
  Index stride_[kMostDivided][K] = {}, outermost_[K] = {};
};

} // namespace tenon
