// SPDX-License-Identifier: BSD-2-Clause
// Counts the messages of operators that communicate by lists, the index maps of meshes and the
// linked halos of patches, and prices them (listed_moves.hpp).
//
// For each element, the lists have the rank from which it is copied and its index there. Each rank
// knows only its own part of the lists of an index map: its exact traffic is known for that rank,
// and for other ranks the maximum over all ranks is used, which was reduced when the map was made.
// Lists of linked halos follow from a rule and can be made for any rank. Nothing is communicated
// here.
#include "compile/prices/listed_moves.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The rates between the two ranks of a grid that are furthest apart.
LinkRates ratesAcross(const Grid& grid, const LinkRates& rates) {
  if (rates.levels.empty())
    return rates;
  std::size_t level = rates.levels.size();
  for (int rank : grid.ranks())
    level = std::min(level, rates.levelBetween(grid.ranks().front(), rank));
  return rates.onLevel(level);
}

// The domain and the range of the map, regardless of the direction in which it is applied.
std::pair<Layout, Layout> endsOf(const OperatorEntry& op) {
  if (op.kind == OperatorKind::IndexSum)
    return {op.to.dual(), op.from.dual()};
  return {op.from, op.to};
}

// Whether sent and received are exchanged: for the transpose or for the adjoint, but not for both.
bool isReversed(const OperatorEntry& op, bool adjoint) {
  return adjoint != (op.kind == OperatorKind::IndexSum);
}

// The largest number of elements, over all ranks, for one index of the joint dimensions: for nodes
// with 8 channels, 8.
Index mostInner(const IndexMap& map, const Layout& domain) {
  Index most = 0;
  for (int rank : domain.grid().ranks()) {
    const Box box = domain.boxOfRank(rank);
    Index inner = 1;
    for (int d = 0; d < domain.ndim(); ++d)
      if (std::ranges::find(map.jointDims(), d) == map.jointDims().end())
        inner *= box[d].size();
    most = std::max(most, inner);
  }
  return most;
}

} // namespace

ListedTraffic listedTraffic(const OperatorEntry& op, bool adjoint, int rank) {
  const auto [domain, range] = endsOf(op);
  const IndexMapPtr map = op.rule ? makeLinkedMap(*op.rule, domain, range, rank) : op.map;
  const Schedule schedule = map->schedule(domain, range, rank);
  ListedTraffic traffic{sentTraffic(schedule, rank), receivedTraffic(schedule, rank)};
  if (isReversed(op, adjoint))
    std::swap(traffic.sent, traffic.received);
  return traffic;
}

ListedTraffic mostTraffic(const OperatorEntry& op, bool adjoint) {
  auto [sent, received] = op.map->most();
  for (Traffic* one : {&sent, &received})
    one->elements *= mostInner(*op.map, endsOf(op).first);
  return isReversed(op, adjoint) ? ListedTraffic{received, sent} : ListedTraffic{sent, received};
}

double priceOfLists(const ListedTraffic& traffic, const Grid& grid, Index elementBytes,
                    const LinkRates& rates) {
  const LinkRates across = ratesAcross(grid, rates);
  const auto& [sent, received] = traffic;
  const Index messages = std::max(sent.messages, received.messages);
  const double each = double(elementBytes);
  return (messages > 0 ? across.latency : 0) + double(messages) * across.overhead +
         double(std::max(sent.elements, received.elements)) * each / across.bandwidth +
         double(sent.elements + received.elements) * each / across.copyBandwidth;
}

double priceOfLists(const OperatorEntry& op, bool adjoint, Index elementBytes,
                    const LinkRates& rates, Sampling sampling) {
  const Grid& grid = op.from.grid();
  if (op.map)
    return priceOfLists(mostTraffic(op, adjoint), grid, elementBytes, rates);
  double most = 0;
  for (int position : sampledPositions(grid, sampling))
    most = std::max(most, priceOfLists(listedTraffic(op, adjoint, grid.rank(position)), grid,
                                       elementBytes, rates));
  return most;
}

} // namespace tenon
