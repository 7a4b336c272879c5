// SPDX-License-Identifier: BSD-2-Clause
// What a movement of data costs, by the rates of the links: a number that is the same on all ranks,
// found without communication and without MPI.
//
// One exchange costs a rank
//     latency + messages overhead + bytes / bandwidth + (packed + written) / copyBandwidth,
// messages and bytes being the larger of what it sends and what it receives; zeros are written too.
// The price is that of the dearest position of both meshes. Of a mesh above 64 positions 64 are
// looked at, spread evenly, so that the work does not grow with the mesh.
//
// A collective of n ranks along one axis costs a round (latency + overhead) for each message that
// must wait for another (Thakur, Rabenseifner and Gropp 2005, Section 4; |T| are the bytes of the
// largest whole tensor on a rank):
//     all-gather       ceil(lg n) rounds, (n-1)/n |T|
//     broadcast        ceil(lg n) rounds of |T|, or ceil(lg n) + n-1 rounds and 2 (n-1)/n |T|
//     reduce-scatter   each rank gets its addends of all others at once: one latency, n-1
//                      overheads, (n-1)/n |T|; then adds |T|
//     reduce           a tree of ceil(lg n) rounds of |T|, or reduce-scatter and gather
//     all-reduce       such a tree and a broadcast, or reduce-scatter and all-gather
#pragma once

#include "geometry/layout.hpp"
#include "machine/link.hpp"

namespace tenon {

struct ExchangePrice {
  double seconds = 0;
  bool local = true; // nobody sends anything
};

// Layouts without margins; cellBytes is the size of an element.
ExchangePrice priceOfExchange(const Layout& from, const Layout& to, Index cellBytes,
                              const LinkRates& rates);

enum class CollectiveKind { AllGather, ReduceScatter, AllReduce, Broadcast, Reduce };

// Seconds. Along an axis of `ranks`, where no rank holds more than wholeBytes of what all have together.
double priceOfCollective(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);
// Whether Reduce and AllReduce take the tree rather than the reduce-scatter.
bool sumsByTree(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates);

// The mesh positions that are looked at.
std::vector<int> sampledPositions(const Mesh& mesh);

} // namespace tenon
