// SPDX-License-Identifier: BSD-2-Clause
// Graphs drawn for tests, the same on all ranks, and what each rank has of them.
#pragma once

#include "linop/exchange/make_edges.hpp"
#include "linop/exchange/make_index_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace tenon::test {

struct MeshEdge {
  int source, target; // numbers of nodes
  Index key;          // by which the sum over the edges of a target is ordered
  double weight;      // a small integer, such that sums are exact; not 0
};

// Directed, with loops, parallel edges and nodes without edges. Ids are drawn from [-2^62, 2^63):
// as in a user's mesh, they are neither consecutive nor all positive.
struct MeshGraph {
  std::vector<Index> targets, sources; // ids; one set of nodes if they are equal
  std::vector<MeshEdge> edges;

  MeshGraph(unsigned seed, bool twoSets, int mostNodes = 30, int mostEdges = 90) {
    std::mt19937_64 engine(seed);
    const auto upTo = [&](int n) { return static_cast<int>(engine() % (std::uint64_t(n) + 1)); };
    std::map<Index, bool> used;
    const auto ids = [&] {
      std::vector<Index> list;
      for (int n = 1 + upTo(mostNodes - 1); n > 0;) {
        const Index id = static_cast<Index>(engine() >> 1) - (engine() % 2 ? 0 : Index(1) << 62);
        if (used.emplace(id, true).second) {
          list.push_back(id);
          --n;
        }
      }
      return list;
    };
    targets = ids();
    sources = twoSets ? ids() : targets;
    const int targetCount = static_cast<int>(targets.size()),
              sourceCount = static_cast<int>(sources.size());
    // Only the first half of the targets is drawn, which leaves nodes that receive no edge. One
    // edge in ten is followed by a parallel one with another key.
    for (int e = upTo(mostEdges); e > 0; --e) {
      MeshEdge edge{.source = upTo(sourceCount - 1),
                    .target = upTo((targetCount + 1) / 2 - 1),
                    .key = Index(1000 - 7 * e),
                    .weight = double(1 + upTo(3)) * (upTo(1) ? 1 : -1)};
      if (!twoSets && upTo(9) == 0)
        edge.source = edge.target;
      edges.push_back(edge);
      if (upTo(9) == 0) {
        edge.key += 5000;
        edges.push_back(edge);
      }
    }
  }
  bool hasTwoSets() const { return targets != sources; }
};

// The nodes of one set that a rank lists, and their map.
struct MeshNodes {
  std::vector<int> listed; // by number, the owned ones first
  Index owned = 0;
  IndexMapPtr map;
};

// What is deliberately wrong with the lists of a rank, for tests that must find it.
enum class MeshFault {
  None,
  GhostMissing,     // a ghost is not listed, and the edges from it read the node listed before it
  TargetsExchanged, // two edges have each other's targets
  KeysLocal,        // keys are 0, 1, 2, ... on each rank, so that they repeat between ranks
  EdgeTwice         // an edge is listed twice, and counts twice
};

// How the lists of a graph are made. Edges have keys by which a sum over them is ordered (`keyed`).
// They are on the rank that owns their target or, with `anywhere`, on any rank.
struct MeshOptions {
  bool weighted = false, keyed = true;
  bool anywhere = false; // some edges are also listed by a second rank
  MeshFault fault = MeshFault::None;
};

// A rank's part of a graph, as the library's edges.
struct MeshPart {
  MeshNodes targets, sources; // equal if there is one set
  std::vector<int> edges;     // by number
  EdgesPtr list;

  // The owner of a node is a function of its id and the seed. With three or more ranks, one of them
  // owns nothing.
  MeshPart(const CommPtr& comm, const MeshGraph& graph, unsigned seed, MeshOptions options = {}) {
    const int rank = comm->rank(), size = comm->size();
    const int empty = size > 2 ? static_cast<int>(seed) % size : -1;
    const auto ownerOf = [&](Index id) {
      std::mt19937_64 engine(static_cast<std::uint64_t>(id) ^ seed);
      const int owner = static_cast<int>(engine() % std::uint64_t(size));
      return owner == empty ? (owner + 1) % size : owner;
    };
    const auto isMine = [&](const MeshEdge& edge) {
      if (!options.anywhere)
        return ownerOf(graph.targets[edge.target]) == rank;
      // A third of the edges is also listed by the rank after the first one.
      const int one = ownerOf(edge.key), second = (one + 1) % size;
      return one == rank || (edge.key % 3 == 0 && second == rank && second != empty);
    };
    std::mt19937 order(seed + 31 * static_cast<unsigned>(rank));
    const auto own = [&](const std::vector<Index>& ids, MeshNodes& nodes) {
      for (int n = 0; n < static_cast<int>(ids.size()); ++n)
        if (ownerOf(ids[n]) == rank)
          nodes.listed.push_back(n);
      std::ranges::shuffle(nodes.listed, order);
      nodes.owned = static_cast<Index>(nodes.listed.size());
    };
    own(graph.targets, targets);
    if (graph.hasTwoSets())
      own(graph.sources, sources);
    for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e)
      if (isMine(graph.edges[e]))
        edges.push_back(e);
    std::ranges::shuffle(edges, order);
    MeshNodes& from = graph.hasTwoSets() ? sources : targets;
    // The position of a node in the rank's list. A node that is not listed yet becomes a ghost.
    const auto placeIn = [](MeshNodes& nodes, int node) {
      const auto found = std::ranges::find(nodes.listed, node) - nodes.listed.begin();
      if (found == static_cast<std::ptrdiff_t>(nodes.listed.size()))
        nodes.listed.push_back(node);
      return static_cast<Index>(found);
    };
    ListedEdges listed;
    for (int e : edges) {
      const MeshEdge& edge = graph.edges[e];
      listed.source.push_back(placeIn(from, edge.source));
      listed.target.push_back(placeIn(targets, edge.target));
      if (options.keyed || options.anywhere)
        listed.key.push_back(edge.key);
      if (options.weighted)
        listed.weights.push_back(edge.weight);
    }
    plant(options.fault, from, listed);
    const auto map = [&](const std::vector<Index>& ids, MeshNodes& nodes) {
      std::vector<Index> list;
      for (int n : nodes.listed)
        list.push_back(ids[n]);
      nodes.map = makeIndexMapFromIds(*comm, nodes.owned, list);
    };
    map(graph.targets, targets);
    if (graph.hasTwoSets())
      map(graph.sources, sources);
    else
      sources = targets;
    list = options.anywhere ? makeSharedEdges(comm, targets.map, sources.map, std::move(listed), {})
                            : makeEdges(comm, targets.map, sources.map, std::move(listed));
  }

private:
  // Makes the lists wrong, where they have enough nodes and edges for this fault.
  void plant(MeshFault fault, MeshNodes& from, ListedEdges& listed) {
    const Index last = static_cast<Index>(from.listed.size()) - 1;
    const auto other = std::ranges::find_if(
        listed.target, [&](Index target) { return target != listed.target.front(); });
    if (fault == MeshFault::GhostMissing && last >= from.owned) {
      std::ranges::replace(listed.source, last, last - 1);
      from.listed.pop_back();
    } else if (fault == MeshFault::TargetsExchanged && other != listed.target.end()) {
      std::iter_swap(listed.target.begin(), other);
    } else if (fault == MeshFault::KeysLocal) {
      std::iota(listed.key.begin(), listed.key.end(), 0);
    } else if (fault == MeshFault::EdgeTwice && !edges.empty()) {
      edges.push_back(edges.front());
      listed.source.push_back(listed.source.front());
      listed.target.push_back(listed.target.front());
      listed.key.push_back(-1);
    }
  }
};

} // namespace tenon::test
