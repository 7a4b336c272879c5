// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of discrete-continuous convolutions on one rank. With z = T u the sums of a field
// u on the fine grid by the entries of a filter (turned_filter.hpp), and weights w of each pair of
// channels and basis function,
//
//   toCoarse   y[n,c] = sum over f and k of w[c,f,k] (T u[n,f])[k]
//   toFine     u[n,f] = T* (sum over c of w[c,f,k] y[n,c]), its adjoint
//   addWeights dw[c,f,k] += sum over n and points of y[n,c] (T u[n,f])[k]
//
// with channels c on the coarse grid and f on the fine one. The convolution is toCoarse; the
// transposed convolution is toFine. A rank has blocks of rows of both grids and all columns.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/rows/row_lists.hpp"
#include "kernels/sphere/turned_filter.hpp"

#include <memory>

namespace tenon {

// The blocks of a rank; channels are those of one group, as in the weights.
struct DiscoShape {
  std::shared_ptr<const FilterGrids> grids;
  Index batch, fineChannels, coarseChannels, groups;
  CircleRange fine, coarse;

  double flops() const; // of one of the three products
};

template <class T>
class DiscoProducts {
public:
  DiscoProducts(KernelContextPtr context, Backend backend, const DiscoShape& shape);

  // u is [batch, groups fineChannels, fine rows, columns], y [batch, groups coarseChannels, coarse
  // rows, columns], w [groups, coarseChannels, fineChannels, functions]. All add to the result.
  void toCoarse(const T* u, const T* w, T* y);
  void toFine(const T* y, const T* w, T* u);
  void addWeights(const T* u, const T* y, T* dw);
  Index bytes() const;

private:
  // One column of psi at a function, as an offset into the rows of the fine grid of one row of the
  // coarse grid, which are in scratch memory column phase by column phase and twice.
  struct Entry {
    Index at;
    T value;
  };
  struct Work {
    T *rows, *sums;
  };
  // Consecutive fine channels of one group and sample.
  struct Channels {
    Index sample, group, first, count;
  };
  template <class Body>
  void eachChannels(Index samples, const Body& body);
  Work workOf(int thread);
  void copyRows(const T* u, Index row, T* rows) const;
  void addRows(const T* rows, Index row, T* u) const;
  void gather(const T* rows, Index row, T* sums) const;
  void scatter(const T* sums, Index row, T* rows) const;
  void sumsOf(const T* u, const Channels& channels, Index row, const Work& work) const;
  // Offsets of a channel in fields of the fine grid, and of a row of channel 0 of a group in those
  // of the coarse grid.
  Index fineAt(const Channels& channels, Index channel) const;
  Index coarseAt(const Channels& channels, Index row) const;

  // On a device (disco_device.cpp).
  void makeLists(const TurnedFilter& filter);
  template <class Body>
  void eachSumsOnDevice(const Body& body);
  void sumsOnDevice(const T* u, const Channels& channels, T* sums);
  void toCoarseOnDevice(const T* u, const T* w, T* y);
  void toFineOnDevice(const T* y, const T* w, T* u);
  void addWeightsOnDevice(const T* u, const T* y, T* dw);

  KernelContextPtr context_;
  Backend backend_;
  DiscoShape shape_;
  Index functions_, columns_, step_;  // columns of the coarse grid
  std::vector<CircleRange> fineRows_; // by row of the coarse block, counted in the fine block
  std::vector<Index> first_;          // as in TurnedFilter
  std::vector<Entry> entries_;
  Index together_; // fine channels whose sums are in scratch memory at once
  ThreadScratch rows_, sums_;
  RowLists lists_, transposed_; // on a device: the entries of all longitudes, and their transpose
  Index deviceSums_ = 0;        // offset of all sums of a sample's group in the scratch memory
};

} // namespace tenon
