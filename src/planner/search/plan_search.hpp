// SPDX-License-Identifier: BSD-2-Clause
// Which candidates are searched: the best plan of a network under a cost model (cost_model.hpp).
//
// 1  All legal parallelizations of each layer are candidates. Tables of their seconds and bytes,
//    and of pairs for moves, are the input of the search (cost_tables.hpp).
// 2  The least sum of the tables is found exactly: by variable elimination on the few candidates
//    that the bounds of a spanning forest leave (pruned.hpp, elimination.hpp), which is the dynamic
//    programming of PaSE (Elango, IPDPS 2021); with a memory limit by a Lagrange multiplier and
//    Pareto fronts (memory_bound.hpp). Graphs that are too wide for elimination get a good plan and
//    a proven gap (wide.hpp).
// 3  Certificate: the tables contain lower bounds, which are cheap to compute. The prices of the
//    plan that was found are raised to exact ones, and the search is repeated until none is
//    raised. Every other plan costs at least its lower bounds, so the plan is the best by exact
//    prices.
//
// For example, let two plans have the bounds 5 and 6 and the exact prices 7 and 6.5. The first
// search finds the first plan, and raises it to 7; and the second, which could be as fast, to 6.5.
// The second search finds the second plan, and nothing is raised.
#pragma once

#include "planner/prices/cost_model.hpp"
#include "planner/search/baselines.hpp"

#include <map>
#include <optional>

namespace tenon {

struct PlannedLayer {
  std::string name, labels;
  // The dimensions that are split, in words: "rows over 4, channels in over 2".
  std::string meaning = {};
  // The signature that the layer accepts, and the layouts in which it reads its inputs, without
  // halos. Both are empty for a row of a table.
  std::string signature = {};
  bool isBalanced = false; // the output is divided evenly, not aligned with the windows
  std::vector<Layout> uses = {};
  Parts parts;
  double bytes = 0;
  // The parallelization of this layer in the best plan that gives this layer other layouts, and the
  // seconds of that plan, which are a lower bound under a memory limit. Empty if the layer has no
  // other parallelization.
  std::string runnerUp;
  double runnerUpSeconds = 0;
};

struct FoundPlan {
  GridPtr grid = nullptr; // grid of all parallelizations except those on the grid of a pinned end
  bool spaceOutermost = false;
  std::vector<int> axisLevels = {}; // by axis of the grid: level of the machine; empty if unknown
  double seconds = 0, bytes = 0;
  std::optional<double> overlapped; // seconds with overlap, if a share was given
  double comparedSeconds() const { return overlapped.value_or(seconds); }
  double gap = 0; // seconds are at most (1 + gap) times the minimum
  // Layers that recompute their output for the adjoint, and the seconds that this takes, which
  // `seconds` includes. They are chosen after all parallelizations.
  std::vector<std::string> recomputed = {};
  double recomputationSeconds = 0;
  // Layers whose halos are computed by the layers before them, and the seconds saved. Chosen after
  // all parallelizations.
  std::vector<std::string> shared = {};
  double sharedSeconds = 0;
  std::vector<int> parallelizations = {}; // by layer of the model, of a plan that was searched
  int rounds = 1; // number of searches until no price of the plan was too low
  Baselines baselines;
  std::vector<PlannedLayer> layers;
};

// Chooses layers that recompute their outputs until the plan needs at most memoryLimit bytes.
// Returns whether the limit is met; if not, `plan.bytes` is the least that was found.
bool recomputeWithin(const CostModel& model, double memoryLimit, FoundPlan& plan);

// Chooses layers whose halos are computed by the layers before them, with at most `depth` layers
// per halo exchange, if that saves time within a limit in bytes (0: no limit).
void shareHalos(const CostModel& model, Index depth, double memoryLimit, FoundPlan& plan);

// Text for a plan that recomputes: "computed again for the adjoint, in 1.5 ms of these: relu1,
// conv2".
std::string recomputedText(const FoundPlan& plan);
// Text for a plan with shared halos: "halos are computed by the layers before, which saves 1.5 ms:
// conv2, conv3".
std::string sharedText(const FoundPlan& plan);

// Parallelizations by the name of the layer.
using FixedParallelizations = std::map<std::string, std::string>;

// What a search must find.
struct SearchTask {
  FixedParallelizations fixed = {};
  double memoryLimit = 0; // bytes of each process; 0: none
  // Share of communication that overlaps computation. If it is above 0, the 16 best plans are
  // replayed with it (overlap.hpp), and the fastest is returned.
  double overlap = 0;
};

// Throws TENON_ERR_SHAPE if there is no plan, TENON_ERR_MEMORY_LIMIT if there is none within the
// limit, TENON_ERR_OPTION if a fixed parallelization is impossible, and TENON_ERR_ARG if the layer
// of a fixed parallelization does not exist.
FoundPlan findPlan(const CostModel& model, const SearchTask& task = {});

} // namespace tenon
