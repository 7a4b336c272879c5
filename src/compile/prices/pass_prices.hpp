// SPDX-License-Identifier: BSD-2-Clause
// What a pass of a compiled network costs: the predicted seconds of its kernels and moves, and the
// messages of its moves. A pass is one Apply or one adjoint, as a list of steps
// (declaration/core/pass.hpp); a move is a transfer of data between ranks that a step makes. For
//
//   x --halo--> u --conv--> v --conversion--> y        rows of an image split over ranks
//
// Apply has a kernel (conv) and two moves, each carried out as the options decide. The search for a
// plan compares seconds, the report of a plan prints both per layer, and `tenon import` counts
// messages; all three read the steps that run.
#pragma once

#include "compile/prices/conversion_prices.hpp"
#include "compile/prices/kernel_cost.hpp"
#include "compile/program/compiled_network.hpp"
#include "reduction/movement/movement.hpp"

namespace tenon {

// A move of a pass.
struct PassMove {
  OperatorEntry op;     // for a parameter: the conversion from its storage to its use
  int node = 0;         // the layer that it belongs to
  bool adjoint = false; // whether the adjoint of the operator is applied
  Index times = 1;
  bool inKernel = false; // a kernel makes it, and its time includes it
};

// The moves of a pass of this list, which is one of the network's, in the order of the steps.
// Operators that send no messages are included, since they take time.
std::vector<PassMove> movesOf(const CompiledNetwork& network, const MapList& list,
                              const Pass& pass);
// The moves of a pass of a layer's own list; the layer must not contain others.
std::vector<PassMove> movesOf(const MapList& list, const Pass& pass);

// How an operator is carried out: a conversion as the target decides; what must be a single
// exchange, such as a maximum, regardless of it. Not for operators that follow lists, or that are
// local.
Movement movementOf(const OperatorEntry& op, Index elementBytes, const MovementTarget& target);

// The seconds of an operator of a list, or of its adjoint: 0 if it is local.
double operatorSeconds(const OperatorEntry& op, bool adjoint, Index elementBytes,
                       ConversionPrices& conversions, Sampling sampling);

// Messages and elements that a rank sends for a move, each time. Of an index map, this process
// knows only the part of its own rank: `isOwn` tells whether `rank` is that. For other ranks, the
// numbers are the largest of all ranks.
Traffic sentFor(const PassMove& move, int rank, bool isOwn, Index elementBytes,
                const MovementTarget& target);

// What a node costs in a pass, in seconds of the slowest rank.
struct NodePrice {
  double kernels = 0, moves = 0;
  // Of the kernels on the rank that has the most; none if the adjoint runs them again, since the
  // time of two passes does not determine the rate of either.
  KernelWork work = {};

  double sum() const { return kernels + moves; }
};

// Prices the passes of one network. The list of steps is priced as it would run.
class PassPrices {
public:
  // The arguments must outlive this object. `sampling`: the positions of a process grid that are
  // evaluated.
  PassPrices(const CompiledNetwork& network, ConversionPrices& conversions,
             const KernelRates& kernels, Sampling sampling)
      : network_(network), conversions_(conversions), kernels_(kernels), sampling_(sampling) {}

  // The prices by node of a pass of this list, which is one of the network's.
  std::vector<NodePrice> of(const MapList& list, const Pass& pass) const;
  double seconds(const MapList& list, const Pass& pass) const;
  // The seconds of an operator, or of its adjoint.
  double seconds(const OperatorEntry& op, bool adjoint) const;

private:
  void addKernels(const MapList& list, const Pass& pass, std::vector<NodePrice>& prices) const;
  double segmentSeconds(const CompiledNetwork& segment, const Step& step) const;

  const CompiledNetwork& network_;
  ConversionPrices& conversions_;
  const KernelRates& kernels_;
  Sampling sampling_;
};

} // namespace tenon
