// SPDX-License-Identifier: BSD-2-Clause
// Decides how a conversion is carried out. First the route of the conversion is found
// (machine/route.hpp). Then the policy of sums can replace it: the conversion as a whole, or else
// the steps that only sum. For example, S0,P -> B,B on two nodes can have the route
// S0,P -> S0,B -> B,B, whose first step becomes a program, while the second remains an exchange.
//
// Everything here depends on values that are equal on all ranks, so all ranks decide alike.
#include "reduction/movement/movement.hpp"

#include "geometry/schedule/axis_change.hpp"
#include "reduction/execution.hpp"
#include "reduction/sum_route.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// A conversion, its route, and what decides how it is carried out.
struct RoutedConversion {
  const Layout &from, &to;
  Index elementBytes;
  const MovementTarget& target;
  const Route& route;
};

Movement movementOfStep(const RouteStep& step, Index elementBytes) {
  return {.by = step.collective ? Movement::By::Collective : Movement::By::Exchange,
          .ends = step,
          .elementBytes = elementBytes};
}

// The first of several programs that reduces over the hierarchy. A single program is not checked
// here, because its use reports a complete error.
const Program& fittingProgram(const std::vector<Program>& programs, const Hierarchy& hierarchy) {
  std::string reasons;
  for (const Program& program : programs) {
    if (programs.size() == 1)
      return program;
    try {
      checkReduces(program, static_cast<int>(hierarchy.size()));
      return program;
    } catch (const Error& error) {
      reasons += fmt::format("; '{}': {}", describe(program), error.text());
    }
  }
  throw Error(
      TENON_ERR_ARG,
      fmt::format("none of the {} programs of -tenon_reduction reduces over the hierarchy [{}]{}",
                  programs.size(), fmt::join(hierarchy, ","), reasons));
}

// Price of a step at rates with levels, by which the steps of a route can be compared with a
// program; a collective is priced by its best algorithm.
double priceOfStep(const RouteStep& step, Index elementBytes, const LinkRates& rates) {
  if (step.collective)
    if (const auto collective =
            priceAsCollective(step.from, step.to, elementBytes, rates, Sampling::Sampled))
      return collective->seconds;
  return priceOfExchange(step.from, step.to, elementBytes, rates, Sampling::Sampled).seconds;
}

double priceOfRoute(const Route& route, Index elementBytes, const LinkRates& rates) {
  double seconds = 0;
  for (const RouteStep& step : route)
    seconds += priceOfStep(step, elementBytes, rates);
  return seconds;
}

Movement byProgram(const RoutedConversion& conversion, ReductionPlan program, double seconds) {
  return {
      .by = Movement::By::Program,
      .ends = {.from = conversion.from, .to = conversion.to, .collective = {}, .seconds = seconds},
      .elementBytes = conversion.elementBytes,
      .program = std::move(program)};
}

// A sum by the first of the user's programs that reduces over the levels; none if each group is one
// rank, and there is nothing to sum.
std::optional<Movement> byUsersProgram(const RoutedConversion& conversion,
                                       const SumChange& change) {
  const SumLevels& levels = conversion.target.levels;
  ReductionPlan plan = levelsOfSum(conversion.from.grid(), change, levels.sizes, levels.rates);
  if (plan.hierarchy.empty())
    return std::nullopt;
  plan.program = fittingProgram(conversion.target.sums.programs, plan.hierarchy);
  return byProgram(conversion, std::move(plan), 0);
}

// A sum by the cheapest program, if that costs less than the route on the same levels. `why` gets
// the reason of the decision, if there was one to make.
std::optional<Movement> byCheapestProgram(const RoutedConversion& conversion,
                                          const SumChange& change, std::string& why) {
  const SumLevels& levels = conversion.target.levels;
  if (levels.rates.levels.empty()) {
    why = "  -tenon_reduction auto: by the route, since the ranks of a node do not follow each "
          "other, or nodes have different numbers of them; number ranks node by node, or set "
          "-tenon_machine_levels or -tenon_machine_file\n";
    return std::nullopt;
  }
  std::optional<SumPlan> best;
  const Layout& whole = change.isTransposed ? conversion.to : conversion.from;
  try {
    best = cheapestPlan(levelsOfSum(conversion.from.grid(), change, levels.sizes, levels.rates),
                        static_cast<double>(mostElements(whole) * conversion.elementBytes));
  } catch (const Error& error) {
    // Ranks that do not fit the levels are an error for a program that the user requested, but the
    // cheapest program has an alternative.
    why = fmt::format("  -tenon_reduction auto: by the route, since {}\n", error.text());
    return std::nullopt;
  }
  if (!best)
    return std::nullopt;
  const double route = priceOfRoute(conversion.route, conversion.elementBytes, levels.rates);
  const bool isTaken = best->seconds < route;
  why = fmt::format("  -tenon_reduction auto: {}; the best program is predicted at {:.3g} us, the "
                    "route at {:.3g} us\n",
                    isTaken ? "by a program" : "by the route", 1e6 * best->seconds, 1e6 * route);
  if (!isTaken)
    return std::nullopt;
  return byProgram(conversion, std::move(best->plan), best->seconds);
}

// A sum by the collective of the vendor's library: from the contributions to the sums, or for an
// adjoint from the sums to the dual of the contributions. Arrays on the host take the route.
Movement byVendor(const RoutedConversion& conversion, const SumChange& change) {
  constexpr CollectiveKind kForward[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                         CollectiveKind::Reduce};
  const CollectiveKind kind = kForward[static_cast<int>(change.goal)];
  Movement movement{.by = Movement::By::Vendor,
                    .ends = {.from = conversion.from,
                             .to = conversion.to,
                             .collective = change.isTransposed ? adjointOf(kind) : kind,
                             .axes = change.axes},
                    .elementBytes = conversion.elementBytes};
  if (conversion.target.space == Space::Host) {
    MovementTarget byRoute = conversion.target;
    byRoute.sums = {};
    movement.parts = {movementOf(conversion.from, conversion.to, conversion.elementBytes, byRoute)};
  }
  return movement;
}

std::optional<Movement> summed(const RoutedConversion& conversion, std::string& why);

// The steps of a route. A step that only sums is decided like a separate conversion.
Movement inSteps(const RoutedConversion& conversion, const Route& route) {
  Movement movement{.by = Movement::By::Steps,
                    .ends = {.from = conversion.from, .to = conversion.to, .collective = {}},
                    .elementBytes = conversion.elementBytes};
  for (const RouteStep& step : route) {
    const Route alone{step};
    std::string why;
    std::optional<Movement> sum;
    // The user can have requested a kind of route. Its steps are then taken as they are.
    if (conversion.target.routes.mode == RouteMode::Auto)
      sum = summed({step.from, step.to, conversion.elementBytes, conversion.target, alone}, why);
    if (sum)
      sum->why = std::move(why);
    movement.parts.push_back(sum ? std::move(*sum) : movementOfStep(step, conversion.elementBytes));
    movement.ends.seconds += movement.parts.back().ends.seconds;
  }
  return movement;
}

// A conversion that does more than sum, in the cheapest sequence of sums and other steps, if that
// costs less than the route, whose sums also use programs.
std::optional<Movement> inCheapestSteps(const RoutedConversion& conversion, std::string& why) {
  if (pathsWithSeparateSums(conversion.from, conversion.to).empty())
    return std::nullopt;
  const LinkRates& rates = conversion.target.levels.rates;
  SumPrices prices(rates, conversion.target.ranks);
  const SumRoute best = cheapestSumRoute(
      conversion.from, conversion.to, conversion.elementBytes, prices,
      [&](const Layout& from, const Layout& to) {
        return priceOfExchange(from, to, conversion.elementBytes, rates, Sampling::Sampled).seconds;
      });
  double routeSeconds = 0;
  for (const RouteStep& step : conversion.route) {
    const double seconds = priceOfStep(step, conversion.elementBytes, rates);
    routeSeconds += std::min(
        seconds, prices.seconds(step.from, step.to, conversion.elementBytes).value_or(seconds));
  }
  if (best.steps.size() == 1 || best.seconds >= routeSeconds)
    return std::nullopt;
  why = fmt::format("  -tenon_reduction auto: sums and the rest in steps, predicted at {:.3g} us; "
                    "the route at {:.3g} us\n",
                    1e6 * best.seconds, 1e6 * routeSeconds);
  return inSteps(conversion, best.steps);
}

// A conversion that sums, or whose adjoint does, in another way than by its route; none if there is
// no better way. `why` gets the reasons either way.
std::optional<Movement> summed(const RoutedConversion& conversion, std::string& why) {
  const std::optional<SumChange> change = sumBetween(conversion.from, conversion.to);
  switch (conversion.target.sums.by) {
  case SumPolicy::By::Route:
    return std::nullopt;
  case SumPolicy::By::Cheapest:
    return change ? byCheapestProgram(conversion, *change, why) : inCheapestSteps(conversion, why);
  case SumPolicy::By::Programs:
    // The user's programs make whole sums on all ranks; other sums take the route.
    return change && change->goal == SumGoal::All ? byUsersProgram(conversion, *change)
                                                  : std::nullopt;
  case SumPolicy::By::Vendor:
    break;
  }
  if (!change || conversion.from.grid().extentOf(change->axes) == 1)
    return std::nullopt; // nothing is summed between ranks
  return byVendor(conversion, *change);
}

} // namespace

MovementTarget MovementTarget::on(int ranks, Index ranksPerNode, Space space, RoutePolicy routes,
                                  SumPolicy sums) {
  MovementTarget target{.ranks = ranks, .space = space, .routes = std::move(routes)};
  if (!sums.mayReplaceRoutes(target.routes, ranks, ranksPerNode))
    return target;
  if (sums.by != SumPolicy::By::Vendor)
    target.levels = sums.levelsFor(target.routes.rates, ranks, ranksPerNode);
  target.sums = std::move(sums);
  return target;
}

MovementTarget MovementTarget::fromOptions(int ranks, Index ranksPerNode, Space space) {
  return on(ranks, ranksPerNode, space, RoutePolicy::fromOptions(), SumPolicy::fromOptions());
}

Movement movementOf(const Layout& from, const Layout& to, Index elementBytes,
                    const MovementTarget& target) {
  const Route route = findRoute(from, to, elementBytes, target.routes);
  const RoutedConversion conversion{from, to, elementBytes, target, route};
  std::string why;
  std::optional<Movement> movement = summed(conversion, why);
  if (!movement && (route.size() > 1 || route.front().collective)) {
    // A single collective is a chain of one step.
    movement = inSteps(conversion, route);
  } else if (!movement) {
    movement = movementOfStep(route.front(), elementBytes);
    if (const std::string reason = whyNotSearched(from, to);
        !reason.empty() && target.routes.mode != RouteMode::Exchange)
      why += fmt::format("  {}\n", reason);
  }
  movement->why = std::move(why);
  return *std::move(movement);
}

Movement exchangeOf(const Layout& from, const Layout& to, Index elementBytes) {
  return movementOfStep({.from = from, .to = to, .collective = {}}, elementBytes);
}

} // namespace tenon
