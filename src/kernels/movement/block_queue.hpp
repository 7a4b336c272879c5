// SPDX-License-Identifier: BSD-2-Clause
// Queue of boxes to copy or add. On the device, one kernel handles as many boxes as fit in its
// parameters, since a launch takes longer than the copy of a small box: a rank that packs the halos
// for 26 neighbours launches one kernel instead of 26. On the host each box is handled at once.
//     BlockQueue queue(context);
//     queue.copy(...);  queue.clear(...);  queue.add(...);     // any number, in order
//     queue.flush();                                           // before any other kernel
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/several_blocks.hpp"

#include <optional>

namespace tenon {

// A box x between whose entries and those of y elements are moved (listed_block.hpp), in the queue.
struct ListedBlock {
  int rank, dim;
  Index extent[kMaxBlockRank], xs[kMaxBlockRank], ys[kMaxBlockRank];
  const void* x;
  void* y;
  ListedPlaces from, to;
};

// Ranks, extents, strides and types are those of blockCombine(); results are bitwise identical to
// it. Arrays must remain valid until flush(), when boxes are processed at the latest.
class BlockQueue {
public:
  explicit BlockQueue(KernelContext& context);
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // y[i . ys] = x[i . xs], and y[i . ys] = 0. Between two flushes a box must not write elements
  // that another copied or cleared box reads or writes.
  template <class T>
  void copy(int rank, const Index* extent, const T* x, const Index* xs, T* y, const Index* ys);
  template <class T>
  void clear(int rank, const Index* extent, T* y, const Index* ys);
  // The copy of listedAxpby() (listed_block.hpp), with alpha = 1, beta = 0 and no weights.
  template <class T>
  void copyListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                  const ListedPlaces& from, T* y, const Index* ys, const ListedPlaces& to);
  // Its addition, with alpha = beta = 1 and no weights, where `to` is list `number` of `sums`.
  // Lists with numbers that follow each other, added to the same array, are one kernel, and are
  // added to each element in this order.
  template <class T>
  void addListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                 const ListedPlaces& from, T* y, const Index* ys, const ListedPlaces& to,
                 const functors::ListedSums& sums, int number);
  // y[(begin + i) . ys] += x[i . xs]. Boxes can overlap in y; they are added in the order of the
  // calls.
  template <class T>
  void add(int rank, const Index* begin, const Index* extent, const T* x, const Index* xs, T* y,
           const Index* ys);
  // Launches the queued boxes. Required before other kernels use the results.
  void flush();

private:
  // Appends the box to the table, which is launched first if it is full. Returns false if the box
  // does not fit into an entry.
  template <class T>
  bool queueCopy(int rank, const Index* extent, const T* x, const Index* xs, T* y, const Index* ys);
  template <class T>
  bool queueListed(int rank, const Index* extent, int dim, const T* x, const Index* xs,
                   const ListedPlaces& from, T* y, const Index* ys, const ListedPlaces& to);
  template <class T>
  bool queueListedAdd(const ListedBlock& block, const functors::ListedSums& sums, int number);
  template <class T>
  bool queueAdd(int rank, const Index* begin, const Index* extent, const T* x, const Index* xs,
                T* y, const Index* ys);

  using RunAdds = void (*)(KernelContext&, const functors::AddedBoxes&);
  struct ListedAdds;
  using RunListedAdds = void (*)(KernelContext&, const ListedAdds&);
  struct ListedAdds {
    functors::AddedLists lists = {};
    ListedBlock one = {}; // The first one, which a simpler kernel adds if no others follow.
    Index elements = 0;
    RunListedAdds run = nullptr; // for the element type
  };
  template <class T>
  static void runListedAdds(KernelContext& context, const ListedAdds& adds);

  // Boxes that are added are never in the queue together with others, nor are those at listed
  // positions together with those elsewhere.
  struct Tables {
    functors::CopySeveral copies = {};
    functors::CopyListed listed = {};
    functors::AddedBoxes adds = {};
    RunAdds runAdds = nullptr; // for the element type of the boxes in adds
    ListedAdds listedAdds = {};
  };
  // Whether there are boxes to be added in the queue, before which others cannot be queued.
  bool hasAdds() const {
    return tables_->adds.table.count > 0 || tables_->listedAdds.lists.count > 0;
  }

  KernelContext& context_;
  std::optional<Tables> tables_; // only in a context of the device
};

} // namespace tenon
