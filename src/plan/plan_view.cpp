// SPDX-License-Identifier: BSD-2-Clause
// A plan as text: of each layer its word as a grid, its layouts, and what it costs by the plan's rates.
#include "plan/layer_plan.hpp"
#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

std::string sentText(const char* what, const PhaseCost& cost) {
  return cost.messages == 0 ? ""
                            : fmt::format(", {} {} of {}", what, counted(cost.messages, "message"),
                                          sizeText(cost.bytes));
}

std::string flopsText(double flops) {
  return flops < 1e6   ? fmt::format("{:.3g} kflop", flops / 1e3)
         : flops < 1e9 ? fmt::format("{:.3g} Mflop", flops / 1e6)
                       : fmt::format("{:.3g} Gflop", flops / 1e9);
}

const PhaseCost& in(const LayerCost& cost, Phase phase) {
  return cost[static_cast<int>(phase)];
}

std::string wordText(const PlannedLayer& planned, double seconds) {
  const Parts& parts = planned.parts;
  const std::string word = planned.letters.empty() ? "one process" : planned.letters;
  std::string text = fmt::format(
      "{}, grid of {} x {} x {} (batch, channels, space)", word, parts.batch, parts.channels,
      parts.spatial.empty() ? fmt::format("{}", parts.space)
                            : fmt::format("{}", fmt::join(parts.spatial, " x ")));
  if (planned.runnerUp.empty())
    return text;
  constexpr double kRounding = 1e-12;
  const double longer = planned.runnerUpSeconds - seconds;
  return text + fmt::format("; next best {}, the plan with it takes {}", planned.runnerUp,
                            longer > kRounding * seconds
                                ? fmt::format("{:.4g} ms longer", 1e3 * longer)
                                : "as long");
}

} // namespace

std::string LayerPlan::titleOf(const Layer& network) {
  return network.name().empty() ? "the network" : network.title();
}

std::string LayerPlan::describe(const PlannedNode& node, const LayerCost& most) const {
  const Layer& layer = *node.layer;
  const Layout& output = layer.outputLayout();
  std::string text = fmt::format("  {}: {}\n", node.path,
                                 node.planned       ? wordText(*node.planned, found().seconds)
                                 : node.isOfNetwork ? "follows what it reads"
                                                    : "redistribution");
  for (const Layout& input : layer.inputLayouts())
    text += fmt::format("    input  {}\n", input.summary(output.mesh()));
  text += fmt::format("    output {}\n", output.summary(output.mesh()));
  const PhaseCost &apply = in(most, Phase::ApplyKernel), &adjoint = in(most, Phase::AdjointKernel);
  if (node.planned)
    text +=
        fmt::format("    predicted {:.4g} ms, {}; {} in Apply, {} in the adjoint\n",
                    1e3 * sumOf(most).seconds, sizeText(static_cast<Index>(node.planned->bytes)),
                    flopsText(apply.work.flops), flopsText(adjoint.work.flops));
  const std::string sent = sentText("Apply", in(most, Phase::ApplyMove)) +
                           sentText("adjoint", in(most, Phase::AdjointMove)) +
                           sentText("gradients", in(most, Phase::Gradients));
  return sent.empty() ? text : text + "    at most per process: " + sent.substr(2) + "\n";
}

std::string LayerPlan::describe() const {
  std::vector<LayerCost> most = costs(0, false);
  for (int rank = 1; rank < comm()->size(); ++rank) {
    const std::vector<LayerCost> other = costs(rank, false);
    for (std::size_t node = 0; node < most.size(); ++node)
      for (int phase = 0; phase < kPhases; ++phase) {
        most[node][phase].messages =
            std::max(most[node][phase].messages, other[node][phase].messages);
        most[node][phase].bytes = std::max(most[node][phase].bytes, other[node][phase].bytes);
      }
  }
  const FoundPlan& plan = found();
  const Memory held = memory();
  std::string text =
      fmt::format("Plan of {}: batch {}, {} on process grid {}\n  predicted {:.4g} ms per training "
                  "step and {} per "
                  "process\n",
                  titleOf(*network_), batch(), counted(plan.grid->size(), "process", "processes"),
                  plan.grid->size() == 1 ? "1" : plan.grid->describe(), 1e3 * plan.seconds,
                  sizeText(static_cast<Index>(plan.bytes)));
  const auto compare = [&](const char* what, const std::optional<Baseline>& baseline) {
    if (baseline)
      text += fmt::format("  {}: {:.4g} ms\n", what, 1e3 * baseline->seconds);
  };
  text += fmt::format("  memory on rank {}: {}; values kept for adjoints {}, shared by lifetimes "
                      "{}, parameters and "
                      "gradients {}, messages {}, scratch of kernels {}\n  {}\n",
                      comm()->rank(), sizeText(held.total()), sizeText(held.kept),
                      sizeText(held.shared), sizeText(held.parameters), sizeText(held.messages),
                      sizeText(held.scratch),
                      counted(reductions(), "reduction of gradients", "reductions of gradients"));
  compare("the same grid for all layers", plan.baselines.uniform);
  compare("batch only", plan.baselines.batch);
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    text += describe(nodes_[node], most[node]);
  return text;
}

} // namespace tenon
