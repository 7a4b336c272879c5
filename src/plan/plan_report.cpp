// SPDX-License-Identifier: BSD-2-Clause
// A plan as text. LayerPlan::describe() is the view: parallelization, layouts and predicted cost of
// each layer. LayerPlan::report() compares predictions with measurements by layer and phase
// (kernels and communication of Apply and adjoint, gradients), and lists the phases whose ratio is
// furthest from one:
//
//   layer   phase          predicted   measured   ratio   messages        bytes
//   conv1   apply kernel      210 us     190 us    1.11
//   conv1   apply move         12 us      15 us    0.80    24 of 24  6144 of 6144
//
// Seconds are those of the slowest rank, messages and bytes those of all ranks. calibrated() fits
// the rates of the machine to the same measurements. A view is not collective, because layouts
// determine the messages of every other rank; report() and calibrated() are collective, because
// times are measured. Class LayerPlan is in layer_plan.hpp.
#include "comm/agreement/agreement.hpp"
#include "plan/calibration.hpp"
#include "plan/layer_plan.hpp"
#include "sys/data_type.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

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

const PhaseCost& costIn(const LayerCost& cost, Phase phase) {
  return cost[static_cast<int>(phase)];
}

std::string parallelizationText(const PlannedLayer& planned, double seconds) {
  const Parts& parts = planned.parts;
  const std::string parallelization = planned.labels.empty() ? "one process" : planned.labels;
  std::string text =
      fmt::format("{}{}, grid of {} x {} x {} (batch, channels, space)", parallelization,
                  fieldIn(parallelization).empty() ? "" : fmt::format(": {}", planned.meaning),
                  parts.batch, parts.channels,
                  parts.spatial.empty() ? fmt::format("{}", parts.space)
                                        : fmt::format("{}", fmt::join(parts.spatial, " x ")));
  if (planned.runnerUp.empty())
    return text;
  constexpr double kRounding = 1e-12; // relative; plans that differ by less take as long
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

// The lines of one layer. `most` has the largest numbers of messages and bytes of any rank.
std::string LayerPlan::describe(const PlannedNode& node, const LayerCost& most) const {
  const Layer& layer = *node.layer;
  const Layout& output = layer.outputLayout();
  std::string text = fmt::format("  {}: {}\n", node.path,
                                 node.planned ? parallelizationText(*node.planned, found().seconds)
                                 : node.isOfNetwork ? "follows what it reads"
                                                    : "redistribution");
  for (const Layout& input : layer.inputLayouts())
    text += fmt::format("    input  {}\n", input.summary(output.grid()));
  text += fmt::format("    output {}\n", output.summary(output.grid()));
  const PhaseCost &apply = costIn(most, Phase::ApplyKernel),
                  &adjoint = costIn(most, Phase::AdjointKernel);
  if (node.planned)
    text +=
        fmt::format("    predicted {:.4g} ms, {}; {} in Apply, {} in the adjoint\n",
                    1e3 * sumOf(most).seconds, sizeText(static_cast<Index>(node.planned->bytes)),
                    flopsText(apply.work.flops), flopsText(adjoint.work.flops));
  const std::string sent = sentText("Apply", costIn(most, Phase::ApplyMove)) +
                           sentText("adjoint", costIn(most, Phase::AdjointMove)) +
                           sentText("gradients", costIn(most, Phase::Gradients));
  return sent.empty() ? text : text + "    at most per process: " + sent.substr(2) + "\n";
}

std::string LayerPlan::describe() const {
  if (!isSetUp())
    return NetworkPlan::describe();
  // The rank that sends the most is known only after all have been counted.
  std::vector<LayerCost> most = costs(/*rank=*/0, /*inputCotangent=*/false);
  for (int rank = 1; rank < comm()->size(); ++rank) {
    const std::vector<LayerCost> other = costs(rank, /*inputCotangent=*/false);
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
                      comm()->rank(), sizeText(held.total()), sizeText(held.saved),
                      sizeText(held.shared), sizeText(held.parameters), sizeText(held.messages),
                      sizeText(held.scratch),
                      counted(reductions(), "reduction of gradients", "reductions of gradients"));
  if (!plan.recomputed.empty())
    text += "  " + recomputedText(plan) + "\n";
  if (!plan.shared.empty())
    text += "  " + sharedText(plan) + "\n";
  compare("the same grid for all layers", plan.baselines.uniform);
  compare("batch only", plan.baselines.batch);
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    text += describe(nodes_[node], most[node]);
  return text;
}

namespace {

using Row = ComparedPhase;

// Times are reduced as whole nanoseconds, since reduceNumbers() has integers.
constexpr double kNanoseconds = 1e9;

// Combines the rows of all ranks: seconds of the slowest rank, messages and bytes of all.
void gather(Communicator& comm, std::vector<Row>& rows) {
  auto [times, sums] = collectively(comm, [&] {
    std::vector<std::uint64_t> seconds, counts;
    for (const Row& row : rows) {
      seconds.push_back(static_cast<std::uint64_t>(row.measured.seconds * kNanoseconds));
      for (const PhaseCost& cost : {row.predicted, row.measured}) {
        counts.push_back(static_cast<std::uint64_t>(cost.messages));
        counts.push_back(static_cast<std::uint64_t>(cost.bytes));
      }
    }
    return std::pair(std::move(seconds), std::move(counts));
  });
  reduceNumbers(comm, times, MPI_MAX);
  reduceNumbers(comm, sums, MPI_SUM);
  // A row has four counts, in the order in which they were appended above.
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].measured.seconds = static_cast<double>(times[r]) / kNanoseconds;
    rows[r].predicted.messages = static_cast<Index>(sums[4 * r]);
    rows[r].predicted.bytes = static_cast<Index>(sums[4 * r + 1]);
    rows[r].measured.messages = static_cast<Index>(sums[4 * r + 2]);
    rows[r].measured.bytes = static_cast<Index>(sums[4 * r + 3]);
  }
}

std::string secondsText(double seconds) {
  return seconds <= 0 ? "-" : fmt::format("{:.4g} us", 1e6 * seconds);
}

// "3 of 3" messages or bytes: measured of predicted.
std::string countText(Index measured, Index predicted) {
  return measured == 0 && predicted == 0 ? "" : fmt::format("{} of {}", measured, predicted);
}

std::string lineOf(const Row& row, const std::string& layer) {
  return fmt::format("  {:<18} {:<14} {:>11} {:>11} {:>6} {:>10} {:>19}", layer,
                     phaseName(row.phase), secondsText(row.predicted.seconds),
                     secondsText(row.measured.seconds),
                     row.isComparable() ? fmt::format("{:.2f}", row.ratio()) : "",
                     countText(row.measured.messages, row.predicted.messages),
                     countText(row.measured.bytes, row.predicted.bytes));
}

// The rate for which the prediction would be true.
std::string explanation(const Row& row, int ranks) {
  if (row.isKernel() && row.predicted.work.flops == 0)
    return fmt::format("{:.3g} GB/s in place of {:.3g}",
                       row.predicted.work.bytes / row.measured.seconds / 1e9,
                       row.predicted.work.bytes / row.predicted.seconds / 1e9);
  if (row.isKernel())
    return fmt::format("{:.3g} Gflop/s in place of {:.3g}",
                       row.predicted.work.flops / row.measured.seconds / 1e9,
                       row.predicted.work.flops / row.predicted.seconds / 1e9);
  return fmt::format("{:.3g} MB/s and rank, latency included, in place of {:.3g}",
                     double(row.measured.bytes) / ranks / row.measured.seconds / 1e6,
                     double(row.predicted.bytes) / ranks / row.predicted.seconds / 1e6);
}

// The parts of the prices of all layers and phases: latency, transfer and copying, which
// calibration.hpp finds as slopes of a price. All costs are computed once for each slope, which
// takes no longer than for a single layer.
class PartsOfAll {
public:
  using CostsBy = std::function<std::vector<LayerCost>(const LinkRates&)>;
  PartsOfAll(const LinkRates& rates, const CostsBy& costsBy) {
    visitSlopes(rates, [&](const LinkRates& some) { costs_.push_back(costsBy(some)); });
  }
  PriceParts of(int node, Phase phase) const {
    const auto seconds = [&](std::size_t rates) {
      return costs_[rates][node][static_cast<int>(phase)].seconds;
    };
    PriceParts parts{};
    for (int part = 0; part < kPriceParts; ++part)
      parts[part] = slopeOf(seconds(0), seconds(1 + part));
    return parts;
  }

private:
  std::vector<std::vector<LayerCost>> costs_;
};

} // namespace

std::string LayerPlan::worstText(std::vector<Row> rows) const {
  const int ranks = comm()->size();
  // Sorted by the logarithm of the ratio: twice as long and half as long are equally far from the
  // prediction.
  std::erase_if(rows, [](const Row& row) { return !row.isComparable(); });
  std::ranges::stable_sort(rows, std::greater(),
                           [](const Row& row) { return std::abs(std::log(row.ratio())); });
  std::string text;
  for (std::size_t r = 0; r < std::min<std::size_t>(3, rows.size()); ++r)
    text += fmt::format("  {}. {}, {}: predicted {:.3g} times what was measured; {}\n", r + 1,
                        nodes_[rows[r].node].path, phaseName(rows[r].phase), rows[r].ratio(),
                        explanation(rows[r], ranks));
  return text.empty() ? text : "  furthest from the prediction:\n" + text;
}

std::vector<ComparedPhase> LayerPlan::compared() const {
  if (measured().passes() == 0)
    throw Error(TENON_ERR_STATE, "no step was measured; turn the log on with TenonLogEnable() or "
                                 "-tenon_log_view before steps of training");
  const std::vector<LayerCost> predicted = costs(comm()->rank(), measured().wantedInput());
  std::vector<Row> rows;
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    for (int p = 0; p < kPhases; ++p) {
      const auto phase = static_cast<Phase>(p);
      rows.push_back({.node = node,
                      .phase = phase,
                      .predicted = predicted[node][p],
                      .measured = measured().of(node, phase)});
    }
  gather(*comm(), rows);
  return rows;
}

std::string LayerPlan::report() const {
  std::vector<Row> rows = compared();
  std::erase_if(rows, [](const Row& row) {
    return row.predicted.seconds == 0 && row.measured.messages == 0 && row.measured.seconds == 0;
  });
  Row all{.node = -1, .phase = Phase::ApplyKernel, .predicted = {}, .measured = {}};
  std::string text = fmt::format(
      "Plan of {}: predicted and measured on the slowest of {}, median of {}; messages and bytes "
      "of all, measured of predicted\n  {:<18} {:<14} {:>11} {:>11} {:>6} {:>10} {:>19}\n",
      titleOf(*network_), counted(comm()->size(), "process", "processes"),
      counted(measured().passes(), "step"), "layer", "phase", "predicted", "measured", "ratio",
      "messages", "bytes");
  for (const Row& row : rows) {
    text += lineOf(row, nodes_[row.node].path) + "\n";
    all.predicted += row.predicted;
    all.measured += row.measured;
  }
  text += fmt::format("  all: predicted {}, measured {}, ratio {:.2f}\n",
                      secondsText(all.predicted.seconds), secondsText(all.measured.seconds),
                      all.ratio());
  return text + worstText(rows);
}

OwnRates LayerPlan::calibrated() const {
  const std::vector<Row> rows = compared();
  // The work of kernels and the slopes of moves are the same on all ranks, and the times are those
  // of the slowest one: all ranks fit the same rates without another message.
  const OwnRates known = rates();
  const auto costsBy = [&](const LinkRates& links) {
    return costsOf(layer(), comm()->rank(), measured().wantedInput(),
                   {.links = links, .kernels = known.kernels});
  };
  std::vector<MeasuredKernel> kernels;
  std::vector<MeasuredMove> moves;
  const PartsOfAll parts(known.links, costsBy);
  for (const Row& row : rows)
    if (row.isKernel())
      kernels.push_back({.kind = nodes_[row.node].layer->declaration().kernelKind(),
                         .work = row.predicted.work,
                         .seconds = row.measured.seconds});
    else if (row.isComparable())
      moves.push_back({.parts = parts.of(row.node, row.phase), .seconds = row.measured.seconds});
  return fittedRates(kernels, moves, dataTypeSize(network_->dataType()), known);
}

} // namespace tenon
