// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/cuts.hpp"
#include "geometry/traffic.hpp"
#include "machine/route.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The side on which the axes are neither S nor R.
const Layout& wholeSide(const RouteStep& step) {
  const bool targetIsWhole =
      step.collective == CollectiveKind::AllGather || step.collective == CollectiveKind::Broadcast;
  return targetIsWhole ? step.to : step.from;
}

bool isActive(const Layout& layout, int position, const std::vector<int>& axes) {
  if (position < 0)
    return false;
  for (int other = 0; other < layout.mesh().axes(); ++other)
    if (std::ranges::find(axes, other) == axes.end() && layout.property(other).isRoot() &&
        layout.mesh().coordinate(position, other) != 0)
      return false;
  return true;
}

// The cuts of the pieces of a position's part, counted from the part's first cell.
std::vector<Index> pieceCuts(const Layout& split, int position, int dim, int pieces) {
  const int first = split.part(position, dim) / pieces * pieces;
  std::vector<Index> cuts;
  for (int piece = 0; piece <= pieces; ++piece)
    cuts.push_back(split.cuts(dim)[first + piece] - split.cuts(dim)[first]);
  return cuts;
}

Traffic oneCall(Index cells) {
  return {.messages = cells > 0, .cells = cells};
}

Traffic operator+(Traffic a, Traffic b) {
  return {a.messages + b.messages, a.cells + b.cells};
}

// What a rank gives to the calls of a sum over the axis.
Traffic sentInSum(const RouteStep& step, const CollectivePieces& p) {
  const bool root = p.coordinate == 0;
  const bool all = step.collective == CollectiveKind::AllReduce;
  if (step.tree)
    return oneCall(root && !all ? 0 : p.cells); // up to its parent; the root down to all
  const Index own = p.piece(p.coordinate);
  const Traffic scatter = oneCall(p.cells - own);
  const bool gathers = all || (step.collective == CollectiveKind::Reduce && !root);
  return gathers ? scatter + oneCall(own) : scatter;
}

} // namespace

Index CollectivePieces::piece(int coordinate) const {
  const Index width = cuts[coordinate + 1] - cuts[coordinate];
  const Index extent = cuts.back();
  return extent == 0 ? 0 : cells / extent * width;
}

CollectivePieces collectivePieces(const RouteStep& step, int rank) {
  const Layout& whole = wholeSide(step);
  const int position = whole.mesh().position(rank);
  CollectivePieces pieces{.whole = whole, .cuts = {}};
  if (!isActive(whole, position, step.axes))
    return pieces;
  pieces.coordinate = whole.mesh().coordinateOn(position, step.axes);
  pieces.cells = cells(extents(whole.box(position)));
  pieces.takesPart = pieces.cells > 0;
  const int ranks = whole.mesh().extentOf(step.axes);
  const Layout& split = &whole == &step.to ? step.from : step.to;
  const Property property = split.property(step.axes.front());
  if (property.isShard()) {
    pieces.dim = property.dim;
    pieces.cuts = pieceCuts(split, position, property.dim, ranks);
  } else {
    pieces.cuts = balancedCuts(pieces.cells, ranks);
  }
  return pieces;
}

Traffic sentInStep(const RouteStep& step, int rank) {
  if (!step.collective)
    return countFlow(step.from, step.to, rank, Role::Source).others;
  const CollectivePieces pieces = collectivePieces(step, rank);
  if (!pieces.takesPart)
    return {};
  switch (*step.collective) {
  case CollectiveKind::AllGather:
    return oneCall(pieces.piece(pieces.coordinate));
  case CollectiveKind::Broadcast:
    return oneCall(pieces.coordinate == 0 ? pieces.cells : 0);
  default:
    return sentInSum(step, pieces);
  }
}

} // namespace tenon
