// SPDX-License-Identifier: BSD-2-Clause
// The program that a conversion which sums, or whose adjoint does, runs where its ranks lie on
// several levels of a machine: one choice for those who run it, plan with it and count it. It
// follows from the layouts and the rates, without communication.
#pragma once

#include "reduction/cheapest_sum.hpp"
#include "reduction/reduction_step.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tenon {

struct SumPlan {
  ReductionPlan plan;
  double seconds = 0;
};

// Rates on these levels, of which the outermost are nodes: they are assumed to have a NIC each, as
// fast as a rank's own link, which all their ranks share.
LinkRates withAssumedNodes(LinkRates rates, const Hierarchy& levels);

// The hierarchy of a sum on the levels of a machine, the order of its members and the rates between
// them; no program. Throws TENON_ERR_ARG, naming ranks, if they do not stand so
// (reduction_groups.hpp).
ReductionPlan levelsOfSum(const Grid& grid, const SumChange& sum, const Hierarchy& machine,
                          const LinkRates& rates);

// The cheapest program of a sum on such levels, where no member has more than so many bytes; none
// if no level parts the members: then all of them share a unit, and a conversion's route sums best.
std::optional<SumPlan> cheapestPlan(ReductionPlan levels, double bytes);

// The seconds of a sum of so many bytes for all of its members, by the route that findRoute() takes
// along one axis with links of one kind: an exchange, shares that are gathered, or collectives.
double secondsOfSumRoute(Index members, double bytes, const LinkRates& rates);

// What sums cost as they are run, of many that a planner asks for; it keeps what it has found.
class SumPrices {
public:
  SumPrices(LinkRates rates, int ranks);
  // Without levels no sum goes by a program.
  bool haveLevels() const noexcept { return !rates_.levels.empty(); }

  // Seconds; none for a conversion that does more than sum, forwards or by its adjoint, or whose
  // ranks share a unit or do not stand on the levels.
  std::optional<double> seconds(const Layout& from, const Layout& to, Index elementBytes);
  // Of a sum for all ranks (P -> B) that share a unit, by its route; none for other conversions.
  std::optional<double> secondsInUnit(const Layout& from, const Layout& to, Index elementBytes);

private:
  using Sum = std::tuple<const Grid*, std::vector<int>, SumGoal>;
  const std::optional<ReductionPlan>& levelsFor(const GridPtr& grid, const SumChange& sum);

  const LinkRates rates_;
  const Hierarchy machine_;
  std::vector<GridPtr> grids_; // kept, so that no other grid comes to have the address of one
  std::map<Sum, std::optional<ReductionPlan>> levels_;
  std::map<std::pair<const ReductionPlan*, Index>, std::optional<double>> seconds_;
};

} // namespace tenon
