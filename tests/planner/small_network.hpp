// SPDX-License-Identifier: BSD-2-Clause
// A network small enough for exhaustive search, and tables of exact prices.
#pragma once

#include "planner/prices/cost_model.hpp"
#include "studies/network_table.hpp"

#include <gtest/gtest.h>

namespace tenon::test {

// Two convolutions, of which the second has a stride of 2, and an affine layer that reads the
// 6 x 6 x 5 = 180 elements of the second's output. Weights are counted without biases, for example
// 8 x 3 x 3 x 3 = 216.
inline NetworkTable smallNetwork() {
  NetworkTable table{.name = "small", .about = "", .splitDims = 2, .layers = {}, .edges = {}};
  table.layers.push_back({.name = "a",
                          .kernel = 3,
                          .input = {12, 10},
                          .output = {12, 10},
                          .inChannels = 3,
                          .outChannels = 8,
                          .weights = 216,
                          .readsInput = true});
  table.layers.push_back({.name = "b",
                          .kernel = 3,
                          .input = {12, 10},
                          .output = {6, 5},
                          .inChannels = 8,
                          .outChannels = 6,
                          .weights = 432});
  table.layers.push_back({.name = "c",
                          .kind = TableLayer::Kind::Affine,
                          .input = {},
                          .output = {},
                          .inChannels = 180,
                          .outChannels = 24,
                          .weights = 4320,
                          .splitSpace = false});
  table.edges = {{.from = 0, .to = 1, .elements = 8 * 12 * 10},
                 {.from = 1, .to = 2, .elements = 6 * 6 * 5}};
  return table;
}

// Tables of the exact prices of all layers and moves, which all positions of the grid determine.
// Checks that the lower bounds of a search are not above them.
inline CostTables exactTables(const CostModel& model,
                              const ParallelizationLists& parallelizations) {
  CostTables tables = tablesOf(model, parallelizations);
  for (int layer = 0; layer < tables.layers(); ++layer)
    for (int state = 0; state < tables.states(layer); ++state) {
      const double exact =
          model.layerSeconds(layer, parallelizations[layer][state], Precision::Exact);
      EXPECT_LE(tables.seconds[layer][state], exact * (1 + 1e-12));
      tables.seconds[layer][state] = exact;
    }
  for (std::size_t m = 0; m < tables.pairs.size(); ++m) {
    PairTable& pair = tables.pairs[m];
    std::size_t cell = 0;
    for (int from : parallelizations[pair.from])
      for (int to : parallelizations[pair.to]) {
        const double exact = model.moveSeconds(static_cast<int>(m), from, to, Precision::Exact);
        EXPECT_LE(pair.seconds[cell], exact * (1 + 1e-12));
        pair.seconds[cell++] = exact;
      }
  }
  return tables;
}

} // namespace tenon::test
