// SPDX-License-Identifier: BSD-2-Clause
// The best plan of a network under a cost model, and the plans with which it is compared. A plan
// assigns a parallelization to each layer. The prices of a model can be lower bounds, which are
// cheap to compute. The search then computes the exact prices of the plan that it found, and
// repeats with these until no price of the plan changes. Every other plan costs at least its lower
// bounds, so the plan is the best by exact prices.
#pragma once

#include "planner/prices/cost_model.hpp"

#include <map>
#include <optional>

namespace tenon {

// The seconds of a plan if communication overlaps computation, from a simulation of one process and
// its network link. The process computes the layers forward and then backward. The link carries one
// transfer after the other: a move between two layers starts when its data have been computed, and
// its reader waits for its end; the reduction of a layer's gradients starts when they are complete.
// Only the fraction `share` of each transfer overlaps. The rest is added to the time of the
// process, as with an MPI library without asynchronous progress. With share = 0 the result is the
// sum that the search minimises.

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share);

// Plans without a search, in which all layers have the same process grid. In layers without spatial
// dimensions, the processes that split space in other layers split the output channels. Impossible
// plans are omitted. If the model's prices are lower bounds, its closer prices are used, which are
// nearly always exact.

struct Baseline {
  Parallelization parallelization;
  double seconds = 0;
};

struct Baselines {
  std::optional<Baseline> uniform;              // the best of all parallelizations
  std::optional<Baseline> batch, model, domain; // all processes split batch, channels or space
};

Baselines baselinesOf(const CostModel& model);

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
  double gap = 0;                   // seconds are at most (1 + gap) times the minimum
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

// Parallelizations by the name of the layer.
using FixedParallelizations = std::map<std::string, std::string>;

// Searches the plan of a network. `memoryLimit` is in bytes per process; 0: none. With an overlap
// above 0, the share of communication that overlaps computation, the 16 best plans are replayed
// with it, and the fastest is returned. Throws TENON_ERR_SHAPE if there is no plan,
// TENON_ERR_OPTION if a fixed parallelization is impossible, and TENON_ERR_ARG if the layer of a
// fixed parallelization does not exist.
FoundPlan findPlan(const CostModel& model, const FixedParallelizations& fixed, double memoryLimit,
                   double overlap = 0);

} // namespace tenon
