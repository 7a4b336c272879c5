// SPDX-License-Identifier: BSD-2-Clause
// The route of a conversion: the layouts a = L0 -> L1 -> ... -> Ln = b, where each step is one
// exchange or one collective along one grid axis. All routes have the same result for valid
// tensors, but not for arbitrary memory contents. The adjoint of a route is the route of the dual
// layouts in reverse order.
//
// findRoute() finds the shortest path from a to b by A* (route_search.hpp). Nodes are layouts,
// reached from a by changing one axis at a time: to a split of any dimension, to replicated, or to
// the axis's property in a or b. For a sum over several axes, all of these axes can also change at
// once. An axis is added to or removed from a dimension as its fastest axis. Edges are these
// changes, each as an exchange or a collective, and the direct exchange from each node to b;
// between two grids, also the exchange from a to each layout one change before b. Every conversion
// keeps the value of a valid tensor, so every path is correct. For example, from S0 on an axis of
// 4 ranks to B the step is an all-gather, or one exchange; from P to B it is an all-reduce, an
// exchange, or the two steps P -> S0 (reduce-scatter) and S0 -> B (all-gather).
//
// On a grid of more than 4 axes, axes that both layouts treat alike are merged for the search
// (geometry/schedule/axis_change.hpp), and its steps are translated back; a collective can then be
// along several axes. The search is bounded. One direct exchange is used for layouts with halos,
// tensors without elements, and grids of more than 4 axes that cannot be merged, and if no path is
// found within 96 nodes.
#pragma once

#include "geometry/schedule/schedule.hpp"
#include "machine/price.hpp"

#include <optional>

namespace tenon {

// The kinds of routes that findRoute() can choose from.
enum class RouteMode {
  Auto,      // the cheapest; one exchange unless another route costs less than 0.8 of its price
  Exchange,  // one exchange
  Chain,     // the cheapest with at least two steps, if there is one
  Collective // the cheapest of collectives and local steps only, if there is one
};

// How routes are chosen; must be equal on all ranks.
struct RoutePolicy {
  RouteMode mode = RouteMode::Auto;
  LinkRates rates;

  // Returns the policy of the options -tenon_conversion_route and -tenon_machine_...
  static RoutePolicy fromOptions();
  static RoutePolicy exchange() { return {.mode = RouteMode::Exchange, .rates = {}}; }
  // Returns the policy as text for agreement between ranks: "" for the defaults, else the
  // differences.
  std::string agreedText() const;
};

// Rates are rough, so a more complex choice must be clearly cheaper: a path must cost less than
// kRouteGain times one exchange, and a collective, whose algorithm MPI chooses, less than our own
// messages divided by kCollectiveHandicap.
inline constexpr double kRouteGain = 0.8, kCollectiveHandicap = 1.25;

// One step of a route: an exchange or a collective.
struct RouteStep {
  Layout from, to;
  std::optional<CollectiveKind> collective; // none: an exchange
  std::vector<int> axes = {}; // axes of the collective, equal in both layouts and treated as one
  bool tree = false;          // whether it sums along a tree
  double seconds = 0;         // its price

  const char* name() const; // "exchange", "all-gather", ...
};

using Route = std::vector<RouteStep>;

// Finds the route without communication; the result is equal on all ranks. Throws TENON_ERR_SHAPE
// if the shapes differ.
Route findRoute(const Layout& from, const Layout& to, Index elementBytes,
                const RoutePolicy& policy);

// Returns the route from the dual of the last layout to the dual of the first, through the duals of
// the layouts between.
Route adjointOf(const Route& route);
CollectiveKind adjointOf(CollectiveKind kind);

// Returns why routes of several steps were not searched because of the number of axes; "" if they
// were, or for layouts with halos.
std::string whyNotSearched(const Layout& from, const Layout& to);

// How a collective divides the data of all its ranks into pieces, one per rank: along the dimension
// that the axis splits in one of the two layouts, otherwise into balanced ranges of elements.
struct CollectivePieces {
  bool takesPart = false;   // false: the rank has no part in it
  int coordinate = -1;      // coordinate of the rank on the axes
  Layout whole;             // the side on which a rank holds all of the data
  Index elements = 0;       // elements of the whole
  int dim = -1;             // dimension that is divided; -1: runs of elements
  bool areInOrder = true;   // whether they are consecutive in a row-major array of the whole
  Layout split;             // the other side
  int first = 0, ranks = 1; // first part of `split`, and the number of pieces
  // First index of a coordinate's piece, in indices of `dim` or in elements, counted from 0; for
  // coordinate == ranks, the end of the last piece.
  Index cut(int coordinate) const;
  Index offset(int coordinate) const; // the same in elements
  Index piece(int coordinate) const;  // number of elements
};
CollectivePieces collectivePieces(const RouteStep& step, int rank);

// Returns the traffic that a rank sends in a step. For a collective, messages are the MPI calls to
// which it contributes elements.
Traffic sentInStep(const RouteStep& step, int rank);
Traffic sentOnRoute(const Route& route, int rank);

} // namespace tenon
