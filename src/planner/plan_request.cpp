// SPDX-License-Identifier: BSD-2-Clause
// The settings of a plan, and their values (plan_request.hpp). Texts such as "4x2:S2,S3", a pinned
// layout of 4 x 2 processes that splits rows and columns, are converted here, once; layouts are
// made from them when the shape and the number of processes are known.
#include "planner/plan_request.hpp"

#include "geometry/layout/checked_grid.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

constexpr OptionSpec kPlanOptions[] = {
    {"processes",
     OptionSpec::Int,
     "1",
     "number of processes that a plan is for",
     nullptr,
     {1, static_cast<double>(kMaxProcesses)}},
    {"link_latency", OptionSpec::Real, "2e-6", "latency of the link of each process, in seconds",
     nullptr, atLeast(0)},
    {"link_bandwidth", OptionSpec::Real, "6e9",
     "bandwidth of the link of each process, in bytes per second", nullptr, above(0)},
    {"input_shape", OptionSpec::Ints, nullptr,
     "shape of a sample of the input, without the batch: channels, then space", nullptr,
     atLeast(1)},
    {"input_shapes", OptionSpec::String, "",
     "of a network with several inputs, the shapes of a sample of each, separated by semicolons: "
     "2,64,64;1,64,64"},
    {"flop_rate", OptionSpec::Real, nullptr,
     "floating-point operations per second of a process; by default 5e10, on the "
     "device 1e13",
     nullptr, above(0)},
    {"memory_rate", OptionSpec::Real, nullptr,
     "bytes per second that a process reads and writes; by default 1e10, on the device "
     "1e12",
     nullptr, above(0)},
    {"input_channels", OptionSpec::Flag, nullptr,
     "whether input channels may be split (label i); by default they may"},
    {"memory_limit", OptionSpec::Int, "0",
     "bytes of each process that a plan may take; 0: no limit", nullptr, atLeast(0)},
    {"recompute", OptionSpec::Flag, "true",
     "whether layers may compute again for the adjoint what does not fit into the memory limit"},
    {"halo_depth", OptionSpec::Int, "1",
     "layers that may share one halo exchange, at most, where that saves time: the first of them "
     "compute more cells",
     nullptr, atLeast(1)},
    {"optimizer_state", OptionSpec::Int, "2",
     "tensors that the optimizer keeps for each parameter: 1 for sgd, 2 for adam", nullptr,
     atLeast(0)},
    {"objective", OptionSpec::Choice, "training",
     "what a plan is for: training, inference, or step, one of a solver that evaluates "
     "the network every evaluate_every steps",
     "training|inference|step"},
    {"evaluate_every", OptionSpec::Int, "1",
     "(objective step) steps of the solver for each evaluation of the network", nullptr,
     atLeast(1)},
    {"input_grid", OptionSpec::String, "",
     "where the input lies, as process grid and properties: 4x2:S2,S3"},
    {"output_grid", OptionSpec::String, "", "where the output is wanted, in the same way"},
    {"placement", OptionSpec::Choice, "batch",
     "what the outermost levels of the machine split: batch, space, auto for the faster, or all "
     "for "
     "the fastest of all placements of the grid's axes on the levels",
     "batch|space|auto|all"},
    {"fewer_processes", OptionSpec::Flag, "false",
     "whether plans that leave processes idle are looked for, too"},
    {"overlap_share",
     OptionSpec::Real,
     "0",
     "share of communication that goes on beside computation",
     nullptr,
     {0, 1}},
};
const OptionRegistration kPlanRegistration{{"plan", kPlanOptions}};

// Returns a layout of equal blocks on a process grid whose ranks are in row-major order. The grid
// is created only when the number of processes is known: the extents come from the user, and their
// product can be far larger.
PinnedEnd balancedOn(std::vector<int> grid, Properties properties) {
  return
      [grid = std::move(grid), given = std::move(properties)](const Shape& shape, Index processes) {
        return Layout({.shape = shape, .grid = gridWithin(grid, processes), .properties = given});
      };
}

// Parses "4x2:S2,S3"; an empty text pins nothing.
PinnedEnd endFrom(const std::string& text, const char* setting) {
  if (text.empty())
    return {};
  const std::size_t colon = text.find(':');
  std::vector<int> grid;
  for (const std::string& extent : split(text.substr(0, colon), 'x')) {
    const auto number = parseInt(extent);
    if (colon == std::string::npos || !number || *number < 1 ||
        *number > std::numeric_limits<int>::max())
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} is '{}'; pass a process grid with at least 1 process along each "
                              "axis, and a property for each axis, such as 4x2:S2,S3",
                              setting, text));
    grid.push_back(static_cast<int>(*number));
  }
  return balancedOn(std::move(grid), parseProperties(text.substr(colon + 1)));
}

// Parses the shapes of several inputs: "2,64,64;1,64,64".
std::vector<Shape> shapesFrom(const std::string& text) {
  std::vector<Shape> shapes;
  for (const std::string& input : text.empty() ? std::vector<std::string>() : split(text, ';')) {
    const auto extents = parseInts(input);
    if (!extents || std::ranges::any_of(*extents, [](Index extent) { return extent < 1; }))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("input_shapes is '{}'; pass extents of at least 1 for each input, such "
                      "as 2,64,64;1,64,64",
                      text));
    shapes.push_back(*extents);
  }
  return shapes;
}

} // namespace

std::span<const OptionSpec> planOptions() {
  return kPlanOptions;
}

PlanRequest PlanRequest::from(const Settings& settings, const Settings::Owner& owner) {
  const auto textOf = [&](const char* name) { return settings.value<std::string>(name, owner); };
  PlanRequest request;
  request.everyInput = endFrom(textOf("input_grid"), "input_grid");
  request.output = endFrom(textOf("output_grid"), "output_grid");
  request.samples = shapesFrom(textOf("input_shapes"));
  if (request.samples.empty())
    if (const auto sample = settings.find<std::vector<Index>>("input_shape"))
      request.samples = {*sample};
  request.processes = settings.value<Index>("processes", owner);
  request.link = {.latency = settings.value<double>("link_latency", owner),
                  .bandwidth = settings.value<double>("link_bandwidth", owner)};
  request.flops = settings.find<double>("flop_rate");
  request.memory = settings.find<double>("memory_rate");
  request.inputChannels = settings.find<bool>("input_channels");
  request.memoryLimit = static_cast<double>(settings.value<Index>("memory_limit", owner));
  request.mayRecompute = settings.value<bool>("recompute", owner);
  request.haloDepth = settings.value<Index>("halo_depth", owner);
  request.objective = textOf("objective");
  request.optimizerStates = settings.value<Index>("optimizer_state", owner);
  request.stepsPerEvaluation = settings.value<Index>("evaluate_every", owner);
  request.placement = textOf("placement");
  request.fewerProcesses = settings.value<bool>("fewer_processes", owner);
  request.overlap = settings.value<double>("overlap_share", owner);
  return request;
}

void PlanRequest::check() const {
  if (stepsPerEvaluation > 1 && objective != "step")
    throw Error(TENON_ERR_ARG,
                fmt::format("the network is evaluated every {} steps, but the objective is {}; set "
                            "evaluate_every 1, or objective step",
                            stepsPerEvaluation, objective));
  if (haloDepth > 1 && overlap > 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("halo_depth is {} and overlap_share {}: what shared halos save is not "
                            "priced beside computation; set halo_depth 1, or overlap_share 0",
                            haloDepth, overlap));
}

} // namespace tenon
