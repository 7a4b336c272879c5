// SPDX-License-Identifier: BSD-2-Clause
// What a search knows of a network: for each layer a number of states, with their seconds and
// bytes, and for pairs of layers the seconds of what moves between them. A plan is a state of each
// layer.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// Sums of costs that differ by less are equal.
inline constexpr double kCostRounding = 1e-12;

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
  double secondsOf(const std::vector<int>& choice) const;
  double bytesOf(const std::vector<int>& choice) const;
  // The tables with these states of each layer only.
  CostTables restrictedTo(const std::vector<std::vector<int>>& kept) const;
};

} // namespace tenon
