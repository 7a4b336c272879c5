// SPDX-License-Identifier: BSD-2-Clause
// SumPolicy: what carries out a conversion that sums over grid axes, by the options
// -tenon_reduction, -tenon_reduction_order, -tenon_machine_levels and -tenon_machine_file:
//   auto                the cheapest program of reductions between the levels of the machine, if it
//                       costs less than the route that the conversion has without a program
//   route               the route, as any conversion
//   nccl                the library of the devices' vendor, for arrays on devices
//   a list of programs  the first one that reduces over the levels of the sum
// Programs run on levels of the machine (nodes, sockets, ...), which SumLevels has.
#pragma once

#include "machine/route.hpp"
#include "reduction/grouping.hpp"

namespace tenon {

// The levels of the machine on which ranks sum, and the rates between the ranks. The sizes are
// outermost first, and their product is the number of ranks.
struct SumLevels {
  Hierarchy sizes = {};
  LinkRates rates = {};
};

struct SumPolicy {
  enum class By { Route, Cheapest, Programs, Vendor };

  By by = By::Route;
  std::vector<Program> programs = {}; // of By::Programs
  std::string machineFile = {};       // of By::Cheapest: describes the levels; "" if there is none
  Hierarchy levels = {};              // from the option; empty: those of the file, or the nodes

  // The policy of the options. Throws TENON_ERR_ARG if a text is not a list of programs or levels,
  // or if options contradict each other.
  static SumPolicy fromOptions();
  // False if conversions take their routes whatever they sum: if this is the policy, or the route
  // is requested, or programs are to be chosen by price and the machine has one level.
  // `ranksPerNode` is 0 if the nodes do not have equal numbers of consecutive ranks.
  bool mayReplaceRoutes(const RoutePolicy& routes, int ranks, Index ranksPerNode) const;
  // Text for the agreement between ranks, which begins with "; ".
  std::string agreedText(Index ranksPerNode) const;
  // The levels of a job. Without levels in `rates` if none are known, as for nodes with different
  // numbers of ranks. Reads the machine file, and throws its errors.
  SumLevels levelsFor(const LinkRates& links, int ranks, Index ranksPerNode) const;
};

} // namespace tenon
