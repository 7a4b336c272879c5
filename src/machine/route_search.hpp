// SPDX-License-Identifier: BSD-2-Clause
// The shortest path of findRoute(); see route.hpp for nodes and edges.
//
// A* on prices that are found as late as possible. An edge is first held back by what the
// properties of its ends say that it costs at least (LeastPrice), then by its price at one
// position; only one that still leads the queue is priced at all positions. So the path is the
// shortest, and most edges are dropped before their layout is made.
#pragma once

#include "geometry/layout/layout.hpp"
#include "machine/link.hpp"
#include "machine/route.hpp"

namespace tenon {

// The least that any steps from one layout to another cost, by their properties alone: a bound
// that holds for every route, whatever the cuts, and costs a few additions.
//
// The price of steps is that of the dearest rank in each, and so at least the mean of all ranks
// over all steps. A rank must receive each element of its target that it does not hold; and where
// the source's contributions are summed, each element, since the others' contributions are
// elsewhere. One of the copies in a P target must come. The dual counts what is sent: each
// contribution of a rank that is not to end there; and where the target has copies, each. As much
// is sent as is received.
class LeastPrice {
public:
  // Between layouts on these grids, without halos.
  LeastPrice(const Layout& from, const Layout& to, Index elementBytes, const LinkRates& rates);

  // How often the elements of a tensor are held by all ranks together.
  struct Spread {
    double held = 1, contributions = 1, copies = 1;
  };
  static Spread spreadOf(const Layout& layout);
  // The spread of the layout with another property on one axis.
  static Spread spreadOf(const Layout& layout, int axis, Property property);

  double seconds(const Spread& from, const Spread& to) const;

private:
  double bytes_ = 0; // of a tensor, for each rank
  double latency_ = 0, bandwidth_ = 0, copyBandwidth_ = 0;
};

inline constexpr int kMaxSearchedAxes = 4;

class RouteSearch {
public:
  RouteSearch(const Layout& from, const Layout& to, Index elementBytes, const RoutePolicy& policy);
  Route run();

private:
  struct Node {
    Layout layout;
    double rest; // at least, to the goal
    double cost;
    int steps = 0;
    int parent = -1;
    std::optional<RouteStep> step = {}; // from the parent
  };
  struct Edge {
    int from, to; // nodes
    int steps;
    std::size_t order;
    double before;   // the cost of the path to it
    double exchange; // its own; at least, until it is exact
    std::optional<CollectivePrice> collective;
    bool exact = false;
  };
  static constexpr int kStart = 0, kGoal = 1;

  void expand(int node);
  void addChanges(int node, const Layout& changed);
  void addShares();
  void addEdge(int from, const Layout& to);
  bool isHopeless(double cost) const { return cost >= nodes_[kGoal].cost; }
  double exchangeCost(const Layout& from, const Layout& to, Looks looks, double enough) const;
  double costOf(const CollectivePrice& collective) const;
  double costOf(const Edge& edge) const; // of the path that ends with it
  double leastOf(const Edge& edge) const { return costOf(edge) + nodes_[edge.to].rest; }
  // What comes first: far ends of paths before many beginnings, so that a good path is known early.
  double guessOf(const Edge& edge) const { return costOf(edge) + 2 * nodes_[edge.to].rest; }
  bool isBetter(const Edge& edge) const; // than the path known to its end
  void makeExact(Edge& edge) const;
  void take(const Edge& edge);
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
