// SPDX-License-Identifier: BSD-2-Clause
// The passes of a list of maps: Apply, its tangent and its adjoint as lists of steps, derived for a
// choice of inputs and scheduled.
//
//   tangent   the maps on tangents; absent ones are zero, and what reads no other falls away.
//   adjoint   the maps from the end. The first to reach a cotangent writes it, the others add: an
//             operator and some kernels by themselves, others through an addend. What no wanted input and no parameter
//             waits for falls away; the parameters' own parts come last in their node.
//   schedule  an operator that sends messages begins and ends in two steps. Beginnings move up and
//             endings down as far as values allow, kernels keep their order: that is overlap.
//   rounding  where the list keeps roundings, Apply rounds a value as soon as it has been written, so that its memory
//             can be another's, and a derivative expands it before a kernel reads it.
//
// Steps are the same on all ranks: they depend on the list and on the choice alone. Whether a value
// stands in an argument's memory is found when a pass runs, on each rank for itself.
#pragma once

#include "declaration/core/map_list.hpp"

namespace tenon {

// Begin, End: of an operator or a source; Apply: both at once. Forward .. AdjointParameters: of a
// kernel. Copy: of a stage. Add: y <- y + x. Zero: y <- 0. Round: to bfloat16; Expand: back. A Copy, a Round or an
// Expand does nothing where its value stands in the memory of what it reads.
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
  int map = -1; // none of Add and Zero; of Round and Expand: which writes the value, or reads it
  bool adjoint = false;
  bool adds = false; // what an operator, or a kernel's adjoint, gives, to what y holds
  // Values of the pass; kNoValue for a tangent that is zero, and a cotangent that nobody wants.
  std::vector<ValueId> reads = {}, writes = {};
  // What a kernel's derivative reads of its Apply: its inputs if it keeps them, then its output if it keeps that.
  std::vector<ValueId> point = {};

  bool operator==(const Step&) const = default;
};

// Whether it brings a value to another place, or form.
inline bool isCopy(const Step& step) {
  return step.what == Do::Copy || step.what == Do::Round || step.what == Do::Expand;
}

// Whether its kernel adds to the gradients of parameters.
bool addsToGradients(const MapList& list, const Step& step);

struct Pass {
  // Of Apply the list's own, then roundings of them; else what Apply has left, and tangents or cotangents.
  std::vector<Value> values;
  std::vector<Step> steps;
  // The caller's, as the list has them; kNoValue where not chosen.
  std::vector<ValueId> inputs;
  ValueId output = kNoValue;
  bool ofTangents = false; // sources bring their tangents
  When when = When::Training;
};

// Moved: with overlap. Unmoved: every operator ends where it begins.
enum class Order { Moved, Unmoved };
using Chosen = std::vector<bool>; // inputs that have a tangent, or want a cotangent

// In training, or in inference.
Pass applyPass(const MapList& list, Order order = Order::Moved, When when = When::Training);
Pass tangentPass(const MapList& list, const Chosen& present, Order order = Order::Moved);
Pass adjointPass(const MapList& list, const Chosen& wanted, Order order = Order::Moved);

// By value of the list: the value of Apply's pass that holds it for derivatives, itself or its rounding.
std::vector<ValueId> keptIn(const MapList& list);

// Splits what sends messages into beginning and end, and moves them.
void schedule(const MapList& list, Pass& pass, Order order);

// From the first step that touches a value of the pass to the last; values without memory of their
// own left out.
struct Lifetime {
  ValueId value;
  int first, last;
};
std::vector<Lifetime> lifetimes(const Pass& pass);

// A line for each step, and one for each value in memory of the pass.
std::string describe(const MapList& list, const Pass& pass);

} // namespace tenon
