// SPDX-License-Identifier: BSD-2-Clause
// Boxes that are moved together. On the device one kernel moves as many of them as its parameters
// hold, since to launch a kernel takes longer than to move a small box; on the host each is moved
// at once.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/several_blocks.hpp"

#include <optional>

namespace tenon {

// Ranks, extents, strides and types are those of blockCombine(), with which the bits agree. Boxes
// may be moved as late as in flush(), so their arrays must stay until then.
class BlockQueue {
public:
  explicit BlockQueue(KernelContext& context);
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // y[i . ys] = x[i . xs], and y[i . ys] = 0. Of the boxes that are copied and cleared one after
  // the other none may write what another reads or writes.
  template <class T>
  void copy(int rank, const Index* extent, const T* x, const Index* xs, T* y, const Index* ys);
  template <class T>
  void clear(int rank, const Index* extent, T* y, const Index* ys);
  // y[(begin + i) . ys] += x[i . xs]. Boxes may overlap in y, where they are added in the order of
  // the calls.
  template <class T>
  void add(int rank, const Index* begin, const Index* extent, const T* x, const Index* xs, T* y,
           const Index* ys);
  // Launches what is queued. What is moved by other means waits for this.
  void flush();

private:
  // Whether the box is in the table now, which is launched first if it is full.
  template <class T>
  bool queueCopy(int rank, const Index* extent, const T* x, const Index* xs, T* y, const Index* ys);
  template <class T>
  bool queueAdd(int rank, const Index* begin, const Index* extent, const T* x, const Index* xs,
                T* y, const Index* ys);

  using RunAdds = void (*)(KernelContext&, const functors::AddedBoxes&);

  // At most one of the two holds boxes.
  struct Tables {
    functors::CopySeveral copies = {};
    functors::AddedBoxes adds = {};
    RunAdds runAdds = nullptr; // of the type of the boxes in adds
  };

  KernelContext& context_;
  std::optional<Tables> tables_; // of a context of the device
};

} // namespace tenon
