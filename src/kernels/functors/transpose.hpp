// SPDX-License-Identifier: BSD-2-Clause
// Transposition of a box that is contiguous along one dimension (X) where it is read and along
// another (Y) where it is written, on the device. A thread block reads a tile along X into its
// shared memory, and then writes it along Y: both accesses are to whole memory sectors (32 bytes).
// An element can be converted from or to bfloat16 when it is read or written.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"
#include "sys/bfloat16.hpp"

namespace tenon::functors {

// Conversions of an element on the way.

// Copies the bits of an element unchanged.
template <class T>
struct CopiedOnTheWay {
  using From = T;
  using To = T;
  TENON_DEVICE T read(T x) const { return x; }
  TENON_DEVICE void write(T* y, T value) const { *y = value; }
};

// y = x rounded to bfloat16.
struct RoundedOnTheWay {
  using From = float;
  using To = BFloat16;
  TENON_DEVICE BFloat16 read(float x) const { return toBFloat16(x); }
  TENON_DEVICE void write(BFloat16* y, BFloat16 value) const { *y = value; }
};

// y = x, or y + x if `adds`, with x in bfloat16.
struct ExpandedOnTheWay {
  using From = BFloat16;
  using To = float;
  Index adds;
  TENON_DEVICE float read(BFloat16 x) const { return valueOf(x); }
  TENON_DEVICE void write(float* y, float value) const { *y = adds ? *y + value : value; }
};

// The functor for eachThreadBlock(): thread block number i copies tile i. Conversion is one of the
// structs above.
template <class Conversion>
struct TransposeTiles {
  static constexpr unsigned kTileX = 32, kTileY = 64;
  using From = typename Conversion::From;
  using To = typename Conversion::To;
  struct Shared {
    To tile[kTileY][kTileX + 1]; // padded by one: the elements of a column are in different banks
  };
  // Per tile: offset of its first element in x and in y, and index of that element in the
  // dimensions of x and y.
  ElementOffsets<4> tiles;
  Index stepX, stepY; // stride in x along the dimension of y, and in y along that of x
  Index extentX, extentY;
  Conversion conversion;
  const From* x;
  To* y;

  TENON_DEVICE int phases() const { return 2; }
  TENON_DEVICE void operator()(int phase, const GridThread& p, Shared& shared) const {
    const auto first = tiles(p.block);
    // Elements from the tile's first one to the end of the box.
    const Index leftX = extentX - first.of[2], leftY = extentY - first.of[3];
    if (phase == 0) { // reads the tile, a line along X per group of kTileX threads
      const unsigned lane = p.thread % kTileX, line = p.thread / kTileX;
      const From* const from = x + first.of[0] + lane + line * stepX;
      forLines<device::kThreads / kTileX, kTileY>(line, lane < leftX ? leftY : 0, [&](unsigned j) {
        shared.tile[line + j][lane] = conversion.read(from[j * stepX]);
      });
    } else { // writes it, a line along Y per group of kTileY threads
      const unsigned lane = p.thread % kTileY, line = p.thread / kTileY;
      To* const to = y + first.of[1] + lane + line * stepY;
      forLines<device::kThreads / kTileY, kTileX>(line, lane < leftY ? leftX : 0, [&](unsigned i) {
        conversion.write(to + i * stepY, shared.tile[lane][line + i]);
      });
    }
  }

private:
  // Calls visit(j) for every kStep-th line after `line` that remains, without a branch per line in
  // a full tile.
  template <unsigned kStep, unsigned kMax, class Visit>
  TENON_DEVICE static void forLines(unsigned line, Index remaining, const Visit& visit) {
    if (remaining >= kMax) {
      TENON_UNROLL
      for (unsigned j = 0; j < kMax; j += kStep)
        visit(j);
    } else {
      TENON_KEEP_LOOP
      for (unsigned j = 0; line + j < remaining; j += kStep)
        visit(j);
    }
  }
};

} // namespace tenon::functors
