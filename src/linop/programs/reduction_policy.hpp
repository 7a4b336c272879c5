// SPDX-License-Identifier: BSD-2-Clause
// How sums over grid axes are made (-tenon_reduction), and where the ranks stand in the machine.
//
// A machine of levels h_1 ... h_n has rank r at the place r in the numbering level by level, the
// first level slowest: r's digits. The ranks of a reduction group must be all those whose digit on
// each level is one of a set D_i of that level's digits. Then the members are numbered level first
// in a hierarchy of |D_1| ... |D_n|, those of 1 left out, each level's digits in the order in which
// they come along the coordinates of the grid; and what is inside a level of it is inside a level
// of the machine. All groups must have the same numbers |D_i|, as all ranks run one program, and
// the same coordinates must have the same numbers, as equal addends must have equal sums in each
// group.
#pragma once

#include "geometry/grid.hpp"
#include "geometry/layout.hpp"
#include "linop/programs/reduction_step.hpp"
#include "reduction/grouping.hpp"

#include <string>
#include <vector>

namespace tenon {

struct ReductionPolicy {
  // Each sum takes the first program that reduces over its levels. Without any it goes by the route
  // of the conversion.
  std::vector<Program> programs;
  bool automatic = false; // the cheapest, see reduction_policy.hpp
  // The description of the machine at whose levels and links `automatic` looks, see
  // machine/machine_file.hpp; may be empty.
  std::string machineFile;
  // The levels of the machine, outermost first. Without any all ranks are on one level.
  Hierarchy machine;

  // The policy that -tenon_reduction and -tenon_machine_levels give. Throws TENON_ERR_ARG for a
  // text that says none.
  static ReductionPolicy fromOptions();
  // The part of a text that ranks agree on: "" for the defaults.
  std::string agreedText() const;
  bool isByRoute() const noexcept { return programs.empty() && !automatic; }
};

// The ranks of each reduction group, by rising coordinates, or permuted by `order`.
std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order = {});

// The hierarchy of the groups of ranks that differ in these axes alone, in a machine of these
// levels. Throws TENON_ERR_ARG, naming the ranks, if a group is no product as above or two groups
// differ.
Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);
// Which of a group's ranks, counted by rising coordinates, each member of such a hierarchy is;
// empty if member i is the i-th. Throws TENON_ERR_ARG, naming the ranks, if that is not the same in
// all groups.
std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);

// Whether a conversion sums by a program, and by which. With -tenon_reduction auto all programs of
// up to five steps (three on more than three levels) are priced, and the cheapest is taken if it
// costs less than kWorthwhile of the way without one. With a machine file they are simulated on its
// levels and links (reduction/simulation.hpp, by rings), and the way without is one AllReduce of
// all. Otherwise they are priced by the rates of the links, which are one for all levels, and the
// way without is the conversion's route; rates must have been given, as the defaults say nothing
// about the machine at hand.

struct ReductionChoice {
  ReductionPlan plan;
  bool taken = false;
  std::string why; // what auto has decided, and why
};

constexpr double kWorthwhile = 0.8;

// Chooses for a sum over these axes, whose route has this price, on a communicator of so many
// ranks; all of them choose the same. Throws TENON_ERR_ARG if the ranks do not stand on the levels
// that a given program needs, or if no given program reduces over them, and the errors of reading
// the machine file.
ReductionChoice chooseReduction(const ReductionPolicy& policy, const Layout& domain,
                                const std::vector<int>& axes, int ranks, Index elementBytes,
                                double routeSeconds, const LinkRates& rates);

} // namespace tenon
