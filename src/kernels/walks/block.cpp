// SPDX-License-Identifier: BSD-2-Clause
// Brings a strided box (extents, and strides in the array that is read and the array that is
// written) to a normal form: dimensions of extent 1 are removed, dimensions are sorted by stride,
// and adjacent ones that are contiguous in both arrays are merged. Example: a contiguous box [4, 8,
// 16] becomes one row of 512 elements. Most boxes of a tensor become a few long rows, whatever
// their rank, and loops over long rows are fast.
//
// The other functions answer questions about a block: whether it writes elements twice
// (writeOrder), whether it consists of larger elements (widenBlock), whether it is a transposition
// (transposedDimension), and along which dimension the device or the threads of the host divide it
// (stripDimension, dividedDimension).
#include "kernels/walks/block.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tenon {

namespace {

// Extent of a dimension, and its strides in the arrays that are read and written.
struct Dimension {
  Index extent, a, b;
};

void checkBlock(int rank, const Index* extent) {
  if (rank < 0 || rank > kMaxBlockRank)
    throw Error(TENON_ERR_ARG, fmt::format("the block has {} dimensions; it must have 0 to {}",
                                           rank, kMaxBlockRank));
  for (int d = 0; d < rank; ++d)
    if (extent[d] < 0)
      throw Error(TENON_ERR_ARG,
                  fmt::format("extent {} of the block is {}; it must be >= 0", d, extent[d]));
}

// Whether dimension p must be an outer loop of dimension q. The strides of the written array
// decide, since scattered stores take longer than scattered loads.
bool isOuter(const Dimension& p, const Dimension& q) {
  const Index pb = std::abs(p.b), qb = std::abs(q.b);
  return pb != qb ? pb > qb : std::abs(p.a) > std::abs(q.a);
}

// Sorts the dimensions by stride (an insertion sort, which is stable and allocates nothing). If a
// stride of the written array is 0, the elements along this dimension are combined in one element,
// in the order of the caller's dimensions, so nothing is sorted.
void sortByStride(Dimension* dims, int rank) {
  for (int d = 0; d < rank; ++d)
    if (dims[d].b == 0)
      return;
  for (int i = 1; i < rank; ++i)
    for (int j = i; j > 0 && isOuter(dims[j], dims[j - 1]); --j)
      std::swap(dims[j], dims[j - 1]);
}

} // namespace

Block normaliseBlock(int rank, const Index* extent, const Index* a, const Index* b) {
  checkBlock(rank, extent);
  Block block;
  Dimension dims[kMaxBlockRank];
  int count = 0;
  for (int d = 0; d < rank; ++d) {
    if (extent[d] == 0)
      block.empty = true;
    if (extent[d] != 1)
      dims[count++] = {extent[d], a[d], b[d]};
  }
  if (block.empty)
    return block;
  sortByStride(dims, count);

  // Each dimension is merged with the previous one if one step of the previous one is as long as
  // the whole dimension, in both arrays.
  for (int d = 0; d < count; ++d) {
    const int last = block.rank - 1;
    const Dimension& next = dims[d];
    if (last >= 0 && block.a[last] == next.a * next.extent &&
        block.b[last] == next.b * next.extent) {
      block.extent[last] *= next.extent;
      block.a[last] = next.a;
      block.b[last] = next.b;
    } else {
      block.extent[block.rank] = next.extent;
      block.a[block.rank] = next.a;
      block.b[block.rank++] = next.b;
    }
  }
  // Kernels have two inner loops, so leading dimensions of extent 1 are added up to rank 2.
  while (block.rank < 2) {
    for (int d = block.rank; d > 0; --d) {
      block.extent[d] = block.extent[d - 1];
      block.a[d] = block.a[d - 1];
      block.b[d] = block.b[d - 1];
    }
    block.extent[0] = 1;
    block.a[0] = block.b[0] = 0;
    ++block.rank;
  }
  return block;
}

namespace {

// Whether no two indices write the same element. A sufficient condition: each stride is larger than
// the extent of all dimensions inside it.
bool writesOnce(const Block& block) {
  Index reach = 0;
  for (int d = block.rank - 1; d >= 0; --d) {
    if (block.extent[d] == 1)
      continue;
    const Index stride = std::abs(block.b[d]);
    if (stride <= reach)
      return false;
    reach += stride * (block.extent[d] - 1);
  }
  return true;
}

} // namespace

WriteOrder writeOrder(const Block& block, bool mayRepeat) {
  Block parts[2]; // free, repeated
  for (int d = 0; d < block.rank; ++d) {
    Block& part = parts[block.b[d] == 0 && block.extent[d] > 1 ? 1 : 0];
    part.extent[part.rank] = block.extent[d];
    part.a[part.rank] = block.a[d];
    part.b[part.rank++] = block.b[d];
  }
  // `repeated` is not normalised: its dimensions stay in the caller's order, in which elements are
  // combined.
  const Block free = normaliseBlock(parts[0].rank, parts[0].extent, parts[0].a, parts[0].b);
  if (!writesOnce(free))
    throw Error(
        TENON_ERR_SUPPORT,
        "a block on the device writes elements twice along dimensions whose stride is not 0; "
        "use strides that keep its elements apart, or the space host");
  if (!mayRepeat && parts[1].rank > 0)
    throw Error(TENON_ERR_SUPPORT,
                "a block on the device writes elements several times and is neither copied nor "
                "combined; use strides other than 0, or the space host");
  return {free, parts[1]};
}

bool widenBlock(Block& block, Index together) {
  Block wide = block;
  const int inner = block.rank - 1;
  if (block.empty || block.a[inner] != 1 || block.b[inner] != 1 ||
      block.extent[inner] % together != 0)
    return false;
  wide.extent[inner] /= together;
  for (int d = 0; d < inner; ++d) {
    if (block.a[d] % together != 0 || block.b[d] % together != 0 ||
        (block.extent[d] > 1 && block.b[d] == 0))
      return false;
    wide.a[d] /= together;
    wide.b[d] /= together;
  }
  block = wide;
  return true;
}

int transposedDimension(const Block& block) {
  // Runs of fewer than 8 floats do not fill a memory sector (32 bytes): tiles would gain nothing.
  constexpr Index kShort = 8;
  const int inner = block.rank - 1;
  if (block.empty || block.b[inner] != 1 || block.extent[inner] < kShort ||
      std::abs(block.a[inner]) < kShort)
    return -1;
  int along = -1;
  for (int d = 0; d < inner; ++d) {
    if (block.extent[d] > 1 && block.b[d] == 0)
      return -1;
    if (block.a[d] == 1 && block.extent[d] >= kShort)
      along = d;
  }
  return along;
}

// The dimension in which the smallest share of the strips' elements is unused: with strips of 4, an
// extent of 6 wastes 2 of 8 elements, and an extent of 15 wastes 1 of 16. Neighbouring threads
// should fill a memory sector (32 bytes), so the innermost dimension is chosen only if it is long
// or the only one.
int stripDimension(const Block& block, Index strip) {
  constexpr Index kSector = 8; // floats
  const int inner = block.rank - 1;
  const auto padded = [&](int d) { return (block.extent[d] + strip - 1) / strip * strip; };
  int best = inner;
  bool isSet = block.extent[inner] >= kSector * strip;
  for (int d = 0; d < inner; ++d)
    if (block.extent[d] >= strip &&
        // padded / extent is smaller, without a division
        (!isSet || padded(d) * block.extent[best] <= padded(best) * block.extent[d])) {
      best = d;
      isSet = true;
    }
  return best;
}

int dividedDimension(const Block& block, int threads) {
  if (threads < 2 || block.empty)
    return -1;
  Index work = 1;
  for (int d = 0; d < block.rank; ++d)
    work *= block.extent[d];
  if (!isWorthThreads(threads, work) || !writesOnce(block))
    return -1;
  // The outermost dimension with at least four indices per thread, for load balance, or the longest
  // if there is none.
  const Index enough = Index(4) * threads;
  const auto* end = block.extent + block.rank;
  const auto* outer = std::find_if(block.extent, end, [=](Index n) { return n >= enough; });
  return static_cast<int>((outer != end ? outer : std::max_element(block.extent, end)) -
                          block.extent);
}

} // namespace tenon
