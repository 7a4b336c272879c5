// SPDX-License-Identifier: BSD-2-Clause
#include "machine/price.hpp"

#include "geometry/traffic.hpp"

#include <bit>

namespace tenon {

namespace {

constexpr int kSamples = 64;

ExchangePrice priceForRank(const Layout& from, const Layout& to, Index cellBytes, int rank,
                           const LinkRates& rates) {
  const Flow out = countFlow(from, to, rank, Role::Source);
  const Flow in = countFlow(from, to, rank, Role::Target);
  const Index messages = std::max(out.others.messages, in.others.messages);
  const double cellSize = static_cast<double>(cellBytes);
  const double bytes = static_cast<double>(std::max(out.others.cells, in.others.cells)) * cellSize;
  const Index written =
      std::max(in.others.cells + in.keptCells, cells(extents(to.boxOfRank(rank))));
  const double copied =
      (static_cast<double>(out.others.cells) + static_cast<double>(written)) * cellSize;
  return {.seconds = (messages > 0 ? rates.latency : 0) +
                     static_cast<double>(messages) * rates.overhead + bytes / rates.bandwidth +
                     copied / rates.copyBandwidth,
          .local = messages == 0};
}

// The steps of which collectives are made, for n ranks and t bytes.
struct Steps {
  double n, t;
  const LinkRates& rates;

  double round() const { return rates.latency + rates.overhead; }
  double depth() const { return std::bit_width(static_cast<unsigned>(n) - 1); } // ceil(lg n)
  double share() const { return (n - 1) / n * t / rates.bandwidth; }
  double whole() const { return t / rates.bandwidth; }
  double copy() const { return t / rates.copyBandwidth; }

  double allGather() const { return depth() * round() + share(); }
  double broadcast() const {
    return std::min(depth() * (round() + whole()), (depth() + n - 1) * round() + 2 * share());
  }
  double reduceScatter() const {
    return rates.latency + (n - 1) * rates.overhead + share() + copy();
  }
  double tree() const { return depth() * (round() + whole() + copy()); }
  double summedByTree(CollectiveKind kind) const {
    return tree() + (kind == CollectiveKind::AllReduce ? broadcast() : 0);
  }
  double summedByParts() const { return reduceScatter() + allGather(); }
};

} // namespace

std::vector<int> sampledPositions(const Mesh& mesh) {
  const int count = std::min(mesh.size(), kSamples);
  std::vector<int> positions(count, 0);
  for (int i = 1; i < count; ++i)
    positions[i] = static_cast<int>(static_cast<Index>(i) * (mesh.size() - 1) / (count - 1));
  return positions;
}

ExchangePrice priceOfExchange(const Layout& from, const Layout& to, Index cellBytes,
                              const LinkRates& rates) {
  ExchangePrice most;
  for (const Mesh* mesh : {&from.mesh(), &to.mesh()}) {
    for (int position : sampledPositions(*mesh)) {
      const ExchangePrice one = priceForRank(from, to, cellBytes, mesh->rank(position), rates);
      most.seconds = std::max(most.seconds, one.seconds);
      most.local = most.local && one.local;
    }
    if (from.meshPtr() == to.meshPtr())
      break;
  }
  return most;
}

double priceOfCollective(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates) {
  const Steps steps{static_cast<double>(ranks), static_cast<double>(wholeBytes), rates};
  const double packing = 2 * steps.copy(); // into the collective's buffers and out of them
  switch (kind) {
  case CollectiveKind::AllGather:
    return packing + steps.allGather();
  case CollectiveKind::Broadcast:
    return packing + steps.broadcast();
  case CollectiveKind::ReduceScatter:
    return packing + steps.reduceScatter();
  case CollectiveKind::Reduce:
  case CollectiveKind::AllReduce:
    break;
  }
  return packing + std::min(steps.summedByTree(kind), steps.summedByParts());
}

bool sumsByTree(CollectiveKind kind, int ranks, Index wholeBytes, const LinkRates& rates) {
  const Steps steps{static_cast<double>(ranks), static_cast<double>(wholeBytes), rates};
  return steps.summedByTree(kind) < steps.summedByParts();
}

} // namespace tenon
