// SPDX-License-Identifier: BSD-2-Clause
// A linear map along one dimension of an array, identical for all indices of the others: each
// output is a weighted sum of consecutive inputs,
//     y[a, o, b] = sum over t of weight[t, o] x[a, first[o] + t, b],    t < count[o].
// Means over windows and interpolation are such maps; several dimensions are mapped one after the
// other. Example: the means of pairs of 4 inputs are 2 outputs, with
//     AxisMap map{.inputs = 4};
//     map.add(0, {0.5, 0.5});  map.add(2, {0.5, 0.5});  map.finish(context);
#pragma once

#include "kernels/base/context.hpp"

#include <memory>
#include <vector>

namespace tenon {

struct AxisMap {
  Index inputs = 0;
  std::vector<Index> first; // index of the first input of each output
  // begin[o]: index in `weights` of the first weight of output o; the last entry is the end.
  std::vector<Index> begin{0};
  std::vector<double> weights; // rounded to the type of x where the map is applied

  struct OnDevice;
  std::shared_ptr<const OnDevice> onDevice; // null on the host

  Index outputs() const { return static_cast<Index>(first.size()); }
  // Adds an output with the weights of its inputs.
  void add(Index firstInput, const std::vector<double>& weightsOfInputs);
  // To be called after all outputs are added, with the context whose kernels read the map. Copies
  // the map and its transpose to the device of the context; on the host it does nothing.
  void finish(KernelContext& context);
};

// x is [outer, inputs, inner], y [outer, outputs, inner].
template <class T>
void axisMapForward(KernelContext& context, const AxisMap& map, Index outer, Index inner,
                    const T* x, T* y);
// x is overwritten, with zeros for inputs that no output reads.
template <class T>
void axisMapAdjoint(KernelContext& context, const AxisMap& map, Index outer, Index inner,
                    const T* y, T* x);

} // namespace tenon
