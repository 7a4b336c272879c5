// SPDX-License-Identifier: BSD-2-Clause
// Finds routes, and computes the piece of each rank in a collective and the traffic that the rank
// sends. The search works on grids of few axes. Axes that are treated alike in both layouts are
// therefore merged before the search, and the steps found are translated back, where one step can
// be along several axes.
#include "machine/route.hpp"

#include "geometry/layout/cuts.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/traffic.hpp"
#include "machine/route_search.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Returns the side on which the axes are neither S nor R.
const Layout& wholeSide(const RouteStep& step) {
  const bool targetIsWhole =
      step.collective == CollectiveKind::AllGather || step.collective == CollectiveKind::Broadcast;
  return targetIsWhole ? step.to : step.from;
}

// Whether a position holds data: it has coordinate 0 on all other axes with property R.
bool isActive(const Layout& layout, int position, const std::vector<int>& axes) {
  if (position < 0)
    return false;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (std::ranges::find(axes, axis) == axes.end() && layout.property(axis).isRoot() &&
        layout.grid().coordinate(position, axis) != 0)
      return false;
  return true;
}

// The traffic of one MPI call that passes so many elements; a call without elements sends nothing.
Traffic oneCall(Index elements) {
  return {.messages = elements > 0, .elements = elements};
}

Traffic operator+(Traffic a, Traffic b) {
  return {a.messages + b.messages, a.elements + b.elements};
}

// Returns the elements that a rank passes to the MPI calls of a sum over the axes.
Traffic sentInSum(const RouteStep& step, const CollectivePieces& p) {
  const bool isRoot = p.coordinate == 0;
  const bool isAllReduce = step.collective == CollectiveKind::AllReduce;
  if (step.tree)
    // To the parent in the tree; the root of an AllReduce sends the sum down.
    return oneCall(isRoot && !isAllReduce ? 0 : p.elements);
  const Index ownPiece = p.piece(p.coordinate);
  const Traffic scatter = oneCall(p.elements - ownPiece);
  const bool gathers = isAllReduce || (step.collective == CollectiveKind::Reduce && !isRoot);
  return gathers ? scatter + oneCall(ownPiece) : scatter;
}

} // namespace

Index CollectivePieces::cut(int coordinate) const {
  if (dim >= 0)
    return split.cuts(dim)[first + coordinate] - split.cuts(dim)[first];
  return elements / ranks * coordinate + std::min<Index>(coordinate, elements % ranks);
}

// cut() counts indices of the divided dimension, each of which has elements / extent elements, or
// elements if no dimension is divided.
Index CollectivePieces::offset(int coordinate) const {
  const Index extent = cut(ranks);
  return extent == 0 ? 0 : elements / extent * cut(coordinate);
}

Index CollectivePieces::piece(int coordinate) const {
  return offset(coordinate + 1) - offset(coordinate);
}

CollectivePieces collectivePieces(const RouteStep& step, int rank) {
  const Layout& whole = wholeSide(step);
  const int position = whole.grid().position(rank);
  const Layout& split = &whole == &step.to ? step.from : step.to;
  CollectivePieces pieces{.whole = whole, .split = split};
  if (!isActive(whole, position, step.axes))
    return pieces;
  pieces.coordinate = whole.grid().coordinateOn(position, step.axes);
  const Shape extent = extents(whole.box(position));
  pieces.elements = elements(extent);
  pieces.takesPart = pieces.elements > 0;
  pieces.ranks = whole.grid().extentOf(step.axes);
  const Property property = split.property(step.axes.front());
  if (property.isShard()) {
    pieces.dim = property.dim;
    // The step's axes are the minor axes of the dimension, so the parts of a group are consecutive
    // numbers, which begin at a multiple of their count: of 6 parts in groups of 3, 0-2 and 3-5.
    pieces.first = split.part(position, property.dim) / pieces.ranks * pieces.ranks;
    pieces.areInOrder = std::all_of(extent.begin(), extent.begin() + property.dim,
                                    [](Index width) { return width == 1; });
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
    return oneCall(pieces.coordinate == 0 ? pieces.elements : 0);
  default:
    return sentInSum(step, pieces);
  }
}

namespace {

constexpr OptionSpec kRouteOptions[] = {
    {"conversion_route", OptionSpec::Choice, "auto",
     "how conversions communicate, where possible: one exchange, a chain of several steps, or "
     "collectives along grid axes",
     "auto|exchange|chain|collective"},
};
const OptionRegistration kRouteRegistration{{"route", kRouteOptions}};

constexpr const char* kModes[] = {"auto", "exchange", "chain", "collective"};

// The two layouts of a route, on grids with merged axes where possible.
class SearchedEnds {
public:
  SearchedEnds(const Layout& from, const Layout& to) : from_(from), to_(to) {
    const bool oneGrid = from.grid() == to.grid();
    if (isLong(from))
      mergeOfFrom_.emplace(from, oneGrid ? to : from);
    if (oneGrid)
      mergeOfTo_ = mergeOfFrom_;
    else if (isLong(to))
      mergeOfTo_.emplace(to, to);
    if (mergeOfFrom_)
      from_ = mergeOfFrom_->merged(from);
    if (mergeOfTo_)
      to_ = mergeOfTo_->merged(to);
    // Two different grids that are equal after merging would follow the rules for one grid, and the
    // steps could not be translated back.
    isShort_ = !isLong(from_) && !isLong(to_) && oneGrid == (from_.grid() == to_.grid());
  }

  bool areShort() const { return isShort_; }
  const Layout& from() const { return from_; }
  const Layout& to() const { return to_; }
  // Translates a step back to the original grids.
  RouteStep translatedBack(RouteStep step) const {
    const auto& merge = mergeOn(step.from);
    if (merge && step.collective)
      step.axes = merge->axesOf(step.axes.front());
    step.from = translatedBack(step.from);
    step.to = translatedBack(step.to);
    return step;
  }

private:
  static bool isLong(const Layout& layout) { return layout.grid().axes() > kMaxSearchedAxes; }
  const std::optional<AxisMerge>& mergeOn(const Layout& layout) const {
    return layout.grid() == from_.grid() ? mergeOfFrom_ : mergeOfTo_;
  }
  Layout translatedBack(const Layout& layout) const {
    const auto& merge = mergeOn(layout);
    return merge ? merge->unmerged(layout) : layout;
  }

  Layout from_, to_;
  std::optional<AxisMerge> mergeOfFrom_, mergeOfTo_;
  bool isShort_ = false;
};

} // namespace

RoutePolicy RoutePolicy::fromOptions() {
  const std::string name = options().getChoice("", "conversion_route");
  const auto found = std::find(std::begin(kModes), std::end(kModes), name);
  return {.mode = static_cast<RouteMode>(found - std::begin(kModes)),
          .rates = LinkRates::fromOptions()};
}

std::string RoutePolicy::agreedText() const {
  if (mode == RouteMode::Auto && rates == LinkRates{})
    return "";
  return fmt::format("; route {} by {}", kModes[static_cast<int>(mode)], rates.describe());
}

const char* RouteStep::name() const {
  if (!collective)
    return "exchange";
  constexpr const char* kNames[] = {"all-gather", "reduce-scatter", "all-reduce", "broadcast",
                                    "reduce"};
  return kNames[static_cast<int>(*collective)];
}

Route findRoute(const Layout& from, const Layout& to, Index elementBytes,
                const RoutePolicy& policy) {
  checkSameShape(from, to);
  const bool hasHalos = from.hasHalos() || to.hasHalos();
  const bool isDirect =
      policy.mode == RouteMode::Exchange || hasHalos || from == to || elements(from.shape()) == 0;
  if (!isDirect)
    if (const SearchedEnds ends(from, to); ends.areShort()) {
      Route route = RouteSearch(ends.from(), ends.to(), elementBytes, policy).run();
      for (RouteStep& step : route)
        step = ends.translatedBack(std::move(step));
      return route;
    }
  const double seconds =
      priceOfExchange(from, to, elementBytes, policy.rates, Sampling::Sampled).seconds;
  return {{.from = from, .to = to, .collective = {}, .seconds = seconds}};
}

std::string whyNotSearched(const Layout& from, const Layout& to) {
  if (from.hasHalos() || to.hasHalos() || SearchedEnds(from, to).areShort())
    return "";
  return fmt::format("no route of several steps was looked for, as the grids {} and {} have more "
                     "than {} axes that the two layouts treat differently",
                     from.grid().describe(), to.grid().describe(), kMaxSearchedAxes);
}

CollectiveKind adjointOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return CollectiveKind::ReduceScatter;
  case CollectiveKind::ReduceScatter:
    return CollectiveKind::AllGather;
  case CollectiveKind::Broadcast:
    return CollectiveKind::Reduce;
  case CollectiveKind::Reduce:
    return CollectiveKind::Broadcast;
  case CollectiveKind::AllReduce:
    break;
  }
  return kind;
}

Route adjointOf(const Route& route) {
  Route adjoint;
  for (auto step = route.rbegin(); step != route.rend(); ++step) {
    adjoint.push_back(*step);
    adjoint.back().from = step->to.dual();
    adjoint.back().to = step->from.dual();
    if (step->collective)
      adjoint.back().collective = adjointOf(*step->collective);
  }
  return adjoint;
}

Traffic sentOnRoute(const Route& route, int rank) {
  Traffic sum;
  for (const RouteStep& step : route)
    sum += sentInStep(step, rank);
  return sum;
}

} // namespace tenon
