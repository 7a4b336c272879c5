// SPDX-License-Identifier: BSD-2-Clause
// The best plan of a network under a cost model, with what it is compared to. Where prices of moves are lower
// bounds, those of the plan are looked at closely, and it is searched again with what was found, until
// nothing new is: the plan is then the best by exact prices.
#pragma once

#include "planner/baselines.hpp"

#include <map>
#include <optional>

namespace tenon {

struct PlannedLayer {
  std::string name, letters;
  // The word as the layer takes it, and where it uses its inputs, but for halos; none of a row of a table.
  std::string signature = {};
  std::vector<Layout> uses = {};
  Parts parts;
  double bytes = 0;
  // The best plan with another word here: a lower bound under a memory limit; none if there is no other.
  std::string runnerUp;
  double runnerUpSeconds = 0;
};

struct FoundPlan {
  MeshPtr grid = nullptr; // whose axes the words are of, but for those on the grid of a pinned end
  bool spaceOutermost = false;
  double seconds = 0, bytes = 0;
  std::optional<double> overlapped; // seconds with overlap, if a share of it was given
  double gap = 0;                   // seconds are at most 1 + gap times the least
  int rounds = 1;                   // searches, until no price of the plan was too low
  Baselines baselines;
  std::vector<PlannedLayer> layers;
};

// Words by name of a layer.
using FixedWords = std::map<std::string, std::string>;

// memoryLimit in bytes of a process; 0: none. With an overlap above 0, the share of communication that
// goes on beside computation, the best 16 plans are replayed with it (timeline.hpp), and the fastest is
// taken. Throws TENON_ERR_SHAPE where there is no plan, TENON_ERR_OPTION for a fixed word that is not
// possible and TENON_ERR_ARG for one of no layer.
FoundPlan findPlan(const CostModel& model, const FixedWords& fixed, double memoryLimit,
                   double overlap = 0);

} // namespace tenon
