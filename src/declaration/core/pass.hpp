// SPDX-License-Identifier: BSD-2-Clause
// The passes of a list of maps (map_list.hpp): Apply, its tangent and its adjoint, each a list of
// scheduled steps. A value of the list is a tensor. A pass is derived for a choice of inputs: those
// that have a tangent, or whose cotangents are needed.
//
//   tangent   Runs the maps on tangents. Missing tangents are zero, and maps that read only zeros
//             are omitted.
//   adjoint   Runs the maps in reverse. The first map that reaches a cotangent overwrites it,
//             further maps add: operators and some kernels directly, other kernels through a
//             temporary contribution. Maps are omitted if no requested input and no parameter
//             depends on them. Parameter gradients computed apart come last in their node.
//   schedule  Splits an operator that sends messages into two steps, Begin and End. To overlap
//             communication, Begin moves up and End moves down as far as the data dependences
//             allow; kernels keep their order.
//   rounding  If the list saves roundings, Apply rounds a value as soon as it has been written,
//             which frees its memory, and a derivative expands it before a kernel reads it.
//   epilogue  An elementwise function is applied by the preceding kernel, in one step of Apply, if
//             nothing else reads the value in between. Derivatives have a step for each of the two.
//   again     Values that the list recomputes are written by the derivative itself: steps of Apply
//             run again before the first step that reads them.
//
// Steps are the same on all ranks, as they depend only on the list and on the choice of inputs.
// Whether a value uses an argument's memory is decided when a pass runs, separately on each rank.
#pragma once

#include "declaration/core/map_list.hpp"

namespace tenon {

// The action of a step:
//   Begin, End, Apply   of an operator or a source; Apply is both at once
//   Forward, Tangent, Adjoint, AdjointParameters   of a kernel
//   Copy                of a stage
//   Add, Zero           y <- y + x, and y <- 0
//   Round, Expand       conversion of a value to bfloat16, and back
// Copy, Round and Expand do nothing if the value uses the memory of its source.
enum class Do {
  Begin,
  End,
  Apply,
  Forward,
  Tangent,
  Adjoint,
  AdjointParameters,
  Copy,
  Add,
  Zero,
  Round,
  Expand
};

// One step of a pass. Its map is -1 for Add and Zero, the map that writes the value for Round, and
// the map that reads it for Expand.
struct Step {
  Do what;
  int map = -1;
  bool adjoint = false; // runs the adjoint of its map
  bool adds = false;    // the result of an operator or a kernel's adjoint is added to y
  // Values of the pass; kNoValue for a zero tangent, or for a cotangent that is not needed.
  std::vector<ValueId> reads = {}, writes = {};
  // The saved values that a kernel's derivative reads: its inputs if the kernel saves them, then
  // its output if it saves that.
  std::vector<ValueId> point = {};
  bool recomputed = false; // a step of Apply that runs again in a derivative
  int epilogue = -1; // for Forward: the map of the function that the kernel applies to its output

  bool operator==(const Step&) const = default;
};

// Whether the step only moves a value to other memory or to another number format.
inline bool isCopy(const Step& step) {
  return step.what == Do::Copy || step.what == Do::Round || step.what == Do::Expand;
}

// Whether the step runs a kernel that adds to the gradients of parameters.
bool addsToGradients(const MapList& list, const Step& step);

// The steps of one Apply, tangent or adjoint, and the values that they use.
struct Pass {
  // For Apply: the values of the list, then their roundings. For derivatives: the values that Apply
  // has saved, then tangents or cotangents.
  std::vector<Value> values;
  std::vector<Step> steps;
  // The caller's inputs and outputs in the order of the list; kNoValue if not requested.
  std::vector<ValueId> inputs, outputs;
  bool ofTangents = false; // sources provide tangents of parameters
  bool keeps = false;      // for Apply: saves values for derivatives
};

// Returns, by node, whether the pass of a derivative runs kernels of the node again.
std::vector<bool> recomputedNodes(const MapList& list, const Pass& pass);

// Overlapped: the Begin and the End of an operator are moved apart, to overlap communication with
// computation. Listed: every operator ends directly after it begins.
enum class Order { Overlapped, Listed };
// Flags by input: whether it has a tangent, or needs a cotangent. For an adjoint, flags of outputs
// can follow: whether they have a cotangent; all have one if the vector ends before them.
using Chosen = std::vector<bool>;

// Flags by node: whether it runs in inference, which selects among maps that differ between
// training and inference. If empty, all nodes are in training.
using InInference = std::vector<bool>;
inline bool runs(const Map& map, const InInference& nodes) {
  const bool infers = !nodes.empty() && nodes[map.node];
  return map.when == When::Always || (map.when == When::Inference) == infers;
}

// These functions derive the passes. With keeps = false, Apply saves nothing for derivatives.
Pass applyPass(const MapList& list, Order order = Order::Overlapped, const InInference& nodes = {},
               bool keeps = true);
Pass tangentPass(const MapList& list, const Chosen& present, Order order = Order::Overlapped,
                 const InInference& nodes = {});
Pass adjointPass(const MapList& list, const Chosen& wanted, Order order = Order::Overlapped,
                 const InInference& nodes = {});

// Returns, by map, the map of the function that its kernel applies in Apply (its epilogue), or -1.
// If `keeps`, a value that derivatives read is never fused away.
std::vector<int> epilogues(const MapList& list, const InInference& nodes, bool keeps);

// Returns, by value of the list, the value of Apply's pass that is saved for derivatives, which is
// the value itself or its rounding.
std::vector<ValueId> savedIn(const MapList& list);

// Splits operators that send messages into Begin and End and, if the order is Overlapped, moves
// them.
void schedule(const MapList& list, Pass& pass, Order order);

// First and last step that use a value of the pass. Values that own no memory have no lifetime.
struct Lifetime {
  ValueId value;
  int first, last;
};
std::vector<Lifetime> lifetimes(const Pass& pass);

// A text with one line per step, and one per value in memory of the pass.
std::string describe(const MapList& list, const Pass& pass);

} // namespace tenon
