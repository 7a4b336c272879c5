// SPDX-License-Identifier: BSD-2-Clause
// For the benchmarks mesh and exchange: a triangulated torus with 6 edges into each node, whose
// nodes are distributed to the ranks in strips or at random. Strips of a torus of n by n nodes have
// 2 n ghosts, or n for each neighbour.
#pragma once

#include <tenon/types.h>

#include <tenon/mpi.h>

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench {

// The nodes of a torus of n by n, and those of one rank.
struct Torus {
  int n, rank = 0, ranks = 0;
  bool scattered;
  std::vector<TenonInt> ids; // the owned ones first
  TenonInt owned = 0;
  std::vector<int> ghostRanks, ghostRows; // where the others are owned
  std::vector<TenonInt> target, source, keys;

  Torus(MPI_Comm comm, int extent, bool isScattered) : n(extent), scattered(isScattered) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    std::vector<int> rows(std::size_t(n) * n), counts(ranks, 0);
    for (int node = 0; node < n * n; ++node)
      rows[node] = counts[ownerOf(node)]++;
    for (int node = 0; node < n * n; ++node)
      if (ownerOf(node) == rank)
        ids.push_back(node);
    owned = static_cast<TenonInt>(ids.size());
    // Ghosts are numbered by owner, then by node, as many solvers do.
    std::map<std::pair<int, int>, TenonInt> ghosts;
    forEachEdge([&](TenonInt, int, int other) {
      if (ownerOf(other) != rank)
        ghosts[{ownerOf(other), other}] = 0;
    });
    for (auto& [ownerAndNode, index] : ghosts) {
      index = static_cast<TenonInt>(ids.size());
      ids.push_back(ownerAndNode.second);
      ghostRanks.push_back(ownerAndNode.first);
      ghostRows.push_back(rows[ownerAndNode.second]);
    }
    forEachEdge([&](TenonInt i, int key, int other) {
      target.push_back(i);
      keys.push_back(key);
      source.push_back(ownerOf(other) == rank ? rows[other] : ghosts[{ownerOf(other), other}]);
    });
  }
  int ownerOf(int node) const {
    if (!scattered)
      return static_cast<int>(std::int64_t(node) * ranks / (std::int64_t(n) * n));
    return static_cast<int>((std::uint64_t(node) * 0x9e3779b97f4a7c15ULL >> 40) % unsigned(ranks));
  }
  TenonInt listed() const { return static_cast<TenonInt>(ids.size()); }
  TenonInt edges() const { return static_cast<TenonInt>(target.size()); }
  // Calls visit(owned node, key of the edge, id of the node at its source) for the 6 edges into
  // each owned node.
  template <class Visit>
  void forEachEdge(Visit visit) const {
    constexpr int kSteps[6][2] = {{0, 1}, {1, 0}, {1, 1}, {0, -1}, {-1, 0}, {-1, -1}};
    for (TenonInt i = 0; i < owned; ++i) {
      const int node = static_cast<int>(ids[i]);
      for (const auto& step : kSteps)
        visit(i, static_cast<int>(6 * node + (&step - kSteps)),
              (node / n + step[0] + n) % n * n + (node % n + step[1] + n) % n);
    }
  }
  std::string name() const {
    return fmt::format("{} {}^2 nodes", scattered ? "scattered" : "strips", n);
  }
};

} // namespace tenon::bench
