// SPDX-License-Identifier: BSD-2-Clause
// The input of a search: for each layer a number of states (parallelizations) with their seconds
// and bytes, and for pairs of layers the seconds of the communication between them. A plan chooses
// one state of each layer, and costs the sum of their entries:
//
//   seconds(plan) = sum over layers of seconds[layer][state]
//                 + sum over pairs of seconds[state of from][state of to]
#pragma once

#include <string>
#include <vector>

namespace tenon {

// Relative difference below which two sums of costs are considered equal.
inline constexpr double kCostRounding = 1e-12;

// The seconds of the communication between two layers.
struct PairTable {
  int from = 0, to = 0;        // two different layers
  std::vector<double> seconds; // [states of from][states of to]
};

struct CostTables {
  std::vector<std::string> names;
  std::vector<std::vector<double>> seconds, bytes; // by layer and state
  std::vector<PairTable> pairs;

  int layers() const { return static_cast<int>(seconds.size()); }
  int states(int layer) const { return static_cast<int>(seconds[layer].size()); }
  // The costs of a plan, the state of each layer.
  double secondsOf(const std::vector<int>& choice) const;
  double bytesOf(const std::vector<int>& choice) const;
  // Returns tables with the candidate states of each layer only.
  CostTables restrictedTo(const std::vector<std::vector<int>>& candidates) const;
};

} // namespace tenon
