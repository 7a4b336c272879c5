// SPDX-License-Identifier: BSD-2-Clause
// A block: a box of up to eight dimensions with strides in two arrays, one that is read (a) and one
// that is written (b). Kernels that copy or combine boxes of tensors bring their arguments to a
// normal form with the fewest dimensions: dimensions of extent 1 are dropped, adjacent dimensions
// are merged if they are contiguous in both arrays, and the dimension with the smallest stride is
// innermost. Example: a contiguous box [4, 8, 16], copied to a contiguous box, becomes one row of
// 512 elements.
//
// The header also has loops over the rows of a block, on one thread or several, and the properties
// by which kernels choose an algorithm: whether elements are written twice, whether the block is a
// transposition, and along which dimension it is divided.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

constexpr int kMaxBlockRank = 8;

struct Block {  // in normal form after normaliseBlock()
  int rank = 0; // at least 2 after normaliseBlock; the last two dimensions are the inner loops
  Index extent[kMaxBlockRank];
  Index a[kMaxBlockRank]; // strides of the array that is read
  Index b[kMaxBlockRank]; // strides of the array that is written; they order the dimensions
  bool empty = false;
};

// Throws TENON_ERR_ARG for a rank outside 0..8 or a negative extent.
Block normaliseBlock(int rank, const Index* extent, const Index* a, const Index* b);

// Splits a block into one that writes no element twice (free), and one of the dimensions whose
// written stride is 0 (repeated), which is processed in order for each element of the first. For
// threads that process the elements of `free` in any order, the result is then deterministic.
// Throws TENON_ERR_SUPPORT if other dimensions write an element twice, or if `mayRepeat` is false
// and `repeated` has dimensions.
struct WriteOrder {
  Block free, repeated;
};
WriteOrder writeOrder(const Block& block, bool mayRepeat);

// Turns the block into one of elements `together` times as large (4 floats become one element of 16
// bytes), if its rows are contiguous, their lengths and strides are multiples of `together`, and
// they are written once. Otherwise returns false and does not change the block.
bool widenBlock(Block& block, Index together);

// The dimension along which elements are adjacent in the array that is read, if it differs from the
// innermost (written) dimension. Returns -1 if they are the same, if one of the two is short, or if
// elements are written several times.
int transposedDimension(const Block& block);

// The dimension along which each thread of the device processes a strip of up to `strip` elements
// (StripWalk in cuda/launch.cuh).
int stripDimension(const Block& block, Index strip);

// Calls visit(slice, offset in a, offset in b) for slices of at most maxElements elements that make
// up the block.
template <class Visit>
void forEachSlice(const Block& block, Index maxElements, const Visit& visit, Index a = 0,
                  Index b = 0) {
  Index elements = 1;
  int longest = 0;
  for (int d = 0; d < block.rank; ++d) {
    elements *= block.extent[d];
    if (block.extent[d] > block.extent[longest])
      longest = d;
  }
  if (elements <= maxElements)
    return visit(block, a, b);
  Block low = block, high = block;
  const Index half = low.extent[longest] /= 2;
  high.extent[longest] -= half;
  forEachSlice(low, maxElements, visit, a, b);
  forEachSlice(high, maxElements, visit, a + half * block.a[longest], b + half * block.b[longest]);
}

// Calls visit(offset in a, offset in b) for each inner plane [extent[rank-2], extent[rank-1]], in
// order.
template <class Visit>
void forEachPlane(const Block& block, Visit visit) {
  if (block.empty)
    return;
  const int outer = block.rank - 2;
  Index position[kMaxBlockRank] = {};
  Index offsetA = 0, offsetB = 0;
  for (;;) {
    visit(offsetA, offsetB);
    int d = outer - 1;
    for (; d >= 0; --d) {
      offsetA += block.a[d];
      offsetB += block.b[d];
      if (++position[d] < block.extent[d])
        break;
      offsetA -= block.extent[d] * block.a[d];
      offsetB -= block.extent[d] * block.b[d];
      position[d] = 0;
    }
    if (d < 0)
      return;
  }
}

// Calls row(n, offset in a, stride in a, offset in b, stride in b) for each innermost row, in
// order.
template <class Row>
void forEachRow(const Block& block, Row row) {
  const int outer = block.rank - 2, inner = block.rank - 1;
  forEachPlane(block, [&](Index a, Index b) {
    for (Index i = 0; i < block.extent[outer]; ++i)
      row(block.extent[inner], a + i * block.a[outer], block.a[inner], b + i * block.b[outer],
          block.b[inner]);
  });
}

// The dimension along which threads divide the block. Returns -1 if the work is too small, or if an
// element can be written twice, since then the order matters.
int dividedDimension(const Block& block, int threads);

// forEachRow() on several threads, hence in any order; row must not throw.
template <class Row>
void forEachRowInParts(KernelContext& context, const Block& block, Row row) {
  const int threads = context.threads(), d = dividedDimension(block, threads);
  if (d < 0)
    return forEachRow(block, row);
  parallelRanges(threads, block.extent[d], kMinWork, [=, &block](Index begin, Index end) {
    Block part = block;
    part.extent[d] = end - begin;
    const Index firstA = begin * block.a[d], firstB = begin * block.b[d];
    forEachRow(part, [=](Index n, Index a, Index stepA, Index b, Index stepB) {
      row(n, firstA + a, stepA, firstB + b, stepB);
    });
  });
}

} // namespace tenon
