// SPDX-License-Identifier: BSD-2-Clause
// Computes the figures of Gholami et al. (arXiv 1712.04432) from its equations (paper_figures.hpp).
// The time of an iteration is linear in the batch, f(batch) = a + b batch, where a is the time of
// the sums of gradients. It follows from two batches: a = 2 f(batch) - f(2 batch).
#include "studies/paper_figures.hpp"

#include "studies/named_plan.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon {

namespace {

// The parameters of the paper's figures (figure.hpp).
constexpr double kImages = 1.2e6;                 // of an epoch: times are per epoch
constexpr Index kStrongBatch = 2048;              // figures 6 and 7: a fixed global batch
constexpr Index kSamplesEach = 4;                 // figure 9: a batch of 4 samples per process
constexpr Index kProcesses[] = {8, 32, 128, 512}; // figures 6, 7 and 9: a panel for each
constexpr Index kSmallBatch = 512;                // figure 10: fewer samples than processes
constexpr Index kManyProcesses[] = {512, 1024, 2048, 4096}; // figure 10: a bar for each

// Computes the communication time of an epoch on a grid of rows x columns processes. In the paper's
// grids the columns divide the batch; the rows divide the model (Eq. 8) or the domain (Eq. 9).
class FigureCost {
public:
  FigureCost(const std::string& network, Index batch, double latency, double bandwidth)
      : batch_(batch) {
    const NetworkSource source = readNetworkSource(network);
    for (auto* plan : {&once_, &twice_}) {
      *plan = makeRef<NamedPlan>(source, plan == &once_ ? batch : 2 * batch);
      (*plan)->set("link_latency", latency);
      (*plan)->set("link_bandwidth", bandwidth);
    }
  }

  // The bar of a grid, with the sums of gradients as a part of it. If `convolutionsSplitBatchOnly`,
  // convolutions use the grid 1 x (rows columns) instead.
  FigureBar bar(const char* equation, Index rows, Index columns,
                bool convolutionsSplitBatchOnly) const {
    const double once = seconds(*once_, equation, rows, columns, convolutionsSplitBatchOnly);
    const double twice = seconds(*twice_, equation, rows, columns, convolutionsSplitBatchOnly);
    const double epoch = kImages / static_cast<double>(batch_); // iterations of an epoch
    return {fmt::format("{}x{}", rows, columns), epoch * once, epoch * (2 * once - twice)};
  }

private:
  static double seconds(const NamedPlan& plan, const char* equation, Index rows, Index columns,
                        bool convolutionsSplitBatchOnly) {
    const PaperGrid grid{rows, columns}, batchOnly{1, rows * columns};
    return plan.publishedSeconds(equation, grid, convolutionsSplitBatchOnly ? batchOnly : grid);
  }

  Index batch_;
  Ref<NamedPlan> once_, twice_; // the plans for the batch and for twice the batch
};

// All grids of a number of processes, which is a power of two as in the paper.
FigurePanel gridsOf(const FigureCost& cost, Index batch, Index processes,
                    bool convolutionsSplitBatchOnly) {
  FigurePanel panel{fmt::format("{} processes, batch {}", processes, batch), {}};
  for (Index rows = 1; rows <= processes; rows *= 2)
    panel.bars.push_back(cost.bar("eq8", rows, processes / rows, convolutionsSplitBatchOnly));
  return panel;
}

} // namespace

std::vector<FigurePanel> figureOf(const std::string& network, Index figure, double latency,
                                  double bandwidth) {
  std::vector<FigurePanel> panels;
  const auto costFor = [&](Index batch) { return FigureCost(network, batch, latency, bandwidth); };
  switch (figure) {
  case 6:
  case 7:
    for (Index processes : kProcesses)
      panels.push_back(gridsOf(costFor(kStrongBatch), kStrongBatch, processes, figure == 7));
    return panels;
  case 9:
    for (Index processes : kProcesses)
      panels.push_back(
          gridsOf(costFor(kSamplesEach * processes), kSamplesEach * processes, processes, false));
    return panels;
  // With more processes than samples, several processes share each sample: 512 columns, one per
  // sample, and the remaining processes as rows.
  case 10:
    for (const auto& [equation, means] :
         {std::pair("eq9", "domain and batch (Eq. 9)"), {"eq8", "model and batch (Eq. 8)"}}) {
      FigurePanel& panel =
          panels.emplace_back(FigurePanel{fmt::format("{}, batch {}", means, kSmallBatch), {}});
      for (Index processes : kManyProcesses)
        panel.bars.push_back(costFor(kSmallBatch)
                                 .bar(equation, processes / kSmallBatch, kSmallBatch,
                                      /*convolutionsSplitBatchOnly=*/false));
    }
    return panels;
  default:
    return {};
  }
}

} // namespace tenon
