// SPDX-License-Identifier: BSD-2-Clause
#include "machine/route.hpp"

#include "geometry/traffic.hpp"
#include "machine/route_search.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"conversion_route", OptionSpec::Choice, "auto",
     "how conversions communicate, where possible: one exchange, a chain of several steps, or "
     "collectives along grid axes",
     "auto|exchange|chain|collective"},
};
const OptionRegistration kRegistration{{"route", kOptions}};

constexpr const char* kModes[] = {"auto", "exchange", "chain", "collective"};

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

std::optional<CollectiveKind> collectiveBetween(const Layout& from, const Layout& to, int axis) {
  const Property a = from.property(axis), b = to.property(axis);
  if (a.isShard() && b.isBroadcast())
    return CollectiveKind::AllGather;
  if (a.isRoot() && b.isBroadcast())
    return CollectiveKind::Broadcast;
  if (!a.isPartial())
    return std::nullopt;
  if (b.isShard())
    return CollectiveKind::ReduceScatter;
  if (b.isBroadcast())
    return CollectiveKind::AllReduce;
  return b.isRoot() ? std::optional(CollectiveKind::Reduce) : std::nullopt;
}

Route findRoute(const Layout& from, const Layout& to, Index cellBytes, const RoutePolicy& policy) {
  if (from.shape() != to.shape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "a conversion keeps the global shape, but the source is [{}] and the target [{}]",
            fmt::join(from.shape(), ","), fmt::join(to.shape(), ",")));
  const bool margins = from.hasMargins() || to.hasMargins();
  const bool direct = policy.mode == RouteMode::Exchange || margins || from == to ||
                      cells(from.shape()) == 0 || from.mesh().axes() > kMaxSearchedAxes ||
                      to.mesh().axes() > kMaxSearchedAxes;
  if (!direct)
    return RouteSearch(from, to, cellBytes, policy).run();
  const double seconds = margins ? 0 : priceOfExchange(from, to, cellBytes, policy.rates).seconds;
  return {{.from = from, .to = to, .collective = {}, .seconds = seconds}};
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
