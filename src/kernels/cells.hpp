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

// Of a box of at most so many cells and K arrays.
template <int K>
class Cells {
public:
  // strides[k] are those of array k.
  Cells(int rank, const Index* extent, const Index* const (&strides)[K]) : rank_(rank) {
    for (int d = 0; d < rank; ++d) {
      extent_[d] = Divisor(static_cast<std::uint32_t>(extent[d]));
      for (int k = 0; k < K; ++k)
        stride_[d][k] = strides[k][d];
      count_ *= extent[d];
    }
  }
  TENON_DEVICE Index count() const noexcept { return count_; }

  struct Offsets {
    Index of[K];
  };
  TENON_DEVICE Offsets operator()(Index cell) const {
    Offsets offsets{};
    auto rest = static_cast<std::uint32_t>(cell);
    for (Index d = rank_ - 1; d >= 0; --d) {
      const Index here = extent_[d].divide(rest);
      for (int k = 0; k < K; ++k)
        offsets.of[k] += here * stride_[d][k];
    }
    return offsets;
  }

private:
  Index rank_;
  Index count_ = 1;
  Divisor extent_[kMaxBlockRank];
  Index stride_[kMaxBlockRank][K] = {};
};

} // namespace tenon
