// SPDX-License-Identifier: BSD-2-Clause
// Maps indices outside a dimension back into it, and lists the elements of a box as runs. The step
// of a run with one element is undetermined: its second element fixes it, so a reflection becomes
// one run with step -1 instead of a run per element. For example, the box [-2, 6) of 4 elements
// with mode Reflect copies 2 1 | 0 1 2 3 | 2 1, which is three runs, with the steps -1, 1 and -1.
#include "geometry/layout/boundary.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// a modulo n, in 0 to n-1 also for negative a.
Index floorMod(Index a, Index n) {
  return (a % n + n) % n;
}

Index reflected(Index index, Index extent) {
  // The pattern 0 1 ... n-1 n-2 ... 1 repeats, without repeated end elements. One element has no
  // period.
  if (extent == 1)
    return 0;
  const Index period = 2 * (extent - 1);
  const Index folded = floorMod(index, period);
  return folded < extent ? folded : period - folded;
}

// The same with repeated end elements: 0 1 ... n-1 n-1 ... 1 0.
Index mirrored(Index index, Index extent) {
  const Index folded = floorMod(index, 2 * extent);
  return folded < extent ? folded : 2 * extent - 1 - folded;
}

// Number of reflections on the way from an element outside back into the domain, between walls at a
// distance of `wallDistance` elements: each reflection brings the element that much nearer, so it
// is the distance beyond the domain divided by that of the walls, rounded up. With both walls on
// the same element there is one.
Index bounces(Index index, Index extent, Index wallDistance) {
  const Index beyond = index < 0 ? -index : index - extent + 1;
  return wallDistance == 0 ? 1 : (beyond - 1) / wallDistance + 1;
}

// The position of the pole at a side, in half rows, in which row r is at 2 r: half a row before row
// 0, or on it. A side that is not a pole counts as the mirror image of the other one.
Index firstPole(Boundary low, Boundary high) {
  const Boundary mode = isPole(low) ? low : high;
  return mode == Boundary::PolePoint || mode == Boundary::PolePointVector ? 0 : -1;
}

Index lastPole(Index extent, Boundary low, Boundary high) {
  return 2 * (extent - 1) - firstPole(high, low);
}

// The row of an index beyond a pole: the way between the poles is folded. All numbers are in half
// rows. For example, 4 rows with the mode Pole have poles at -1 and 7, which are 8 apart. Row -1,
// at -2, is 1 beyond the first pole; folded it is 1 within, at 0, which is row 0.
Index poleRow(Index index, Index extent, Boundary low, Boundary high) {
  const Index first = firstPole(low, high), between = lastPole(extent, low, high) - first;
  if (between == 0) // A single row that is both poles.
    return 0;
  const Index folded = floorMod(2 * index - first, 2 * between);
  return ((folded <= between ? folded : 2 * between - folded) + first) / 2;
}

// Number of poles on the way from an element outside back into the domain.
Index poleCrossings(Index index, Index extent, Boundary low, Boundary high) {
  const Index first = firstPole(low, high), last = lastPole(extent, low, high);
  const Index beyond = index < 0 ? first - 2 * index : 2 * index - last;
  return last == first ? 1 : (beyond - 1) / (last - first) + 1;
}

// Appends an element that copies `global` with this sign to the run, if that continues its step;
// the second element of a run determines the step. For example, the elements beyond a reflecting
// end copy n-2, n-3, ..., which is one run with the step -1.
bool extend(Segment& run, Index global, int sign, bool crossed) {
  if (run.sign != sign || run.crossed != crossed)
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
  case Boundary::Pole:
    return "pole";
  case Boundary::PolePoint:
    return "pole_point";
  case Boundary::PoleVector:
    return "pole_vector";
  case Boundary::PolePointVector:
    return "pole_point_vector";
  }
  return "?";
}

Boundary vectorMode(Boundary mode) {
  return mode == Boundary::Pole        ? Boundary::PoleVector
         : mode == Boundary::PolePoint ? Boundary::PolePointVector
                                       : mode;
}

Boundary parseBoundary(std::string_view word) {
  for (int i = 0; i < kBoundaries; ++i)
    if (word == boundaryName(Boundary(i)))
      return Boundary(i);
  throw Error(TENON_ERR_ARG, fmt::format("unknown boundary mode '{}'; use none, zero, periodic, "
                                         "reflect, replicate, values, symmetric, odd, odd_point, "
                                         "linked, pole, pole_point, pole_vector or "
                                         "pole_point_vector",
                                         word));
}

std::optional<Index> extensionSource(Index index, Index extent, Boundary low, Boundary high) {
  if (extent == 0) // An empty dimension has no element to copy, and no period.
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
  case Boundary::Pole:
  case Boundary::PolePoint:
  case Boundary::PoleVector:
  case Boundary::PolePointVector:
    return poleRow(index, extent, low, high);
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
  if (mode == Boundary::PoleVector || mode == Boundary::PolePointVector)
    return crossesPole(index, extent, low, high) ? -1 : 1;
  if (mode != Boundary::Odd && mode != Boundary::OddPoint)
    return 1;
  // The walls are half an element beyond the ends, or on the first and the last element.
  const Index wallDistance = mode == Boundary::Odd ? extent : extent - 1;
  return bounces(index, extent, wallDistance) % 2 == 0 ? 1 : -1;
}

bool crossesPole(Index index, Index extent, Boundary low, Boundary high) {
  const bool isOutside = index < 0 || index >= extent;
  return isOutside && isPole(index < 0 ? low : high) &&
         poleCrossings(index, extent, low, high) % 2 != 0;
}

std::vector<Segment> extensionSegments(Interval box, Index extent, Boundary low, Boundary high) {
  std::vector<Segment> runs;
  bool isOpen = false; // whether the next element can extend the last run
  for (Index index = box.begin; index < box.end;) {
    // The part inside the domain is one run, so the work is proportional to the halo width, not to
    // the box. The run is closed: elements outside begin new runs.
    const Interval inside = intersect({index, box.end}, {0, extent});
    if (!inside.empty() && inside.begin == index) {
      runs.push_back(
          {.local = index - box.begin, .global = index, .length = inside.size(), .step = 1});
      index = inside.end;
      isOpen = false;
      continue;
    }
    const auto source = extensionSource(index, extent, low, high);
    isOpen = isOpen && source;
    // Whether an element has a source depends on the mode of its side only, so no other element of
    // this side has one either.
    if (!source) {
      index = index < 0 ? std::min<Index>(box.end, 0) : box.end;
      continue;
    }
    const int sign = extensionSign(index, extent, low, high);
    const bool crossed = crossesPole(index, extent, low, high);
    if (!(isOpen && extend(runs.back(), *source, sign, crossed)))
      runs.push_back({.local = index - box.begin,
                      .global = *source,
                      .length = 1,
                      .step = 1,
                      .sign = sign,
                      .crossed = crossed});
    isOpen = true;
    ++index;
  }
  return runs;
}

} // namespace tenon
