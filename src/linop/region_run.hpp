// SPDX-License-Identifier: BSD-2-Clause
// One region of cells packed, or combined with a target: y <- alpha x + beta y.
#pragma once

#include "kernels/block_axpby.hpp"
#include "kernels/block_copy.hpp"
#include "kernels/block_stream.hpp"
#include "linop/action.hpp"
#include "linop/part.hpp"
#include "linop/store_choice.hpp"

namespace tenon {

using Steps = std::array<Index, kMaxRank>;

// An array seen through a region: its first cell, and its strides.
template <class T>
struct RegionView {
  T* first;
  Steps steps;
};

template <class T>
RegionView<T> viewOf(T* array, const Strides& strides, const Region& region, int rank) {
  RegionView<T> view{.first = array, .steps = {}};
  for (int d = 0; d < rank; ++d) {
    view.first += region.begin[d] * strides[d];
    view.steps[d] = region.step[d] * strides[d];
  }
  return view;
}

// The cells of a region one after the other.
template <class T>
RegionView<T> packedView(T* cells, const Region& region, int rank) {
  RegionView<T> view{.first = cells, .steps = {}};
  Index stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    view.steps[d] = stride;
    stride *= region.extent[d];
  }
  return view;
}

// Returns the end of what was packed.
template <class T>
T* packRegion(const DTensor& x, const Region& region, T* cells, StoreWay way) {
  const auto source = viewOf(x.data<T>(), x.strides(), region, x.rank());
  const auto target = packedView(cells, region, x.rank());
  if (way == StoreWay::Streaming)
    blockStream(x.rank(), region.extent.data(), source.first, source.steps.data(), cells);
  else
    blockCombine(Combine::Copy, x.rank(), region.extent.data(), source.first, source.steps.data(),
                 target.first, target.steps.data());
  return cells + region.cells;
}

// How contributions meet the target: the first to a cell brings beta, the others are combined.
struct Meeting {
  Combine combine = Combine::Add;
  double beta = 0;
};

template <class T>
void combineRegion(const Action& action, const Region& region, const RegionView<const T>& source,
                   const Meeting& meeting) {
  DTensor& y = *action.y;
  const auto target = viewOf(y.mutableData<T>(), y.strides(), region, y.rank());
  if (meeting.combine == Combine::Max)
    blockCombine(Combine::Max, y.rank(), region.extent.data(), source.first, source.steps.data(),
                 target.first, target.steps.data());
  else
    blockAxpby(y.rank(), region.extent.data(), static_cast<T>(action.alpha), source.first,
               source.steps.data(), static_cast<T>(meeting.beta), target.first,
               target.steps.data());
}

// A part whose cells lie packed.
template <class T>
void unpackCells(const Action& action, const Part& part, const T* cells, const Meeting& meeting) {
  for (const Region& region : part.to) {
    combineRegion<T>(action, region, packedView(cells, region, action.y->rank()), meeting);
    cells += region.cells;
  }
}

} // namespace tenon
