// SPDX-License-Identifier: BSD-2-Clause
// Collects boxes (strided blocks of elements) that are to be copied or added on the device, and
// processes all of them by one kernel launch. The boxes are entries of a table in the kernel's
// parameters (functors/several_blocks.hpp). A box that does not fit into an entry, or that a
// separate kernel processes faster, is launched separately, after the boxes that were queued
// before.
#include "kernels/movement/block_queue.hpp"

#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/listed_block.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

using functors::AddedBox;
using functors::AddedBoxes;
using functors::CopiedBox;
using functors::ListedBox;

// A larger box is transposed by tiles, in a separate kernel.
constexpr Index kMaxTransposed = Index(1) << 14;
// The kernel that adds searches, for each element of a box, all other boxes of the table that
// contain the element. For boxes above this size the search takes longer than a separate launch,
// unless all boxes add to the same elements, which are then read and written once.
constexpr Index kMaxLookedUp = Index(1) << 17;

Index elementsOf(int rank, const Index* extent) {
  Index elements = 1;
  for (int d = 0; d < rank; ++d)
    elements *= extent[d];
  return elements;
}

// Whether a stride or an index fits the 32 bits of an entry; toShort() converts it.
bool isShort(Index n) {
  constexpr Index kMax = std::numeric_limits<std::int32_t>::max();
  return -kMax <= n && n <= kMax;
}

std::int32_t toShort(Index n) {
  return static_cast<std::int32_t>(n);
}

// Appends a box to the table, and assigns it the thread blocks of the grid for this number of
// threads.
template <class Table>
auto& newBox(Table& table, Index threads) {
  const Index maxBlocks = 16 * Device::get().multiprocessors();
  const Index blocks =
      std::min((threads + device::kThreads - 1) / Index(device::kThreads), maxBlocks);
  table.first[table.count + 1] = table.first[table.count] + static_cast<std::uint32_t>(blocks);
  return table.boxes[table.count++];
}

// Whether an entry can describe this copy, and no separate kernel is faster.
bool fitsCopy(const Block& block) {
  if (block.rank > CopiedBox::kRank || elementsOf(block.rank, block.extent) > sliceElements)
    return false;
  for (int d = 0; d < block.rank; ++d)
    if (!isShort(block.a[d]) || !isShort(block.b[d]) || (block.extent[d] > 1 && block.b[d] == 0))
      return false;
  return transposedDimension(block) < 0 || elementsOf(block.rank, block.extent) <= kMaxTransposed;
}

// Appends the copy of a block with elements of this size to the table. Its strips are those of
// CopiedBox. An entry numbers dimensions from the innermost, a block from the outermost.
template <class Table>
void appendCopy(Table& table, const Block& block, const void* x, void* y, Index bytes) {
  constexpr Index strip = CopiedBox::kStrip;
  const int along = stripDimension(block, strip);
  Block strips = block;
  strips.extent[along] = (block.extent[along] + strip - 1) / strip;
  const Index count = elementsOf(strips.rank, strips.extent);
  CopiedBox& box = newBox(table, count);
  box = {.x = x,
         .y = y,
         .extent = {},
         .a = {},
         .b = {},
         .outermost = block.rank - 1,
         .strip = block.rank - 1 - along,
         .apart = toShort(strips.extent[along]),
         .length = toShort(block.extent[along]),
         .strips = static_cast<std::uint32_t>(count),
         .bytes = toShort(bytes)};
  for (int d = 0; d < block.rank; ++d) {
    const int from = block.rank - 1 - d;
    if (d < box.outermost)
      box.extent[d] = divisorOf(strips.extent[from]);
    box.a[d] = toShort(block.a[from]);
    box.b[d] = toShort(block.b[from]);
  }
}

// The dimensions [begin, end) of a box as one, if they are contiguous in both arrays or at most one
// has several indices.
struct Merged {
  Index extent = 1, a = 0, b = 0; // strides in x and y
  bool isOne = true;

  Merged(int begin, int end, const Index* extents, const Index* xs, const Index* ys) {
    for (int d = end; d-- > begin;) {
      if (extents[d] == 1)
        continue;
      if (extent == 1) {
        a = xs[d];
        b = ys[d];
      } else if (xs[d] != a * extent || ys[d] != b * extent) {
        isOne = false;
      }
      extent *= extents[d];
    }
  }
};

// The entries of a list along one dimension of an array, between the strides of the dimensions
// before and after it.
ListedBox::Side sideOf(const ListedPlaces& places, Index outer, Index inner) {
  return {places.positions, outer, places.steps[0], inner};
}

// Launches the additions of a table. A single box uses blockCombine(), whose kernel needs no
// search.
template <class T>
void runAdds(KernelContext& context, const AddedBoxes& adds) {
  constexpr int rank = AddedBox::kRank;
  const auto& table = adds.table;
  if (table.count > 1) {
    if constexpr (kHasDevice)
      device::eachThreadBlock(context.stream(), table.first[table.count],
                              functors::AddSeveral<T>{adds});
    return;
  }
  const AddedBox& box = table.boxes[0];
  Index extent[rank], steps[rank], at = 0;
  for (int d = 0; d < rank; ++d) {
    extent[d] = box.size[d];
    steps[d] = box.steps[d];
    at += box.begin[d] * adds.ys[d];
  }
  blockCombine(context, Combine::Add, rank, extent, static_cast<const T*>(box.x), steps,
               static_cast<T*>(adds.y) + at, adds.ys);
}

// Whether an entry can describe this addition.
bool fitsAdd(int rank, const Index* begin, const Index* extent, const Index* xs, const Index* ys) {
  if (rank > AddedBox::kRank || elementsOf(rank, extent) > sliceElements)
    return false;
  for (int d = 0; d < rank; ++d)
    if (!isShort(begin[d] + extent[d]) || !isShort(xs[d]) || (extent[d] > 1 && ys[d] == 0))
      return false;
  return true;
}

bool isSameBox(const AddedBox& a, const AddedBox& b) {
  return std::equal(a.begin, a.begin + AddedBox::kRank, b.begin) &&
         std::equal(a.size, a.size + AddedBox::kRank, b.size);
}

// The entry of an addition, with dimensions from the innermost.
AddedBox addedBox(int rank, const Index* begin, const Index* extent, const void* x,
                  const Index* xs) {
  AddedBox box{.x = x,
               .extent = {},
               .begin = {},
               .steps = {},
               .size = {},
               .elements = static_cast<std::uint32_t>(elementsOf(rank, extent))};
  for (int d = 0; d < AddedBox::kRank; ++d) {
    const int from = rank - 1 - d;
    box.size[d] = from < 0 ? 1 : static_cast<std::uint32_t>(extent[from]);
    if (d < AddedBox::kRank - 1)
      box.extent[d] = divisorOf(box.size[d]);
    if (from >= 0) {
      box.begin[d] = toShort(begin[from]);
      box.steps[d] = toShort(xs[from]);
    }
  }
  return box;
}

// Whether the array to which the queued boxes are added is this one.
bool areAddedTo(const AddedBoxes& adds, int rank, const void* y, const Index* ys) {
  bool isSame = adds.y == y;
  for (int d = 0; d < AddedBox::kRank; ++d)
    isSame &= adds.ys[d] == (d < rank ? ys[rank - 1 - d] : 0);
  return isSame;
}

// Whether the elements of a box would search too many boxes that do not contain them.
bool isApart(const AddedBoxes& adds, const AddedBox& box) {
  const AddedBox& last = adds.table.boxes[adds.table.count - 1];
  return std::max(box.elements, last.elements) > kMaxLookedUp && !isSameBox(box, last);
}

} // namespace

BlockQueue::BlockQueue(KernelContext& context) : context_(context) {
  if (isOnDevice(context))
    tables_ = Tables{}; // not emplace(), for which Clang requires a constructor
}

template <class T>
bool BlockQueue::queueCopy(int rank, const Index* extent, const T* x, const Index* xs, T* y,
                           const Index* ys) {
  Block block = normaliseBlock(rank, extent, xs, ys);
  if (block.empty)
    return true;
  if (hasAdds())
    flush();
  if (!fitsCopy(block))
    return false;
  writeOrder(block, /*mayRepeat=*/false); // throws for boxes that write an element twice
  auto& table = tables_->copies.table;
  if (table.count == table.kMax)
    flush();
  constexpr Index wide = sizeof(functors::CopyWide::Element);
  const bool isWide = functors::areWide(x, y) && widenBlock(block, wide / Index(sizeof(T)));
  appendCopy(table, block, x, y, isWide ? wide : Index(sizeof(T)));
  return true;
}

template <class T>
void BlockQueue::copy(int rank, const Index* extent, const T* x, const Index* xs, T* y,
                      const Index* ys) {
  if (isOnDevice(context_)) {
    if (queueCopy(rank, extent, x, xs, y, ys))
      return;
    flush();
  }
  blockCombine(context_, Combine::Copy, rank, extent, x, xs, y, ys);
}

template <class T>
void BlockQueue::clear(int rank, const Index* extent, T* y, const Index* ys) {
  if (isOnDevice(context_)) {
    if (queueCopy<T>(rank, extent, nullptr, ys, y, ys))
      return;
    flush();
  }
  blockScale(context_, rank, extent, T(0), y, ys);
}

template <class T>
bool BlockQueue::queueListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                             const ListedPlaces& from, T* y, const Index* ys,
                             const ListedPlaces& to) {
  const Index elements = elementsOf(rank, extent);
  if (elements == 0)
    return true;
  if (hasAdds())
    flush();
  const Merged outer(0, dim, extent, xs, ys), inner(dim + 1, rank, extent, xs, ys);
  if (!outer.isOne || !inner.isOne || from.dims != 1 || to.dims != 1 || elements > sliceElements)
    return false;
  auto& table = tables_->listed.table;
  if (table.count == table.kMax)
    flush();
  newBox(table, elements) = {.x = x,
                             .y = y,
                             .from = sideOf(from, outer.a, inner.a),
                             .to = sideOf(to, outer.b, inner.b),
                             .inner = divisorOf(inner.extent),
                             .entries = divisorOf(extent[dim]),
                             .elements = static_cast<std::uint32_t>(elements),
                             .bytes = sizeof(T)};
  return true;
}

template <class T>
void BlockQueue::copyListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                            const ListedPlaces& from, T* y, const Index* ys,
                            const ListedPlaces& to) {
  if (isOnDevice(context_)) {
    if (queueListed(rank, extent, dim, x, xs, from, y, ys, to))
      return;
    flush();
  }
  listedAxpby<T>(context_, rank, extent, dim, T(1), nullptr, x, xs, from, T(0), y, ys, to);
}

namespace {

ListedBlock listedBlock(int rank, const Index* extent, int dim, const void* x, const Index* xs,
                        const ListedPlaces& from, void* y, const Index* ys,
                        const ListedPlaces& to) {
  ListedBlock block{.rank = rank,
                    .dim = dim,
                    .extent = {},
                    .xs = {},
                    .ys = {},
                    .x = x,
                    .y = y,
                    .from = from,
                    .to = to};
  std::copy_n(extent, rank, block.extent);
  std::copy_n(xs, rank, block.xs);
  std::copy_n(ys, rank, block.ys);
  return block;
}

// Whether a list is the next one of the queued lists, which are added to the same elements of y.
bool continues(const functors::AddedLists& queued, const functors::AddedLists& next) {
  return queued.count > 0 && queued.count < queued.kMax &&
         queued.sums.entries == next.sums.entries && queued.first + queued.count == next.first &&
         queued.y == next.y && queued.outer == next.outer && queued.step == next.step &&
         queued.inner == next.inner && queued.columns.divisor() == next.columns.divisor();
}

} // namespace

template <class T>
void BlockQueue::runListedAdds(KernelContext& context, const ListedAdds& adds) {
  if (adds.lists.count > 1) {
    if constexpr (kHasDevice)
      device::eachElement(context.stream(), adds.elements, functors::AddListed<T>{adds.lists});
    return;
  }
  const ListedBlock& one = adds.one;
  listedAxpby<T>(context, one.rank, one.extent, one.dim, T(1), nullptr,
                 static_cast<const T*>(one.x), one.xs, one.from, T(1), static_cast<T*>(one.y),
                 one.ys, one.to);
}

template <class T>
bool BlockQueue::queueListedAdd(const ListedBlock& block, const functors::ListedSums& sums,
                                int number) {
  if (elementsOf(block.rank, block.extent) == 0)
    return true;
  const Merged outer(0, block.dim, block.extent, block.xs, block.ys),
      inner(block.dim + 1, block.rank, block.extent, block.xs, block.ys);
  const Index elements = outer.extent * sums.rows * inner.extent;
  if (!outer.isOne || !inner.isOne || block.from.dims != 1 || block.to.dims != 1 ||
      elements > sliceElements)
    return false;
  ListedAdds& adds = tables_->listedAdds;
  functors::AddedLists next{.sums = sums,
                            .first = number,
                            .y = block.y,
                            .outer = outer.b,
                            .step = block.to.steps[0],
                            .inner = inner.b,
                            .columns = divisorOf(inner.extent),
                            .rows = divisorOf(sums.rows),
                            .sources = {}};
  if (adds.run != runListedAdds<T> || adds.elements != elements || !continues(adds.lists, next)) {
    flush();
    adds = {.lists = next, .one = block, .elements = elements, .run = runListedAdds<T>};
  }
  adds.lists.sources[adds.lists.count++] = {block.x, sideOf(block.from, outer.a, inner.a)};
  return true;
}

template <class T>
void BlockQueue::addListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                           const ListedPlaces& from, T* y, const Index* ys, const ListedPlaces& to,
                           const functors::ListedSums& sums, int number) {
  if (isOnDevice(context_)) {
    if (queueListedAdd<T>(listedBlock(rank, extent, dim, x, xs, from, y, ys, to), sums, number))
      return;
    flush();
  }
  listedAxpby<T>(context_, rank, extent, dim, T(1), nullptr, x, xs, from, T(1), y, ys, to);
}

template <class T>
bool BlockQueue::queueAdd(int rank, const Index* begin, const Index* extent, const T* x,
                          const Index* xs, T* y, const Index* ys) {
  if (elementsOf(rank, extent) == 0)
    return true;
  AddedBoxes& adds = tables_->adds;
  auto& table = adds.table;
  const RunAdds run = runAdds<T>;
  // A table has one array y of one type, and copies that were queued before must come first.
  const bool differs = run != tables_->runAdds || !areAddedTo(adds, rank, y, ys);
  const bool follows = tables_->copies.table.count > 0 || tables_->listed.table.count > 0 ||
                       tables_->listedAdds.lists.count > 0;
  if (follows || table.count == table.kMax || differs)
    flush();
  if (!fitsAdd(rank, begin, extent, xs, ys))
    return false;
  // Throws for boxes that write an element twice.
  writeOrder(normaliseBlock(rank, extent, xs, ys), /*mayRepeat=*/false);
  const AddedBox box = addedBox(rank, begin, extent, x, xs);
  if (table.count > 0 && isApart(adds, box))
    flush();
  newBox(table, box.elements) = box;
  adds.y = y;
  for (int d = 0; d < AddedBox::kRank; ++d)
    adds.ys[d] = d < rank ? ys[rank - 1 - d] : 0;
  tables_->runAdds = run;
  return true;
}

template <class T>
void BlockQueue::add(int rank, const Index* begin, const Index* extent, const T* x, const Index* xs,
                     T* y, const Index* ys) {
  if (isOnDevice(context_)) {
    if (queueAdd(rank, begin, extent, x, xs, y, ys))
      return;
    flush();
  }
  for (int d = 0; d < rank; ++d)
    y += begin[d] * ys[d];
  blockCombine(context_, Combine::Add, rank, extent, x, xs, y, ys);
}

void BlockQueue::flush() {
  if (!tables_)
    return;
  auto& [copies, listed, adds, runAdds, listedAdds] = *tables_;
  const auto run = [&](auto& boxes) {
    if (boxes.table.count == 0)
      return;
    if constexpr (kHasDevice)
      device::eachThreadBlock(context_.stream(), boxes.table.first[boxes.table.count], boxes);
    boxes.table.count = 0;
  };
  run(copies);
  run(listed);
  if (adds.table.count > 0) {
    runAdds(context_, adds);
    adds.table.count = 0;
  }
  if (listedAdds.lists.count > 0) {
    listedAdds.run(context_, listedAdds);
    listedAdds.lists.count = 0;
  }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void BlockQueue::copy<T>(int, const Index*, const T*, const Index*, T*, const Index*);  \
  template void BlockQueue::clear<T>(int, const Index*, T*, const Index*);                         \
  template void BlockQueue::copyListed<T>(int, const Index*, int, const T*, const Index*,          \
                                          const ListedPlaces&, T*, const Index*,                   \
                                          const ListedPlaces&);                                    \
  template void BlockQueue::addListed<T>(int, const Index*, int, const T*, const Index*,           \
                                         const ListedPlaces&, T*, const Index*,                    \
                                         const ListedPlaces&, const functors::ListedSums&, int);   \
  template void BlockQueue::add<T>(int, const Index*, const Index*, const T*, const Index*, T*,    \
                                   const Index*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
TENON_INSTANTIATE(std::int64_t)
TENON_INSTANTIATE(std::int32_t)
#undef TENON_INSTANTIATE

} // namespace tenon
