// SPDX-License-Identifier: BSD-2-Clause
// What a plan is requested for, as values: the network's input, the processes and their rates, the
// objective, and what the search may choose. They are the settings of a plan, which the manual
// lists (doc/options.md), and default to a training step of all processes, without a memory limit.
#pragma once

#include "geometry/layout/layout.hpp"
#include "machine/link.hpp"
#include "sys/options/settings.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon {

// The layout of an input or output of the network, from its shape and the number of processes.
using PinnedEnd = std::function<Layout(const Shape&, Index processes)>;

// The request of one plan, with the defaults of its settings.
struct PlanRequest {
  std::vector<Shape> samples = {};        // shapes of the inputs without the batch; empty: not set
  PinnedEnd everyInput = {}, output = {}; // of all inputs, of the output; empty: not pinned
  Index processes = 1;
  LinkRates link = {};                 // of each process, without a machine
  std::optional<double> flops, memory; // rates of kernels; none: typical ones
  std::optional<bool> inputChannels;   // whether they can be split; none: as the model does
  double memoryLimit = 0;              // bytes of each process; 0: none
  bool mayRecompute = true;
  Index haloDepth = 1; // layers that may share one halo exchange, at most
  std::string objective = "training";
  Index optimizerStates = 2;
  Index stepsPerEvaluation = 1; // of a solver
  std::string placement = "batch";
  bool fewerProcesses = false; // whether plans may leave processes idle
  double overlap = 0;          // share of communication that overlaps computation

  // Throws TENON_ERR_ARG for a text that is not one of a grid or of shapes.
  static PlanRequest from(const Settings& settings, const Settings::Owner& owner);
  bool trains() const { return objective == "training"; }
  // Throws TENON_ERR_ARG if values contradict each other.
  void check() const;
};

// The table of the settings.
std::span<const OptionSpec> planOptions();

} // namespace tenon
