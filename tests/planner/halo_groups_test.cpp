// SPDX-License-Identifier: BSD-2-Clause
// Tests the groups of layers with windows that share a halo exchange
// (planner/search/halo_groups.hpp): on random chains, against all divisions into groups; on a
// network of convolutions, against the prices of all sets of layers that exchange their halos.
#include "planner/prices/own_model.hpp"
#include "planner/search/halo_groups.hpp"
#include "planner/search/plan_search.hpp"
#include "support/draws.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace tenon {
namespace {

// A chain of windows in which each group saves a random number of seconds. Some windows (not
// isOpen) cannot compute their halo, even if they may.
struct DrawnChain {
  explicit DrawnChain(std::mt19937& random)
      : windows(std::uniform_int_distribution<int>(0, 7)(random)), isOpen(windows) {
    std::uniform_real_distribution<double> saving(-1, 2);
    for (int first = 0; first < windows; ++first) {
      isOpen[first] = std::bernoulli_distribution(0.8)(random);
      for (int end = first + 2; end <= windows; ++end)
        saves[{first, end}] = saving(random);
    }
  }

  HaloRun run(const std::vector<bool>& mayCompute) const {
    HaloRun run{.seconds = 100};
    for (int first = 0; first < windows;) {
      int end = first + 1;
      for (; end < windows && mayCompute[end] && isOpen[end]; ++end)
        run.computed.push_back(end);
      if (end > first + 1) {
        run.seconds -= saves.at({first, end});
        run.bytes += end - first;
      }
      first = end;
    }
    return run;
  }

  int windows;
  std::vector<bool> isOpen;
  std::map<std::pair<int, int>, double> saves;
};

// The size of the largest group.
int longest(const std::vector<bool>& computes) {
  int most = 0, now = 1;
  for (const bool one : computes)
    most = std::max(most, now = one ? now + 1 : 1);
  return most;
}

TEST(HaloGroups, AreTheFastestOfAllDivisions) {
  std::mt19937 random(3);
  for (int draw = 0; draw < 200; ++draw) {
    const DrawnChain chain(random);
    const Index depth = std::uniform_int_distribution<int>(1, 8)(random);
    const auto run = [&](const std::vector<bool>& mayCompute) { return chain.run(mayCompute); };
    double least = 100;
    for (int bits = 0; bits < 1 << chain.windows; ++bits) {
      std::vector<bool> computes;
      for (int window = 0; window < chain.windows; ++window)
        computes.push_back(bits >> window & 1);
      if (chain.windows > 0 && !computes.front() && longest(computes) <= depth)
        least = std::min(least, run(computes).seconds);
    }
    const HaloRun found = fastestHalos(chain.windows, depth, 0, run);
    EXPECT_NEAR(found.seconds, least, 1e-12) << draw;
    // Within a limit of 2 bytes only one group of two windows fits.
    const HaloRun small = fastestHalos(chain.windows, depth, 2, run);
    EXPECT_LE(small.bytes, 2);
    EXPECT_LE(small.seconds, 100);
  }
}

// A chain of periodic convolutions. Those in the bit mask `exchanging` must exchange their halos.
DeclaredNetwork closure(int convolutions, int exchanging) {
  std::string text = R"({"format": "tenon-network-1", "type": "sequential", "layers": [)";
  for (int i = 0; i < convolutions; ++i)
    text += fmt::format(
        R"({}{{"type": "conv", "name": "L{}", "in_channels": 4, "out_channels": 4, "kernel": [3, 3],
 "padding": [1, 1], "boundary": "periodic", "halo": "{}"}})",
        i > 0 ? ", " : "", i, exchanging >> i & 1 ? "exchange" : "auto");
  return declareNetwork(parseNetwork(
                            text + "]}", "net.json",
                            [](const std::string&) { return std::unique_ptr<Declaration>(); }, 4),
                        {1, 4, 32, 32});
}

// On blocks of 16 x 16 cells.
TEST(HaloGroups, NoOtherGroupsSaveMoreByTheModelsPrices) {
  const Layout field({.shape = {1, 4, 32, 32},
                      .grid = Grid::make({2, 2}),
                      .properties = parseProperties("S2,S3")});
  const int convolutions = test::drawsAll() ? 6 : 4;
  FixedParallelizations fixed;
  for (int i = 0; i < convolutions; ++i)
    fixed[fmt::format("L{}", i)] = "input:h,w";
  // The slower the kernels, the more it costs to compute a halo, and the smaller the best groups.
  for (const double flops : {5e10, 2e11, 1e13}) {
    const auto modelWhere = [&](int exchanging) {
      const OwnRates rates{.links = {.latency = 2e-6, .bandwidth = 6e9},
                           .kernels = {.flops = flops}};
      return OwnModel(closure(convolutions, exchanging), FineGrid({4}), rates,
                      {.objective = Objective::Inference, .input = field, .output = field});
    };
    const OwnModel model = modelWhere(0);
    const std::vector<int> parallelizations = findPlan(model, {.fixed = fixed}).parallelizations;
    const double most = model.sharedHalos(parallelizations, convolutions, 0).seconds;
    EXPECT_GT(most, 0) << flops;
    // Bit 0 stays 0: the first convolution exchanges its halo in any case.
    for (int exchanging = 2; exchanging < 1 << convolutions; exchanging += 2)
      EXPECT_LE(modelWhere(exchanging).sharedHalos(parallelizations, convolutions, 0).seconds,
                most * (1 + 1e-9))
          << flops << " " << exchanging;
  }
}

} // namespace
} // namespace tenon
