// SPDX-License-Identifier: BSD-2-Clause
// The predicted time (price) of communication at given link rates. It is equal on all ranks and
// computed without communication, in seconds.
//
// One exchange, including halos and their adjoints, costs a rank
//     latency + messages overhead + bytes / bandwidth + (packed + written) / copyBandwidth
// where messages and bytes are the larger of those sent and those received; packed bytes are copied
// into send buffers, and written ones into the result, zeros included. If the rates have levels,
// the bytes of each level are divided by its bandwidth and added up, and the latency is the largest
// of the levels crossed. The price is the maximum over positions of both process grids: all
// positions, or for a cheaper lower bound only some (Sampling).
//
// A collective of n ranks along one axis costs a round (latency + overhead) for each message that
// must wait for another (Thakur, Rabenseifner and Gropp 2005, Section 4; |T| is the number of bytes
// of the largest whole tensor on a rank):
//     all-gather       ceil(lg n) rounds, (n-1)/n |T|
//     broadcast        ceil(lg n) rounds of |T|, or ceil(lg n) + n-1 rounds and 2 (n-1)/n |T|
//     reduce-scatter   a rank receives its contributions of all others at once: one latency, n-1
//                      overheads, (n-1)/n |T|; then it adds |T|
//     reduce           a tree of ceil(lg n) rounds of |T|, or reduce-scatter and gather
//     all-reduce       the same tree and a broadcast, or reduce-scatter and all-gather
// If the rates have levels, a collective is priced by the outermost level that a line of ranks
// crosses.
#pragma once

#include "geometry/layout/layout.hpp"
#include "geometry/schedule/flow_table.hpp"
#include "machine/link.hpp"

#include <limits>
#include <optional>

namespace tenon {

// The positions of the process grid whose costs are computed; the price is their maximum. Fewer
// positions give a lower bound.
enum class Sampling {
  First, // position 0, whose blocks are the largest with balanced cuts: a lower bound
  // Position 0 and, for each bit, the position halfway along the axes whose number has that bit:
  // inside the domain and off the diagonals, where most is sent. A lower bound that is nearly
  // always exact.
  Few,
  Sampled, // 64 positions, evenly spaced, of a larger grid: the work does not grow with the grid
  All
};
std::vector<int> sampledPositions(const Grid& grid, Sampling sampling);

// The price of one exchange.
struct ExchangePrice {
  double seconds = 0;
  bool local = true; // whether no rank sends anything
};

// `elementBytes` is the size of an element. The examination stops once a position costs `enough`
// seconds.
ExchangePrice priceOfExchange(const Layout& from, const Layout& to, Index elementBytes,
                              const LinkRates& rates, Sampling sampling,
                              double enough = std::numeric_limits<double>::infinity());

// The collectives that are priced.
enum class CollectiveKind { AllGather, ReduceScatter, AllReduce, Broadcast, Reduce };

// Returns the collective that converts one layout to the other along an axis, if there is one.
std::optional<CollectiveKind> collectiveBetween(const Layout& from, const Layout& to, int axis);

// Returns the seconds of a collective of `ranks` ranks over uniform links, if no rank holds more
// than wholeBytes bytes of the joint data.
double priceOfCollective(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);
// Whether Reduce and AllReduce use the tree instead of the reduce-scatter.
bool sumsByTree(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);

// The price of one collective.
struct CollectivePrice {
  CollectiveKind kind;
  std::vector<int> axes; // axes that are treated as one, the slowest first
  bool tree = false;     // whether it sums along a tree
  double seconds = 0;
};

// Returns the price of the collective that performs the conversion, if there is one and its counts
// fit an int, as MPI requires.
std::optional<CollectivePrice> priceAsCollective(const Layout& from, const Layout& to,
                                                 Index elementBytes, const LinkRates& rates,
                                                 Sampling sampling);

// The price of a conversion in one step, and how it is done.
struct MovePrice {
  double seconds = 0;
  std::optional<CollectiveKind> collective; // none: an exchange
};

// Returns the cheaper of exchange and collective: the price of a conversion in one step.
MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Sampling sampling);

// Creates a table of flows (traffic between positions), which speeds up the pricing of many moves
// on one grid. It contains the positions of Sampling::Few. Returns null if the units of the
// machine's levels are not aligned with grid axes (UnitAxes), or if the table would be too large.
std::unique_ptr<FlowTable> makeFlowTable(const GridPtr& grid, const LinkRates& rates);

// The table must be for these rates; it is used for moves on its own grid.
MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Sampling sampling, FlowTable* table);

} // namespace tenon
