// SPDX-License-Identifier: BSD-2-Clause
// Device functors that copy or add several boxes in one launch (movement/block_queue.hpp). The
// table of boxes is in the kernel's parameters, which are limited to 4 KiB (with every driver). The
// grid is divided among the boxes: its thread blocks first[i], ..., first[i + 1] - 1 process box i.
// Example: boxes with first = {0, 3, 4} have 3 thread blocks and 1 thread block. Boxes that are
// added at the positions of lists divide the elements of the target instead.
#pragma once

#include "kernels/functors/block.hpp"
#include "kernels/functors/listed.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

#include <cstdint>

namespace tenon::functors {

// The boxes of one launch, and which thread blocks process each of them.
template <class Box, int kMaxBoxes>
struct BoxTable {
  static constexpr int kMax = kMaxBoxes;
  std::int32_t count = 0;
  std::uint32_t first[kMax + 1] = {}; // first grid block of each box, and the end
  Box boxes[kMax] = {};

  // The box that a thread block of the grid processes.
  TENON_DEVICE int boxOf(unsigned block) const {
    int box = 0;
    while (block >= first[box + 1])
      ++box;
    return box;
  }
  // Calls visit(i) for those of the `items` items of a box that this thread processes.
  template <class Visit>
  TENON_DEVICE void share(const GridThread& p, int box, std::uint32_t items,
                          const Visit& visit) const {
    const std::uint32_t begin = (p.block - first[box]) * p.threads + p.thread,
                        step = (first[box + 1] - first[box]) * p.threads;
    TENON_KEEP_LOOP
    for (std::uint32_t i = begin; i < items; i += step)
      visit(i);
  }
};

// A box that is copied in strips of up to four elements along one dimension (`strip`), as in
// StripWalk (cuda/launch.cuh). A thread copies a strip. Its elements are not adjacent but `apart`
// elements apart, where `apart` is the number of strips along the dimension, so neighbouring
// threads access neighbouring elements. Example: length 10 has 3 strips, with the elements
//
//   0, 3, 6, 9     1, 4, 7     2, 5, 8
//
// a and b are the strides of x and y. Dimensions are numbered from the innermost.
struct CopiedBox {
  static constexpr int kRank = 4, kStrip = 4;
  const void* x; // null: fills with zeros
  void* y;
  Divisor extent[kRank - 1]; // in strips
  std::int32_t a[kRank], b[kRank];
  // Numbers of dimensions: the outermost one, whose coordinate is what the divisions by the extents
  // of the others leave; and that of the strips.
  std::int32_t outermost, strip;
  std::int32_t apart, length; // distance of the elements of a strip, and extent of its dimension
  std::uint32_t strips;
  std::int32_t bytes; // size of an element
};

// Copies the boxes of the table; elements are moved as 4, 8 or 16 bytes, whatever their type.
//
// Like all functors of this file it is run by eachThreadBlock() (walks/walks.hpp), which needs
// Shared, the type of what a thread block has in shared memory, and phases(), the number of calls
// with a barrier in between. These functors share nothing and have one phase.
struct CopySeveral {
  struct Shared {};
  BoxTable<CopiedBox, 32> table;

  TENON_DEVICE int phases() const { return 1; }
  TENON_DEVICE void operator()(int, const GridThread& p, Shared&) const {
    const int n = table.boxOf(p.block);
    switch (table.boxes[n].bytes) {
    case 4:
      return move<std::uint32_t>(p, n);
    case 8:
      return move<std::uint64_t>(p, n);
    default:
      return move<CopyWide::Element>(p, n);
    }
  }

private:
  // Word: an integer of the size of an element.
  template <class Word>
  TENON_DEVICE void move(const GridThread& p, int n) const {
    const CopiedBox& box = table.boxes[n];
    table.share(p, n, box.strips, [&](std::uint32_t rest) {
      Index from = 0, to = 0;
      std::int32_t index = 0; // of the first element, along the dimension of strips
      for (int d = 0; d <= box.outermost; ++d) {
        // divide(rest) returns the remainder, and leaves the quotient in `rest`.
        const std::uint32_t coordinate = d < box.outermost ? box.extent[d].divide(rest) : rest;
        from += Index(coordinate) * box.a[d];
        to += Index(coordinate) * box.b[d];
        if (d == box.strip)
          index = static_cast<std::int32_t>(coordinate);
      }
      const Word* const x = static_cast<const Word*>(box.x);
      moveStrip(box, x ? x + from : nullptr, static_cast<Word*>(box.y) + to, index);
    });
  }
  // Strips whose last element would be beyond the dimension are shorter than four.
  template <class Word>
  TENON_DEVICE static void moveStrip(const CopiedBox& box, const Word* x, Word* y,
                                     std::int32_t index) {
    const Index stride = box.apart, strideX = stride * box.a[box.strip],
                strideY = stride * box.b[box.strip];
    const Index length = box.length;
    if (index + (CopiedBox::kStrip - 1) * stride < length) {
      Word values[CopiedBox::kStrip] = {};
      if (x) {
        TENON_UNROLL
        for (int k = 0; k < CopiedBox::kStrip; ++k)
          values[k] = x[k * strideX];
      }
      TENON_UNROLL
      for (int k = 0; k < CopiedBox::kStrip; ++k)
        y[k * strideY] = values[k];
    } else {
      TENON_KEEP_LOOP
      for (Index k = 0; index + k * stride < length; ++k)
        y[k * strideY] = x ? x[k * strideX] : Word{};
    }
  }
};

// A box [outer, entries, inner] whose entries are at listed positions in x, in y, or in both
// (functors/listed.hpp); without a list they are `step` apart.
struct ListedBox {
  struct Side {
    const Index* positions;
    Index outer, step, inner; // strides; `step` is that of the entries, or of the positions
    TENON_DEVICE Index offset(Index first, Index entry, Index last) const {
      return first * outer + (positions ? positions[entry] : entry) * step + last * inner;
    }
  };
  const void* x;
  void* y;
  Side from, to;
  Divisor inner, entries;
  std::uint32_t elements;
  std::int32_t bytes; // size of an element
};

// Copies the boxes of the table.
struct CopyListed {
  struct Shared {};
  BoxTable<ListedBox, 24> table;

  TENON_DEVICE int phases() const { return 1; }
  TENON_DEVICE void operator()(int, const GridThread& p, Shared&) const {
    const int n = table.boxOf(p.block);
    if (table.boxes[n].bytes == 4)
      move<std::uint32_t>(p, n);
    else
      move<std::uint64_t>(p, n);
  }

private:
  // Word: an integer of the size of an element.
  template <class Word>
  TENON_DEVICE void move(const GridThread& p, int n) const {
    const ListedBox& box = table.boxes[n];
    table.share(p, n, box.elements, [&](std::uint32_t outer) {
      // Each division returns the remainder, and leaves the quotient in `outer`.
      const std::uint32_t last = box.inner.divide(outer), entry = box.entries.divide(outer);
      static_cast<Word*>(box.y)[box.to.offset(outer, entry, last)] =
          static_cast<const Word*>(box.x)[box.from.offset(outer, entry, last)];
    });
  }
};

// The entries of several lists by their targets: row r is the target at position targets[r] of the
// array, and the entries begins[r], ..., begins[r + 1] - 1 belong to it, in the order of the lists.
// An entry has the number of its list in the upper 32 bits and its index in that list in the lower
// ones. Example: the lists 0 = {7, 2} and 1 = {2} have the targets {2, 7}, begins = {0, 2, 3} and
// the entries (0, 1), (1, 0), (0, 0).
struct ListedSums {
  const Index *targets, *begins, *entries;
  Index rows; // of targets
};

// Boxes [outer, entries, inner] that are added to one array y at the positions of lists, with the
// numbers first, ..., first + count - 1 in `sums`.
struct AddedLists {
  static constexpr int kMax = 64;
  struct Source {
    const void* x;
    ListedBox::Side at;
  };
  ListedSums sums;
  std::int32_t first = 0, count = 0;
  void* y;
  Index outer, step, inner; // strides of y
  Divisor columns, rows;    // the extent of the inner dimension, and sums.rows
  Source sources[kMax];
};

// Adds to an element of y the values of all boxes, in the order of the lists. A thread has an
// element, so no two threads write it.
template <class T>
struct AddListed {
  AddedLists lists;

  TENON_DEVICE void operator()(Index element) const {
    auto outer = static_cast<std::uint32_t>(element);
    // Each division returns the remainder, and leaves the quotient in `outer`.
    const std::uint32_t column = lists.columns.divide(outer), row = lists.rows.divide(outer);
    T* const to = static_cast<T*>(lists.y) + outer * lists.outer +
                  lists.sums.targets[row] * lists.step + column * lists.inner;
    T sum = *to;
    TENON_KEEP_LOOP
    for (Index n = lists.sums.begins[row]; n < lists.sums.begins[row + 1]; ++n) {
      const Index entry = lists.sums.entries[n];
      // Lists before the first one have large numbers here.
      const std::uint32_t box = static_cast<std::uint32_t>((entry >> 32) - lists.first);
      if (box < static_cast<std::uint32_t>(lists.count)) {
        const AddedLists::Source& source = lists.sources[box];
        sum = AddTo{}(
            sum, static_cast<const T*>(
                     source.x)[source.at.offset(outer, static_cast<std::uint32_t>(entry), column)]);
      }
    }
    *to = sum;
  }
};

// A box x that is added to the array y from index `begin` on; boxes in the table can overlap.
// Dimensions are numbered from the innermost; steps are the strides of x, and size are the extents.
struct AddedBox {
  static constexpr int kRank = 5;
  const void* x;
  Divisor extent[kRank - 1]; // all dimensions but the outermost, from the innermost
  std::int32_t begin[kRank], steps[kRank];
  std::uint32_t size[kRank];
  std::uint32_t elements;

  // Whether the box contains the element of y with this index.
  TENON_DEVICE bool has(const std::int32_t (&at)[kRank]) const {
    bool inside = true;
    TENON_UNROLL
    for (int d = 0; d < kRank; ++d)
      inside &= static_cast<std::uint32_t>(at[d] - begin[d]) < size[d];
    return inside;
  }
};

// Boxes that are added to one array y with strides ys.
struct AddedBoxes {
  BoxTable<AddedBox, 28> table;
  void* y;
  Index ys[AddedBox::kRank];
};

// Adds the values of all boxes to each element, in the order of the boxes. The first box that
// contains an element does this for all boxes, so no two threads write it.
template <class T>
struct AddSeveral {
  struct Shared {};
  AddedBoxes added;

  TENON_DEVICE int phases() const { return 1; }
  TENON_DEVICE void operator()(int, const GridThread& p, Shared&) const {
    const int n = added.table.boxOf(p.block);
    added.table.share(p, n, added.table.boxes[n].elements, [&](std::uint32_t i) { add(n, i); });
  }

private:
  static constexpr int kRank = AddedBox::kRank;

  TENON_DEVICE void add(int n, std::uint32_t rest) const {
    const AddedBox& box = added.table.boxes[n];
    std::int32_t at[kRank];
    TENON_UNROLL
    for (int d = 0; d < kRank; ++d)
      at[d] = box.begin[d] +
              static_cast<std::int32_t>(d < kRank - 1 ? box.extent[d].divide(rest) : rest);
    for (int k = 0; k < n; ++k)
      if (added.table.boxes[k].has(at))
        return; // an earlier box of the table adds to this element
    T* to = static_cast<T*>(added.y);
    TENON_UNROLL
    for (int d = 0; d < kRank; ++d)
      to += at[d] * added.ys[d];
    T sum = *to;
    TENON_KEEP_LOOP
    for (int k = n; k < added.table.count; ++k)
      if (added.table.boxes[k].has(at))
        sum = AddTo{}(sum, *from(added.table.boxes[k], at));
    *to = sum;
  }
  TENON_DEVICE static const T* from(const AddedBox& box, const std::int32_t (&at)[kRank]) {
    const T* x = static_cast<const T*>(box.x);
    TENON_UNROLL
    for (int d = 0; d < kRank; ++d)
      x += Index(at[d] - box.begin[d]) * box.steps[d];
    return x;
  }
};

} // namespace tenon::functors
