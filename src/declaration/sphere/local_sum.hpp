// SPDX-License-Identifier: BSD-2-Clause
// Sums of a rank's elements over some dimensions, times a factor. With weights by area on a globe
// (area.hpp), an element counts by the share of its row.
#pragma once

#include "declaration/sphere/area.hpp"
#include "declaration/types/broadcast_map.hpp"

namespace tenon {

// A sum is the adjoint of a broadcast.
template <class T>
class LocalSum final : public LinearKernel {
public:
  // places[d] is the dimension of the sums for dimension d of the box, or -1 if it is summed.
  LocalSum(const Box& box, const std::vector<int>& places, double factor,
           const std::optional<AreaRows>& area, KernelContext& context)
      : broadcast_(box, places), factor_(factor) {
    if (!area)
      return;
    rowDim_ = area->dim;
    shares_ = sharesOf<T>(*area, box[rowDim_], context);
  }
  void map(const LocalArray& x, LocalArray& y) override {
    if (rowDim_ < 0)
      return broadcast_.sum<T>(factor_, x, y);
    setZero(y);
    broadcast_.addSumOfRows<T>(factor_, rowDim_, shares_.data(), x, y);
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    if (rowDim_ < 0)
      return broadcast_.spread<T>(factor_, dy, dx);
    setZero(dx);
    broadcast_.addToRows<T>(factor_, rowDim_, shares_.data(), dy, dx);
  }
  std::string describe() const override {
    return rowDim_ < 0 ? "local sums" : "local sums, by area";
  }

private:
  BroadcastMap broadcast_;
  double factor_;
  int rowDim_ = -1;
  ReadList<T> shares_; // of this rank's rows
};

} // namespace tenon
