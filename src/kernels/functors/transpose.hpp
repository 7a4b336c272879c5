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
  static constexpr unsigned kTileX = 32, kTileY = 64;
  struct Shared {
    T tile[kTileY][kTileX + 1]; // one more, so that a column lies in different banks
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
    const Index leftX = extentX - first.of[2], leftY = extentY - first.of[3];
    if (phase == 0) {
      const unsigned lane = p.thread % kTileX, line = p.thread / kTileX;
      const T* const from = x + first.of[0] + lane + line * stepX;
      forLines<device::kThreads / kTileX, kTileY>(line, lane < leftX ? leftY : 0, [&](unsigned j) {
        shared.tile[line + j][lane] = from[j * stepX];
      });
    } else {
      const unsigned lane = p.thread % kTileY, line = p.thread / kTileY;
      T* const to = y + first.of[1] + lane + line * stepY;
      forLines<device::kThreads / kTileY, kTileX>(line, lane < leftY ? leftX : 0, [&](unsigned i) {
        to[i * stepY] = shared.tile[lane][line + i];
      });
    }
  }

private:
  // visit(lines behind `line`) for every kStep-th one of those below kMost that are left; without a branch for each in a
  // whole tile.
  template <unsigned kStep, unsigned kMost, class Visit>
  TENON_DEVICE static void forLines(unsigned line, Index left, const Visit& visit) {
    if (left >= kMost) {
      TENON_UNROLL
      for (unsigned j = 0; j < kMost; j += kStep)
        visit(j);
    } else {
      TENON_KEEP_LOOP
      for (unsigned j = 0; line + j < left; j += kStep)
        visit(j);
    }
  }
};

} // namespace tenon::functors
