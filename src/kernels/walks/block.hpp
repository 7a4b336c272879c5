// SPDX-License-Identifier: BSD-2-Clause
// A box of up to eight dimensions walked with two strides at once, brought to the shortest form:
// unit dimensions dropped, neighbouring dimensions merged where both arrays continue evenly, and
// the tightest dimension innermost.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

constexpr int kMaxBlockRank = 8;

struct Block {
  int rank = 0; // at least 2 after normaliseBlock; the last two dimensions are the inner loops
  Index extent[kMaxBlockRank];
  Index a[kMaxBlockRank]; // strides of the array that is read
  Index b[kMaxBlockRank]; // strides of the array that is written; they order the dimensions
  bool empty = false;
};

// TENON_ERR_ARG for a rank outside 0..8 or a negative extent.
Block normaliseBlock(int rank, const Index* extent, const Index* a, const Index* b);

// A block divided into one in which nothing is written twice, and one of the dimensions whose
// written stride is 0, which is gone through in order for each element of the first.
// TENON_ERR_SUPPORT if other dimensions write an element twice, or if none may.
struct WriteOrder {
  Block free, repeated;
};
WriteOrder writeOrder(const Block& block, bool mayRepeat);

// Makes the block one of elements `together` times as large, where rows are contiguous, whole and
// written once; false, and the block as it was, elsewhere.
bool widenBlock(Block& block, Index together);

// The dimension along which a device reads neighbours where it writes neighbours along the
// innermost; -1 where that is one dimension, or where one of the two is short or elements are
// written several times.
int transposedDimension(const Block& block);

// The dimension for strips of up to `strip` elements, which a thread of the device moves.
int stripDimension(const Block& block, Index strip);

// visit(slice, offset in a, offset in b) for slices that make up the block, of at most `most`
// elements.
template <class Visit>
void forEachSlice(const Block& block, Index most, const Visit& visit, Index a = 0, Index b = 0) {
  Index elements = 1;
  int longest = 0;
  for (int d = 0; d < block.rank; ++d) {
    elements *= block.extent[d];
    if (block.extent[d] > block.extent[longest])
      longest = d;
  }
  if (elements <= most)
    return visit(block, a, b);
  Block low = block, high = block;
  const Index half = low.extent[longest] /= 2;
  high.extent[longest] -= half;
  forEachSlice(low, most, visit, a, b);
  forEachSlice(high, most, visit, a + half * block.a[longest], b + half * block.b[longest]);
}

// visit(offset in a, offset in b) for each inner plane [extent[rank-2], extent[rank-1]] in order.
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

// row(n, offset in a, step in a, offset in b, step in b) for each innermost row in order.
template <class Row>
void forEachRow(const Block& block, Row row) {
  const int outer = block.rank - 2, inner = block.rank - 1;
  forEachPlane(block, [&](Index a, Index b) {
    for (Index i = 0; i < block.extent[outer]; ++i)
      row(block.extent[inner], a + i * block.a[outer], block.a[inner], b + i * block.b[outer],
          block.b[inner]);
  });
}

// The dimension along which threads divide the block, -1 for none: below the work that is worth it,
// and where one element may be written twice, since then the order counts.
int dividedDimension(const Block& block, int threads);

// forEachRow() on several threads, and so in any order; row must not throw.
template <class Row>
void forEachRowInParts(KernelContext& context, const Block& block, Row row) {
  const int threads = context.threads(), d = dividedDimension(block, threads);
  if (d < 0)
    return forEachRow(block, row);
  parallelRanges(threads, block.extent[d], kMinWork, [=, &block](Index begin, Index end) {
    Block part = block;
    part.extent[d] = end - begin;
    const Index atA = begin * block.a[d], atB = begin * block.b[d];
    forEachRow(part, [=](Index n, Index a, Index stepA, Index b, Index stepB) {
      row(n, atA + a, stepA, atB + b, stepB);
    });
  });
}

} // namespace tenon
