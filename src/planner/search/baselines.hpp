// SPDX-License-Identifier: BSD-2-Clause
// Plans without a search, in which all layers have the same process grid. In layers without spatial
// dimensions, the processes that split space in other layers split the output channels. Impossible
// plans are omitted. Prices are close ones, which are nearly always exact.
//
// These are the plans of Gholami et al. (arXiv 1712.04432): pure batch, model and domain
// parallelism (Section 2.2), and the integrated ones on one grid (Sections 2.3 and 2.4).
#pragma once

#include "planner/prices/cost_model.hpp"

#include <optional>

namespace tenon {

// A plan in which all layers have one parallelization, and its predicted time.
struct Baseline {
  Parallelization parallelization;
  double seconds = 0;
};

// The best plans of each kind; none if no such plan is possible.
struct Baselines {
  std::optional<Baseline> uniform;              // the best of all parallelizations
  std::optional<Baseline> batch, model, domain; // all processes split batch, channels or space
};

Baselines baselinesOf(const CostModel& model);

} // namespace tenon
