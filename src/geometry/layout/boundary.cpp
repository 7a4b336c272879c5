// SPDX-License-Identifier: BSD-2-Clause
// Folds indices outside a dimension back into it, and lists what a box holds as runs. A run of one
// element has no direction yet: its second element fixes the step, so that a reflection becomes one
// run with step -1 rather than a run for each element.
#include "geometry/layout/boundary.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

Index floorMod(Index a, Index n) {
  return (a % n + n) % n;
}

Index reflected(Index index, Index extent) {
  // The pattern 0 1 ... n-1 n-2 ... 1 repeats: the ends are not doubled. One element has no period.
  if (extent == 1)
    return 0;
  const Index period = 2 * (extent - 1);
  const Index folded = floorMod(index, period);
  return folded < extent ? folded : period - folded;
}

// The same where the ends are doubled: 0 1 ... n-1 n-1 ... 1 0.
Index mirrored(Index index, Index extent) {
  const Index folded = floorMod(index, 2 * extent);
  return folded < extent ? folded : 2 * extent - 1 - folded;
}

// How often the way from an element outside back into the domain bounces off a wall, where walls
// are `apart` elements apart. Between walls on one element there is one bounce.
Index bounces(Index index, Index extent, Index apart) {
  const Index beyond = index < 0 ? -index : index - extent + 1;
  return apart == 0 ? 1 : (beyond - 1) / apart + 1;
}

// Continues the run by an element that holds `global` with this sign, if it can; a run of one takes
// its step from it.
bool extend(Segment& run, Index global, int sign) {
  if (run.sign != sign)
    return false;
  if (run.length == 1 && (global == run.global + 1 || global == run.global - 1))
    run.step = static_cast<int>(global - run.global);
  else if (run.length == 1 || global != run.global + run.step * run.length)
    return false;
  ++run.length;
  return true;
}

} // namespace

const char* boundaryName(Boundary mode) {
  switch (mode) {
  case Boundary::None:
    return "none";
  case Boundary::Zero:
    return "zero";
  case Boundary::Periodic:
    return "periodic";
  case Boundary::Reflect:
    return "reflect";
  case Boundary::Replicate:
    return "replicate";
  case Boundary::Values:
    return "values";
  case Boundary::Linked:
    return "linked";
  case Boundary::Symmetric:
    return "symmetric";
  case Boundary::Odd:
    return "odd";
  case Boundary::OddPoint:
    return "odd_point";
  }
  return "?";
}

Boundary parseBoundary(std::string_view word) {
  for (int i = 0; i < kBoundaries; ++i)
    if (word == boundaryName(Boundary(i)))
      return Boundary(i);
  throw Error(TENON_ERR_ARG, fmt::format("unknown boundary mode '{}'; use none, zero, periodic, "
                                         "reflect, replicate, values, symmetric, odd, odd_point "
                                         "or linked",
                                         word));
}

std::optional<Index> extensionSource(Index index, Index extent, Boundary low, Boundary high) {
  // An empty dimension has nothing to copy from, and no period to fold by.
  if (extent == 0)
    return std::nullopt;
  if (index >= 0 && index < extent)
    return index;
  switch (index < 0 ? low : high) {
  case Boundary::Periodic:
    return floorMod(index, extent);
  case Boundary::Symmetric:
  case Boundary::Odd:
    return mirrored(index, extent);
  case Boundary::Reflect:
  case Boundary::OddPoint:
    return reflected(index, extent);
  case Boundary::Replicate:
    return index < 0 ? 0 : extent - 1;
  case Boundary::None:
  case Boundary::Zero:
  case Boundary::Values:
  case Boundary::Linked:
    break;
  }
  return std::nullopt;
}

int extensionSign(Index index, Index extent, Boundary low, Boundary high) {
  if (index >= 0 && index < extent)
    return 1;
  const Boundary mode = index < 0 ? low : high;
  if (mode != Boundary::Odd && mode != Boundary::OddPoint)
    return 1;
  const Index apart = mode == Boundary::Odd ? extent : extent - 1;
  return bounces(index, extent, apart) % 2 == 0 ? 1 : -1;
}

std::vector<Segment> extensionSegments(Interval box, Index extent, Boundary low, Boundary high) {
  std::vector<Segment> runs;
  bool open = false;
  for (Index index = box.begin; index < box.end;) {
    // The part inside the domain is one run at once, so that the work grows with the width of the
    // halo and not with the box. It is closed: elements outside begin runs of their own.
    const Interval inside = intersect({index, box.end}, {0, extent});
    if (!inside.empty() && inside.begin == index) {
      runs.push_back({index - box.begin, index, inside.size(), 1});
      index = inside.end;
      open = false;
      continue;
    }
    const auto source = extensionSource(index, extent, low, high);
    open = open && source;
    if (!source) { // nor for any other element of this side
      index = index < 0 ? std::min<Index>(box.end, 0) : box.end;
      continue;
    }
    const int sign = extensionSign(index, extent, low, high);
    if (!(open && extend(runs.back(), *source, sign)))
      runs.push_back({index - box.begin, *source, 1, 1, sign});
    open = true;
    ++index;
  }
  return runs;
}

} // namespace tenon
