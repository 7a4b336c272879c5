// SPDX-License-Identifier: BSD-2-Clause
// The best plan of a network under a cost model, and the plans it is compared with. If prices are
// lower bounds, those of the plan are evaluated closely and the search is repeated with them until
// none changes: the plan is then the best by exact prices.
#pragma once

#include "planner/prices/cost_model.hpp"

#include <map>
#include <optional>

namespace tenon {

// The seconds of a plan if communication overlaps computation. One process runs the layers forward
// and then backward. A move starts as soon as its data are computed, and so does the reduction of a
// layer's gradients; its reader waits for it. The network carries one transfer after the other.
// Only the given share of a transfer overlaps; the rest occupies the process while it waits, as
// with an MPI library without asynchronous progress. With a share of 0 the time is the sum that the
// search minimises.

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share);

// Plans without a search: the same grid for all layers. In layers whose space cannot be split, the
// processes of the domain split the output channels. Impossible plans are omitted. If the model's
// prices are lower bounds, its closer prices are used, which are nearly always exact.

struct Baseline {
  Parallelization parallelization;
  double seconds = 0;
};

struct Baselines {
  std::optional<Baseline> uniform; // the best of all parallelizations
  std::optional<Baseline> batch, model, domain;
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
  // The parallelization of the best plan in which this layer has another layout, and its seconds, a
  // lower bound under a memory limit. Empty if no other parallelization is possible.
  std::string runnerUp;
  double runnerUpSeconds = 0;
};

struct FoundPlan {
  GridPtr grid = nullptr; // grid of all parallelizations except those on the grid of a pinned end
  bool spaceOutermost = false;
  std::vector<int> axisLevels = {}; // level of the machine of each axis of the grid; empty if
                                    // unknown
  double seconds = 0, bytes = 0;
  std::optional<double> overlapped; // seconds with overlap, if a share was given
  double gap = 0;                   // seconds are at most (1 + gap) times the minimum
  // Layers that recompute their output for the adjoint, and the seconds of this, which `seconds`
  // includes. Chosen after all parallelizations.
  std::vector<std::string> recomputed = {};
  double againSeconds = 0;
  // Layers whose halos are computed by the layers before them, and the seconds saved. Chosen after
  // all parallelizations.
  std::vector<std::string> shared = {};
  double sharedSeconds = 0;
  std::vector<int> parallelizations = {}; // by layer of the model, of a plan that was searched
  int rounds = 1;                         // number of searches until no price of the plan was too
                                          // low
  Baselines baselines;
  std::vector<PlannedLayer> layers;
};

// Lets layers recompute until the plan is within a limit in bytes. Returns whether it is; if not,
// `bytes` is the least that was found.
bool recomputeWithin(const CostModel& model, double memoryLimit, FoundPlan& plan);

// Lets layers share the halo exchange of a layer before them, at most `depth` layers per exchange,
// if that saves time within a limit in bytes; 0: no limit.
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
