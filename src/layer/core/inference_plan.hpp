// SPDX-License-Identifier: BSD-2-Clause
// How a set-up runs Apply in inference, in which nothing is saved for derivatives and parameters
// seldom change. Two changes make it faster than Apply in training:
//
//   folding          convolution -> batch normalisation   becomes   convolution
//                    whose weights are multiplied by the factor of each channel
//   channels last    images between kernels that take both orders are stored in the order that
//                    vector instructions read best; see kernels/convolution/packed.hpp
//
// Both follow from the kernels of this rank, and no message depends on them.
#pragma once

#include "declaration/core/pass.hpp"

#include <vector>

namespace tenon {

class BoundMaps;
class DTensor;

// A batch normalisation that the kernel of a step applies: its map, and memory for the factor and
// the summand of each channel.
struct FoldedChannels {
  int convolution, map; // the maps of the kernel and of the normalisation
  mutable std::vector<float> scale, shift;
};

class InferencePlan {
public:
  InferencePlan() = default; // empty: as in training
  InferencePlan(std::vector<bool> channelsLast, std::vector<FoldedChannels> folded)
      : channelsLast_(std::move(channelsLast)), folded_(std::move(folded)) {}

  bool isEmpty() const noexcept { return channelsLast_.empty(); }
  bool isChannelsLast(ValueId v) const { return !isEmpty() && channelsLast_[v]; }
  // The normalisation that is folded into the kernel of a map; null for none. The last value that
  // its step reads is that of the statistics.
  const FoldedChannels* foldedIn(int convolution) const;

private:
  std::vector<bool> channelsLast_; // by value of the pass
  std::vector<FoldedChannels> folded_;
};

// Changes a pass of Apply that saves nothing, and returns the plan with which it runs.
InferencePlan planInference(const BoundMaps& maps, Pass& pass);

// Lets a tensor without a halo use this memory, with its dimension 1 last.
void placeChannelsLast(DTensor& x, void* memory);

} // namespace tenon
