// SPDX-License-Identifier: BSD-2-Clause
// Regions of cells packed, scaled, or combined with a target: y <- alpha x + beta y. Cells are those
// of the arrays' data type.
#pragma once

#include "kernels/block_copy.hpp"
#include "linop/action.hpp"
#include "linop/part.hpp"
#include "linop/store_choice.hpp"

namespace tenon {

// Cells seen through a region: where the first lies, and their distances in cells.
struct RegionView {
  const std::byte* first;
  std::array<Index, kMaxRank> steps;
};
RegionView viewOf(const void* array, const Strides& strides, const Region& region, int rank,
                  Index cellBytes);
// Of the array of x.
RegionView viewOf(const DTensor& x, const Region& region);
// Of a region's cells one after the other.
RegionView packedView(const std::byte* cells, const Region& region, int rank);

// How contributions meet the target: the first to a cell brings beta, the others are combined.
struct Meeting {
  Combine combine = Combine::Add;
  double beta = 0;
};
void combineRegion(const Action& action, const Region& to, const RegionView& from,
                   const Meeting& meeting);

// The same for these chunks of a part, whose cells lie one after the other; returns their end.
const std::byte* combineChunks(const Action& action, const Part& part, Interval chunks,
                               const std::byte* cells, const Meeting& meeting);

// Copies the region's cells to one place; returns the end.
std::byte* packRegion(const DTensor& x, const Region& region, std::byte* cells, StoreWay way);

// 0 never reads y.
void scaleRegion(double factor, const Region& region, DTensor& y);
// All of y but one region becomes 0.
void clearAround(const Region& kept, DTensor& y);
// The least value of the type, which a maximum starts from.
void fillWithLowest(DTensor& y);

} // namespace tenon
