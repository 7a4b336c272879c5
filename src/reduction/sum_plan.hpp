// SPDX-License-Identifier: BSD-2-Clause
// Chooses the reduction program for a sum over grid axes whose ranks span several levels of a
// machine (nodes, sockets, ...). A program is a list of collectives, each in groups of ranks within
// or across units of a level. The execution of conversions, the planner and traffic counts use the
// same choice, which is computed from the layouts and the rates without communication:
//   levelsOfSum()   the hierarchy of the sum: how many of its ranks each level separates
//   cheapestPlan()  the cheapest program on this hierarchy
#pragma once

#include "reduction/cheapest_sum.hpp"
#include "reduction/reduction_step.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tenon {

// The plan of a sum, with its predicted seconds.
struct SumPlan {
  ReductionPlan plan;
  double seconds = 0;
};

// Returns rates on these levels, of which the outermost are nodes. Each node is assumed to have one
// NIC with the bandwidth of a rank's link, shared by its ranks.
LinkRates withAssumedNodes(LinkRates rates, const Hierarchy& levels);

// Returns the hierarchy of a sum on the levels of a machine, the order of its members and the rates
// between them, without a program. Throws TENON_ERR_ARG, naming ranks, if the groups do not fit the
// levels (reduction_groups.hpp).
ReductionPlan levelsOfSum(const Grid& grid, const SumChange& sum, const Hierarchy& machine,
                          const LinkRates& rates);

// Adds the cheapest program for members of at most `bytes` bytes each. Returns none if no level
// separates the members, that is, if they share a unit of the innermost level: the route of the
// conversion, without a program, is then best.
std::optional<SumPlan> cheapestPlan(ReductionPlan levels, double bytes);

// Returns the seconds of a sum for all members by the route that findRoute() chooses along one axis
// with uniform links: one exchange, a ReduceScatter and an AllGather, or collectives.
double secondsOfSumRoute(Index members, double bytes, const LinkRates& rates);

// Prices of the sums that a planner considers, which are many; results are cached.
class SumPrices {
public:
  SumPrices(LinkRates rates, int ranks);
  // Without levels no sum uses a program.
  bool haveLevels() const noexcept { return !rates_.levels.empty(); }

  // Returns seconds; none if the conversion does more than sum (or its adjoint does), or if its
  // ranks share a unit or do not fit the levels.
  std::optional<double> seconds(const Layout& from, const Layout& to, Index elementBytes);
  // Returns the seconds of a sum for all ranks (P -> B) that share a unit, by its route; none for
  // other conversions.
  std::optional<double> secondsInUnit(const Layout& from, const Layout& to, Index elementBytes);

private:
  using Sum = std::tuple<const Grid*, std::vector<int>, SumGoal>;
  const std::optional<ReductionPlan>& levelsFor(const GridPtr& grid, const SumChange& sum);

  const LinkRates rates_;
  const Hierarchy machine_;
  std::vector<GridPtr> grids_; // keep the grids alive, whose addresses are keys
  std::map<Sum, std::optional<ReductionPlan>> levels_;
  std::map<std::pair<const ReductionPlan*, Index>, std::optional<double>> seconds_;
};

} // namespace tenon
