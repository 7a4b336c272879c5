// SPDX-License-Identifier: BSD-2-Clause
// The route of a conversion: the layouts a = L0 -> L1 -> ... -> Ln = b through which it goes, each
// step one exchange or one collective along one grid axis. Routes agree on valid tensors, not on
// raw memory; the adjoint of a route is the route of the duals in reverse order.
//
// findRoute() looks for the shortest path (A*, route_search.hpp). Nodes are layouts reached from a
// by changing one axis at a time, to S of any dimension, to B, or to what a or b have there, and of
// a sum over several axes all of them at once; an axis leaves or enters a dimension as its minor
// one. Edges are those changes, as an exchange or as a collective, and the direct exchange from
// each node to b; between two grids also the exchange from a to each layout that is one change
// before b. (The "or" and division expressions of DistPar, Appendix A.2, are several edges into one
// node, and a path through another.) Any conversion keeps the value of a valid tensor, so that any
// path does.
//
// On a grid of more than 4 axes those that both ends treat alike are merged
// (geometry/schedule/axis_change.hpp) before the search; its steps are told on the grid as it is,
// where a collective may be along several axes at once. The search is bounded: layouts with halos,
// and grids of more than 4 axes that cannot be merged, take the direct exchange, and so does what
// has not been found after 96 nodes; a tensor without elements too.
#pragma once

#include "geometry/schedule/schedule.hpp"
#include "machine/price.hpp"

#include <optional>

namespace tenon {

enum class RouteMode {
  Auto,      // the cheapest; one exchange unless another takes less than 0.8 of its price
  Exchange,  // one exchange
  Chain,     // the cheapest of at least two steps, if there is one
  Collective // the cheapest of collectives and local steps alone, if there is one
};

// How routes are chosen; all ranks must have the same policy.
struct RoutePolicy {
  RouteMode mode = RouteMode::Auto;
  LinkRates rates;

  // The policy that -tenon_conversion_route and -tenon_machine_... give.
  static RoutePolicy fromOptions();
  static RoutePolicy exchange() { return {.mode = RouteMode::Exchange, .rates = {}}; }
  // The part of a text that ranks agree on: "" for the defaults, else what differs.
  std::string agreedText() const;
};

// The rates are rough, so what is simpler is kept unless it is clearly dearer: one exchange rather
// than a path, and messages of our own rather than a collective whose inside MPI chooses.
inline constexpr double kRouteGain = 0.8, kCollectiveHandicap = 1.25;

struct RouteStep {
  Layout from, to;
  std::optional<CollectiveKind> collective; // none: an exchange
  std::vector<int> axes = {}; // of the collective, alike in both layouts and taken as one
  bool tree = false;          // its sums are made along a tree
  double seconds = 0;         // its price

  const char* name() const; // "exchange", "all-gather", ...
};

using Route = std::vector<RouteStep>;

// Finds the route without communication, the same on all ranks. Throws TENON_ERR_SHAPE if the
// shapes differ.
Route findRoute(const Layout& from, const Layout& to, Index elementBytes,
                const RoutePolicy& policy);

// The route from the dual of the end to that of the beginning, through the duals of what is
// between.
Route adjointOf(const Route& route);
CollectiveKind adjointOf(CollectiveKind kind);

// Why no route of several steps is looked for, where axes are too many; "" where it is, or where
// there are halos.
std::string whyNotSearched(const Layout& from, const Layout& to);

// How a collective cuts what its ranks hold together: along the dimension that the axis splits on
// one side, else in balanced runs of elements.
struct CollectivePieces {
  bool takesPart = false;   // else the rank has nothing to do
  int coordinate = -1;      // of the rank on the axes
  Layout whole;             // the side on which a rank holds all
  Index elements = 0;       // of the whole
  int dim = -1;             // that is cut; -1: runs of elements
  Layout split;             // the other side,
  int first = 0, ranks = 1; // and the first of its parts, and the number of pieces
  // Where the piece of a coordinate begins, in indices of `dim` or in elements, from 0; of the
  // number of pieces: where the last one ends.
  Index cut(int coordinate) const;
  Index offset(int coordinate) const; // in elements
  Index piece(int coordinate) const;  // its elements
};
CollectivePieces collectivePieces(const RouteStep& step, int rank);

// What a rank sends in a step. For a collective, messages are the calls of MPI to which it gives
// elements.
Traffic sentInStep(const RouteStep& step, int rank);
Traffic sentOnRoute(const Route& route, int rank);

} // namespace tenon
