// SPDX-License-Identifier: BSD-2-Clause
// In which order the layers of a plan are eliminated from a sum of tables. Taking out a layer joins its
// neighbours; the layer with the fewest goes first: chains have width 1, residual networks, U-Nets and all
// series-parallel graphs width 2. A layer with one state is nobody's neighbour.
#pragma once

#include "planner/cost_tables.hpp"

namespace tenon {

struct EliminationStep {
  int layer = -1;
  std::vector<int> neighbours; // those that are eliminated later, the last of them first
  int parent = -1;             // the step of the neighbour that is eliminated first; -1: none
};

// Throws TENON_ERR_SUPPORT naming layer and neighbours where their states are too many together.
std::vector<EliminationStep> eliminationOrder(const CostTables& tables);

} // namespace tenon
