// SPDX-License-Identifier: BSD-2-Clause
// The best plan of a network under a cost model, with what it is compared to. Where prices are
// lower bounds, those of the plan are looked at closely, and it is searched again with what was
// found, until nothing new is: the plan is then the best by exact prices.
#pragma once

#include "planner/prices/cost_model.hpp"

#include <map>
#include <optional>

namespace tenon {

// How long a plan takes if communication goes on beside computation. One process runs the layers
// forward and then backward. A move starts as soon as what is moved is there, and so does the sum
// of a layer's gradients; its reader waits for it. The network carries one transfer after the
// other. Only a share of a transfer goes on by itself, and the rest takes the process while it
// waits, as where MPI makes no progress of its own: with a share of 0 the time is the sum that the
// search minimises.

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share);

// Plans that need no search over layers: the same grid for all of them. Where space must be whole,
// the processes of the domain split the output channels. What is not possible is left out. Where
// the model's prices are lower bounds, these are by its closer ones, and so nearly always
// exact.

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
  std::string meaning =
      {}; // what the parallelization splits, for a person: "rows over 4, channels in over 2"
  // The parallelization as the layer takes it, and the layouts in which it uses its inputs, without
  // halos. A row of a table has neither.
  std::string signature = {};
  bool isBalanced = false; // its output is cut in balance, and not as its windows are
  std::vector<Layout> uses = {};
  Parts parts;
  double bytes = 0;
  // The parallelization of the best plan that lays this layer out in another way, and its seconds,
  // which are a lower bound under a memory limit. It is empty if no other parallelization is
  // possible.
  std::string runnerUp;
  double runnerUpSeconds = 0;
};

struct FoundPlan {
  GridPtr grid = nullptr; // the grid of all parallelizations but those on the grid of a pinned end
  bool spaceOutermost = false;
  std::vector<int> axisLevels = {}; // of the machine, of each axis of the grid; empty if not known
  double seconds = 0, bytes = 0;
  std::optional<double> overlapped; // seconds with overlap, if a share of it was given
  double gap = 0;                   // seconds are at most 1 + gap times the least
  // The layers that compute again for the adjoint what they wrote, and the part of the seconds that
  // this takes; chosen when all layers have their parallelizations.
  std::vector<std::string> recomputed = {};
  double againSeconds = 0;
  // The layers whose halos the layers before them compute, and the seconds that this saves;
  // likewise.
  std::vector<std::string> shared = {};
  double sharedSeconds = 0;
  std::vector<int> parallelizations = {}; // by layer of the model; of a plan that was searched
  int rounds = 1;                         // searches, until no price of the plan was too low
  Baselines baselines;
  std::vector<PlannedLayer> layers;
};

// Gives a plan the layers that recompute, so that it takes no more than so many bytes. Returns
// whether it does then; else `bytes` are the least that was found.
bool recomputeWithin(const CostModel& model, double memoryLimit, FoundPlan& plan);

// Gives a plan the layers that share the halo exchange of a layer before them, at most `depth` an
// exchange, where that saves time within a limit of bytes; 0: none.
void shareHalos(const CostModel& model, Index depth, double memoryLimit, FoundPlan& plan);

// Parallelizations by name of a layer.
using FixedParallelizations = std::map<std::string, std::string>;

// Searches the plan of a network. `memoryLimit` is in bytes of a process, and 0 means none. With an
// overlap above 0, the share of communication that goes on beside computation, the best 16 plans
// are replayed with it, and the fastest is taken. Throws TENON_ERR_SHAPE where there is no plan,
// TENON_ERR_OPTION for a fixed parallelization that is not possible, and TENON_ERR_ARG for a fixed
// parallelization of a layer that does not exist.
FoundPlan findPlan(const CostModel& model, const FixedParallelizations& fixed, double memoryLimit,
                   double overlap = 0);

} // namespace tenon
