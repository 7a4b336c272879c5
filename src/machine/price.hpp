// SPDX-License-Identifier: BSD-2-Clause
// The price of a movement of data by the rates of the links: a number that is the same on all
// ranks, found without communication and without MPI.
//
// One exchange, halos and their adjoints included, costs a rank
//     latency + messages overhead + bytes / bandwidth + (packed + written) / copyBandwidth,
// messages and bytes being the larger of what it sends and what it receives; zeros are written too.
// Where the rates have levels, bytes are those of each level by its own bandwidth, added up, and
// the latency is the largest of the levels that messages cross. The price is that of the dearest
// position of both grids, of those that are looked at.
//
// A collective of n ranks along one axis costs a round (latency + overhead) for each message that
// must wait for another (Thakur, Rabenseifner and Gropp 2005, Section 4; |T| are the bytes of the
// largest whole tensor on a rank):
//     all-gather       ceil(lg n) rounds, (n-1)/n |T|
//     broadcast        ceil(lg n) rounds of |T|, or ceil(lg n) + n-1 rounds and 2 (n-1)/n |T|
//     reduce-scatter   each rank gets its contributions of all others at once: one latency, n-1
//                      overheads, (n-1)/n |T|; then adds |T|
//     reduce           a tree of ceil(lg n) rounds of |T|, or reduce-scatter and gather
//     all-reduce       such a tree and a broadcast, or reduce-scatter and all-gather
// Where the rates have levels, all of it goes by the outermost level that a line of ranks crosses.
#pragma once

#include "geometry/layout/layout.hpp"
#include "geometry/schedule/flow_table.hpp"
#include "machine/link.hpp"

#include <limits>
#include <optional>

namespace tenon {

// The grid positions whose prices are found.
enum class Looks {
  First, // position 0, whose parts are the largest of balanced cuts: a lower bound
  Few,   // and, for each bit, that which is halfway along the axes whose number has it: inside the
  // domain and off the diagonals, where more is sent: a lower bound that is nearly always exact
  Sampled, // 64, spread evenly, of a larger grid, so that the work does not grow with it
  All
};
std::vector<int> positionsLookedAt(const Grid& grid, Looks looks);

struct ExchangePrice {
  double seconds = 0;
  bool local = true; // nobody sends anything
};

// elementBytes is the size of an element. No further position is looked at once one costs `enough`
// seconds.
ExchangePrice priceOfExchange(const Layout& from, const Layout& to, Index elementBytes,
                              const LinkRates& rates, Looks looks,
                              double enough = std::numeric_limits<double>::infinity());

enum class CollectiveKind { AllGather, ReduceScatter, AllReduce, Broadcast, Reduce };

// The collective that leads from one layout to the other along an axis, if there is one.
std::optional<CollectiveKind> collectiveBetween(const Layout& from, const Layout& to, int axis);

// The seconds of a collective along an axis of `ranks`, where no rank holds more than wholeBytes of
// what all have together, by one kind of link.
double priceOfCollective(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);
// Whether Reduce and AllReduce take the tree rather than the reduce-scatter.
bool sumsByTree(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);

struct CollectivePrice {
  CollectiveKind kind;
  std::vector<int> axes; // that are taken as one, the slowest first
  bool tree = false;     // its sums are made along a tree
  double seconds = 0;
};

// The price of the collective that is the conversion, if there is one; MPI counts its elements in
// int.
std::optional<CollectivePrice> priceAsCollective(const Layout& from, const Layout& to,
                                                 Index elementBytes, const LinkRates& rates,
                                                 Looks looks);

struct MovePrice {
  double seconds = 0;
  std::optional<CollectiveKind> collective; // none: an exchange
};

// The cheaper of the two: what a conversion of one step costs.
MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Looks looks);

// A table of flows, for the prices of many moves on one grid. It has the positions of Looks::Few;
// none if axes do not tell the units of the rates apart (UnitAxes), or a table cannot hold them.
std::unique_ptr<FlowTable> makeFlowTable(const GridPtr& grid, const LinkRates& rates);

// The table must be of these rates; it serves moves on its own grid.
MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Looks looks, FlowTable* table);

} // namespace tenon
