// SPDX-License-Identifier: BSD-2-Clause
// Compares predicted times of reduction programs (placement/simulation.hpp) with those that the
// appendix of the paper prints for real machines (Xie et al., cited in
// reduction/collective_rule.hpp; the numbers are in tests/data/paper_times.json): the cases, and
// Spearman's rank correlation as a measure of whether both have the same order. Used by a test and
// by the benchmark p2_simulator.
#pragma once

#include "machine/machine_file.hpp"
#include "placement/simulation.hpp"
#include "placement/synthesis.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace tenon::test {

// Bytes on each device. The paper's times are those of ten runs; 2^29 numbers of float32 agree with
// them.
inline constexpr double kPaperBytes = 10 * 4.0 * (1 << 29);

// One case, with the times in seconds of the single AllReduce and of the fastest program: as
// printed, and as predicted.
struct PaperCase {
  std::string machine, label;
  double allReducePrinted, optimalPrinted, allReduce, optimal;
};

inline Placement placementOf(const nlohmann::json& matrix) {
  return Placement(matrix.get<std::vector<std::vector<Index>>>());
}

// The time of the single AllReduce, and that of the fastest of all programs.
inline std::pair<double, double> predicted(const Machine& machine, const Placement& placement,
                                           const std::vector<int>& axes,
                                           ReductionAlgorithm algorithm) {
  Simulation simulation(machine, placement, axes, algorithm, kPaperBytes);
  const int levels = static_cast<int>(placement.reductionHierarchy(axes).size());
  const auto programs = reductionPrograms(levels, /*sizeLimit=*/5); // the single AllReduce first
  double least = simulation.seconds(programs->program(0));
  const double allReduce = least;
  for (Index i = 1; i < programs->count(); ++i)
    least = std::min(least, simulation.seconds(programs->program(i)));
  return {allReduce, least};
}

// All rows of tests/data/paper_times.json for one machine that have a time by the algorithm.
inline std::vector<PaperCase> paperCases(const std::string& machine, ReductionAlgorithm algorithm) {
  const char* column = algorithm == ReductionAlgorithm::Ring ? "ring" : "tree";
  std::ifstream file(TENON_TEST_DATA "/paper_times.json");
  std::vector<PaperCase> cases;
  const nlohmann::json whole = nlohmann::json::parse(file);
  for (const auto& row : whole.at("rows")) {
    if (row.at("machine") != machine || !row.at("allreduce").contains(column))
      continue;
    const Machine described =
        readMachine(TENON_TEST_MACHINES "/" + machine + ".json", row.at("nodes").get<Index>());
    const auto [allReduce, optimal] =
        predicted(described, placementOf(row.at("matrix")),
                  row.at("reduce").get<std::vector<int>>(), algorithm);
    cases.push_back({.machine = machine,
                     .label = row.at("matrix").dump() + " over " + row.at("reduce").dump(),
                     .allReducePrinted = row.at("allreduce").at(column),
                     .optimalPrinted = row.at("optimal").at(column),
                     .allReduce = allReduce,
                     .optimal = optimal});
  }
  return cases;
}

// Returns the ranks of values in ascending order, from 1; equal values get the mean of their ranks.
inline std::vector<double> ranksOf(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] <= values[order[from]] * (1 + 1e-12))
      ++to;
    for (std::size_t i = from; i < to; ++i)
      ranks[order[i]] = (static_cast<double>(from + to) + 1) / 2;
    from = to;
  }
  return ranks;
}

// Spearman's coefficient: the correlation of the ranks.
inline double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranksOf(a), y = ranksOf(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

inline double spearman(const std::vector<PaperCase>& cases, double PaperCase::*a,
                       double PaperCase::*b) {
  std::vector<double> x, y;
  for (const PaperCase& one : cases) {
    x.push_back(one.*a);
    y.push_back(one.*b);
  }
  return spearman(x, y);
}

} // namespace tenon::test
