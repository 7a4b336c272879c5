// SPDX-License-Identifier: BSD-2-Clause
// The shortest path of findRoute(); see route.hpp for nodes and edges.
#pragma once

#include "machine/route.hpp"

namespace tenon {

inline constexpr int kMaxSearchedAxes = 4;

class RouteSearch {
public:
  RouteSearch(const Layout& from, const Layout& to, Index cellBytes, const RoutePolicy& policy);
  Route run();

private:
  struct Node {
    Layout layout;
    double cost;
    int steps;
    int parent;
    std::optional<RouteStep> step; // from the parent
    bool done = false;
  };
  static constexpr int kStart = 0, kGoal = 1;

  RouteStep directStep(const Layout& from, const Layout& to, double* cost) const;
  std::optional<RouteStep> collectiveStep(const Layout& from, const Layout& to, double* cost) const;
  // The cheapest edge that the policy allows.
  std::optional<RouteStep> edge(const Layout& from, const Layout& to, double* cost) const;
  int nearest() const;
  void expand(int node);
  void relax(int node, const Layout& to);
  std::vector<Layout> changesOf(const Layout& layout) const;
  std::vector<Property> choices(const Layout& layout, int axis) const;
  Route pathToGoal() const;

  const Index cellBytes_;
  const RoutePolicy policy_;
  std::vector<Node> nodes_;
};

} // namespace tenon
