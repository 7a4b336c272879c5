// SPDX-License-Identifier: BSD-2-Clause
// A box whose elements are neighbours along one dimension where they are read and along another where they are written:
// by tiles that pass through the shared memory of a block, so that both sides move whole sectors of memory.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

namespace tenon::functors {

// Moves elements of type T, which are nothing but their bytes. A tile is one of the two dimensions.
template <class T>
struct TransposeTiles {
  static constexpr unsigned kTile = 32, kLines = device::kThreads / kTile;
  struct Shared {
    T tile[kTile][kTile + 1]; // one more, so that a column lies in different banks
  };
  // By tile: its first element in x and y, and the place of that in the dimensions of x and y.
  ElementOffsets<4> tiles;
  Index stepX, stepY; // in x along the dimension of y, and in y along that of x
  Index extentX, extentY;
  const T* x;
  T* y;

  TENON_DEVICE int phases() const { return 2; }
  TENON_DEVICE void operator()(int phase, const Place& p, Shared& shared) const {
    const auto first = tiles(p.block);
    const unsigned lane = p.thread % kTile, line = p.thread / kTile;
    const Index leftX = extentX - first.of[2], leftY = extentY - first.of[3];
    if (phase == 0) {
      if (lane < leftX)
        for (unsigned j = line; j < kTile && j < leftY; j += kLines)
          shared.tile[j][lane] = x[first.of[0] + lane + j * stepX];
    } else if (lane < leftY) {
      for (unsigned i = line; i < kTile && i < leftX; i += kLines)
        y[first.of[1] + lane + i * stepY] = shared.tile[lane][i];
    }
  }
};

} // namespace tenon::functors
