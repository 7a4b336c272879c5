// SPDX-License-Identifier: BSD-2-Clause
// The passes of a list of maps: Apply, its tangent and its adjoint as lists of steps, derived for a
// choice of inputs and scheduled.
//
//   tangent   The maps on tangents. Absent ones are zero, and maps that read no others fall away.
//   adjoint   The maps from the end. The first that reaches a cotangent writes it, the others add:
//             operators and some kernels by themselves, others through a contribution. What no wanted
//             input and no parameter waits for falls away; the gradients of parameters that are
//             computed apart come last in their node.
//   schedule  An operator that sends messages begins and ends in two steps. Beginnings move up and
//             endings down as far as the values allow, while kernels keep their order: that is
//             overlap.
//   rounding  Where the list keeps roundings, Apply rounds a value as soon as it has been written,
//             so that its memory can be another's, and a derivative expands it before a kernel
//             reads it.
//
//   epilogue  A function of each element is applied by the kernel before it, in one step of Apply,
//             where nobody else reads what is between. Derivatives have a step for each of the two.
//   again     What a list recomputes, a derivative writes itself, by steps of Apply that run again
//             before the first of its own that reads it.
//
// Steps are the same on all ranks: they depend on the list and on the choice alone. Whether a value
// stands in an argument's memory is found when a pass runs, on each rank for itself.
#pragma once

#include "declaration/core/map_list.hpp"

namespace tenon {

// What a step does. Operators and sources have Begin and End, or Apply for both at once; kernels
// have Forward to AdjointParameters, and stages Copy. Add is y <- y + x, and Zero is y <- 0. Round
// brings a value to bfloat16, and Expand brings it back. A Copy, a Round or an Expand does nothing
// where its value stands in the memory of what it reads.
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

struct Step {
  Do what;
  int map = -1; // none for Add and Zero; for Round that which writes, for Expand that which reads
  bool adjoint = false;
  bool adds = false; // the result of an operator or of a kernel's adjoint is added to y
  // Values of the pass; kNoValue for a tangent that is zero, and a cotangent that nobody wants.
  std::vector<ValueId> reads = {}, writes = {};
  // What a kernel's derivative reads of its Apply: its inputs if it keeps them, then its output if
  // it keeps that.
  std::vector<ValueId> point = {};
  bool again = false; // a step of Apply, in a derivative
  int epilogue = -1;  // of Forward: the map of a function that the kernel applies to what it writes

  bool operator==(const Step&) const = default;
};

// Whether the step brings a value to another place, or form.
inline bool isCopy(const Step& step) {
  return step.what == Do::Copy || step.what == Do::Round || step.what == Do::Expand;
}

// Whether the step runs a kernel that adds to the gradients of parameters.
bool addsToGradients(const MapList& list, const Step& step);

struct Pass {
  // For Apply the list's own, then their roundings; else what Apply has left, and tangents or
  // cotangents.
  std::vector<Value> values;
  std::vector<Step> steps;
  // The caller's inputs and outputs in the order of the list; kNoValue for one that was not chosen.
  std::vector<ValueId> inputs, outputs;
  bool ofTangents = false; // sources bring their tangents
  bool keeps = false;      // of Apply: what derivatives read outlives it
};

// By node: whether kernels of it run again in a derivative.
std::vector<bool> nodesAgain(const MapList& list, const Pass& pass);

// Moved: with overlap. Unmoved: every operator ends where it begins.
enum class Order { Moved, Unmoved };
// Inputs that have a tangent, or want a cotangent. Of an adjoint's pass the outputs may follow:
// those that have a cotangent, which are all where they do not.
using Chosen = std::vector<bool>;

// Which of the maps run that differ between training and inference: by node, whether it is in
// inference. Where there is none all are in training.
using InInference = std::vector<bool>;
inline bool runs(const Map& map, const InInference& nodes) {
  const bool infers = !nodes.empty() && nodes[map.node];
  return map.when == When::Always || (map.when == When::Inference) == infers;
}

// The passes; Apply may leave its derivatives nothing.
Pass applyPass(const MapList& list, Order order = Order::Moved, const InInference& nodes = {},
               bool keeps = true);
Pass tangentPass(const MapList& list, const Chosen& present, Order order = Order::Moved,
                 const InInference& nodes = {});
Pass adjointPass(const MapList& list, const Chosen& wanted, Order order = Order::Moved,
                 const InInference& nodes = {});

// By map: the map of the function that its kernel applies in Apply, -1 where there is none. Where
// the pass keeps what derivatives read, these read nothing of the value between.
std::vector<int> epilogues(const MapList& list, const InInference& nodes, bool keeps);

// By value of the list: the value of Apply's pass that holds it for derivatives, itself or its
// rounding.
std::vector<ValueId> savedIn(const MapList& list);

// Splits what sends messages into beginning and end, and moves them.
void schedule(const MapList& list, Pass& pass, Order order);

// The steps from the first that touches a value of the pass to the last. Values without memory of
// their own have no lifetime.
struct Lifetime {
  ValueId value;
  int first, last;
};
std::vector<Lifetime> lifetimes(const Pass& pass);

// A line for each step, and one for each value in memory of the pass.
std::string describe(const MapList& list, const Pass& pass);

} // namespace tenon
