// SPDX-License-Identifier: BSD-2-Clause
// Plans that need no search over layers: the same grid for all of them. Where space must be whole, the
// processes of the domain split the output channels. What cannot be is left out. Where the
// model's prices of moves are lower bounds, these are by its closer ones, and so nearly always exact.
#pragma once

#include "planner/cost_model.hpp"

#include <optional>

namespace tenon {

struct Baseline {
  Word word;
  double seconds = 0;
};

struct Baselines {
  std::optional<Baseline> uniform; // the best of all words
  std::optional<Baseline> batch, model, domain;
};

Baselines baselinesOf(const CostModel& model);

} // namespace tenon
