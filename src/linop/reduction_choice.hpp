// SPDX-License-Identifier: BSD-2-Clause
// Whether a conversion sums by a program, and by which. With -tenon_reduction auto all programs of up
// to five steps (three on more than three levels) are priced, and the cheapest is taken if it costs less
// than kWorthwhile of the way without one. With a machine file they are simulated on its levels and
// links (reduction/simulation.hpp, by rings), and the way without is one AllReduce of all. Otherwise they
// are priced by the rates of the links, which are one for all levels, and the way without is the
// conversion's route; rates must have been given, as the defaults say nothing about the machine at hand.
#pragma once

#include "geometry/layout.hpp"
#include "linop/reduction_policy.hpp"
#include "linop/reduction_step.hpp"

namespace tenon {

struct ReductionChoice {
  ReductionPlan plan;
  bool taken = false;
  std::string why; // of auto
};

constexpr double kWorthwhile = 0.8;

// `ranks` of the communicator; of a sum over these axes, by a route of this price. The same on all
// ranks. Throws TENON_ERR_ARG if the ranks do not stand on the levels that a given program needs, or if
// no given program reduces over them, and what is wrong with the machine file.
ReductionChoice chooseReduction(const ReductionPolicy& policy, const Layout& domain,
                                const std::vector<int>& axes, int ranks, Index cellBytes,
                                double routeSeconds, const LinkRates& rates);

} // namespace tenon
