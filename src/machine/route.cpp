// SPDX-License-Identifier: BSD-2-Clause
#include "machine/route.hpp"

#include "geometry/axis_merge.hpp"
#include "geometry/traffic.hpp"
#include "machine/route_search.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kRouteOptions[] = {
    {"conversion_route", OptionSpec::Choice, "auto",
     "how conversions communicate, where possible: one exchange, a chain of several steps, or "
     "collectives along grid axes",
     "auto|exchange|chain|collective"},
};
const OptionRegistration kRouteRegistration{{"route", kRouteOptions}};

constexpr const char* kModes[] = {"auto", "exchange", "chain", "collective"};

// The ends of a route, on meshes of few axes where axes can be merged.
class SearchedEnds {
public:
  SearchedEnds(const Layout& from, const Layout& to) : from_(from), to_(to) {
    const bool oneMesh = from.mesh() == to.mesh();
    if (isLong(from))
      mergeOfFrom_.emplace(from, oneMesh ? to : from);
    if (oneMesh)
      mergeOfTo_ = mergeOfFrom_;
    else if (isLong(to))
      mergeOfTo_.emplace(to, to);
    if (mergeOfFrom_)
      from_ = mergeOfFrom_->merged(from);
    if (mergeOfTo_)
      to_ = mergeOfTo_->merged(to);
    // Two meshes that are one when merged follow another rule, so that steps could not be told.
    isShort_ = !isLong(from_) && !isLong(to_) && oneMesh == (from_.mesh() == to_.mesh());
  }

  bool areShort() const { return isShort_; }
  const Layout& from() const { return from_; }
  const Layout& to() const { return to_; }
  // On the meshes as they are.
  RouteStep told(RouteStep step) const {
    const auto& merge = mergeOn(step.from);
    if (merge && step.collective)
      step.axes = merge->axesOf(step.axes.front());
    step.from = told(step.from);
    step.to = told(step.to);
    return step;
  }

private:
  static bool isLong(const Layout& layout) { return layout.mesh().axes() > kMaxSearchedAxes; }
  const std::optional<AxisMerge>& mergeOn(const Layout& layout) const {
    return layout.mesh() == from_.mesh() ? mergeOfFrom_ : mergeOfTo_;
  }
  Layout told(const Layout& layout) const {
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

Route findRoute(const Layout& from, const Layout& to, Index cellBytes, const RoutePolicy& policy) {
  if (from.shape() != to.shape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "a conversion keeps the global shape, but the source is [{}] and the target [{}]",
            fmt::join(from.shape(), ","), fmt::join(to.shape(), ",")));
  const bool margins = from.hasMargins() || to.hasMargins();
  const bool direct =
      policy.mode == RouteMode::Exchange || margins || from == to || cells(from.shape()) == 0;
  if (!direct)
    if (const SearchedEnds ends(from, to); ends.areShort()) {
      Route route = RouteSearch(ends.from(), ends.to(), cellBytes, policy).run();
      for (RouteStep& step : route)
        step = ends.told(std::move(step));
      return route;
    }
  const double seconds = priceOfExchange(from, to, cellBytes, policy.rates, Looks::Sampled).seconds;
  return {{.from = from, .to = to, .collective = {}, .seconds = seconds}};
}

std::string whyNotSearched(const Layout& from, const Layout& to) {
  if (from.hasMargins() || to.hasMargins() || SearchedEnds(from, to).areShort())
    return "";
  return fmt::format("no route of several steps was looked for, as the meshes {} and {} have more "
                     "than {} axes that the two layouts treat differently",
                     from.mesh().describe(), to.mesh().describe(), kMaxSearchedAxes);
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
  for (const RouteStep& step : route) {
    const Traffic sent = sentInStep(step, rank);
    sum.messages += sent.messages;
    sum.cells += sent.cells;
  }
  return sum;
}

} // namespace tenon
