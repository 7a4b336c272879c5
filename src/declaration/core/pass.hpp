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
//
// Steps are the same on all ranks: they depend on the list and on the choice alone. Whether a value
// stands in an argument's memory is found when a pass runs, on each rank for itself.
#pragma once

#include "declaration/core/map_list.hpp"

namespace tenon {

// Begin, End: of an operator or a source; Apply: both at once. Forward .. AdjointParameters: of a
// kernel. Copy: of a stage. Add: y <- y + x. Zero: y <- 0.
enum class Do { Begin, End, Apply, Forward, Tangent, Adjoint, AdjointParameters, Copy, Add, Zero };

struct Step {
  Do what;
  int map = -1; // none of Add and Zero
  bool adjoint = false;
  bool adds = false; // what an operator, or a kernel's adjoint, gives, to what y holds
  // Values of the pass; kNoValue for a tangent that is zero, and a cotangent that nobody wants.
  std::vector<ValueId> reads = {}, writes = {};

  bool operator==(const Step&) const = default;
};

// Whether its kernel adds to the gradients of parameters.
bool addsToGradients(const MapList& list, const Step& step);

struct Pass {
  std::vector<Value> values; // of Apply the list's own, else their tangents or cotangents
  std::vector<Step> steps;
  // The caller's, as the list has them; kNoValue where not chosen.
  std::vector<ValueId> inputs;
  ValueId output = kNoValue;
  bool ofTangents = false; // sources bring their tangents
  When when = When::Training;
  bool roundsKept = false; // keeps roundings of values

  bool rounds(const Value& value) const { return roundsKept && value.kept && !value.exact; }
};

// Moved: with overlap. Unmoved: every operator ends where it begins.
enum class Order { Moved, Unmoved };
using Chosen = std::vector<bool>; // inputs that have a tangent, or want a cotangent

// In training, or in inference.
Pass applyPass(const MapList& list, Order order = Order::Moved, When when = When::Training);
Pass tangentPass(const MapList& list, const Chosen& present, Order order = Order::Moved);
Pass adjointPass(const MapList& list, const Chosen& wanted, Order order = Order::Moved);

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
