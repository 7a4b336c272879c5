// SPDX-License-Identifier: BSD-2-Clause
// The search for the shortest path of findRoute(); see route.hpp for nodes and edges.
//
// The search is A* with lazy prices. A node is a layout, an edge is a conversion in one step, and
// the price of an edge is computed in three stages: a lower bound from the properties of the two
// layouts (LeastPrice), the price at one position of the grid, and the price at all positions. An
// edge goes to the next stage only if it is first in the queue. The path is therefore the shortest,
// and most edges are discarded before their layout is created.
#pragma once

#include "geometry/layout/layout.hpp"
#include "machine/link.hpp"
#include "machine/route.hpp"

namespace tenon {

// A lower bound on the price of any steps from one layout to another, from their properties only:
// it is independent of cuts and costs a few additions.
//
// The price of a step is that of its most expensive rank, so it is at least the mean over all
// ranks. Elements received: a rank must receive each element of its target that it does not hold,
// or every element if the source contains partial sums, since the other ranks have the other
// contributions. Of a target with partial sums (P), only one copy must be received, since the
// others can be zero. Elements sent, by the same rule for the dual layouts: each contribution that
// does not stay on its rank and, if the target has copies, each contribution. The total numbers of
// elements sent and received are equal.
class LeastPrice {
public:
  // Both layouts must be without halos.
  LeastPrice(const Layout& from, const Layout& to, Index elementBytes, const LinkRates& rates);

  // Number of times that the elements of a tensor are held, over all ranks. On a grid of 2 x 3
  // ranks, the layout P,B has 2 contributions, 3 copies of each, and holds 6; S0,B has 1, 3 and 3.
  struct Spread {
    double held = 1, contributions = 1, copies = 1;
  };
  static Spread spreadOf(const Layout& layout);
  // Returns the spread of the layout with another property on one axis.
  static Spread spreadOf(const Layout& layout, int axis, Property property);

  double seconds(const Spread& from, const Spread& to) const;

private:
  double bytes_ = 0; // bytes of a tensor per rank
  double latency_ = 0, bandwidth_ = 0, copyBandwidth_ = 0;
};

// The number of layouts, which are the nodes, grows exponentially with the axes of the grid.
inline constexpr int kMaxSearchedAxes = 4;

// The state of one search.
class RouteSearch {
public:
  RouteSearch(const Layout& from, const Layout& to, Index elementBytes, const RoutePolicy& policy);
  Route run();

private:
  struct Node {
    Layout layout;
    double leastToGoal; // lower bound of the price from this node to the goal
    double cost;        // price of the cheapest known path from the start to this node
    int steps = 0;      // number of steps of this path
    int parent = -1;
    std::optional<RouteStep> step = {}; // step from the parent
  };
  struct Edge {
    int from, to;      // nodes
    int steps;         // of the path that ends with this edge
    std::size_t order; // number of edges that were created before; breaks ties
    double costBefore; // cost of the path to the edge's first node
    double exchange;   // price as an exchange; a lower bound until `exact`
    std::optional<CollectivePrice> collective; // price as a collective, if it can be one
    bool exact = false;
  };
  static constexpr int kStart = 0, kGoal = 1;

  void expand(int node);
  void addChanges(int node, const Layout& changed);
  void addShares();
  void addEdge(int from, const Layout& to);
  bool isHopeless(double cost) const { return cost >= nodes_[kGoal].cost; }
  double exchangeCost(const Layout& from, const Layout& to, Sampling sampling, double enough) const;
  double costOf(const CollectivePrice& collective) const;
  double costOf(const Edge& edge) const; // cost of the path that ends with it
  double leastOf(const Edge& edge) const { return costOf(edge) + nodes_[edge.to].leastToGoal; }
  // Priority in the queue: prefers long paths to many short ones, so a good path is found early.
  double guessOf(const Edge& edge) const { return costOf(edge) + 2 * nodes_[edge.to].leastToGoal; }
  // Whether the path that ends with the edge is cheaper than the best known path to the same node.
  bool isBetter(const Edge& edge) const;
  void makeExact(Edge& edge) const;
  void relax(const Edge& edge);
  bool comesAfter(const Edge& one, const Edge& other) const;
  void push(Edge edge);
  Edge pop();
  RouteStep stepOf(const Edge& edge) const;
  int nodeOf(const Layout& layout);
  std::vector<Property> choices(const Layout& layout, int axis) const;
  Route pathToGoal() const;

  const Index elementBytes_;
  const RoutePolicy policy_;
  const LeastPrice least_;
  std::vector<Node> nodes_;
  std::vector<Edge> queue_; // a heap
  std::size_t edges_ = 0;
};

} // namespace tenon
