// SPDX-License-Identifier: BSD-2-Clause
// Prices exchanges and collectives, and chooses the cheaper. A price needs the flows: how many
// elements each rank sends and receives. They come from a table of the grid (FlowTable), from
// counts for each level of the machine, or from a single count (countFlow()). All three give the
// same numbers, and differ only in the time that pricing takes. The formulas are in price.hpp.
#include "machine/price.hpp"

#include "geometry/layout/channel_runs.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "machine/line.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace tenon {

namespace {

constexpr int kSamples = 64; // positions of Sampling::Sampled

// Size of a position's block, including halos; 0 if it holds no data.
Index elementsHeld(const Layout& layout, int position) {
  Index elements = layout.isHolder(position) ? 1 : 0;
  for (int d = 0; d < layout.ndim() && elements > 0; ++d)
    elements *= layout.box(d, layout.part(position, d)).size();
  return elements;
}

// Whether there is a table, and it covers a move, which must be a product over dimensions.
bool covers(const FlowTable* table, const Layout& from, const Layout& to) {
  const auto isOnGrid = [&](const Layout& layout) {
    return &layout.grid() == &table->grid() || layout.grid() == table->grid();
  };
  return table && isOnGrid(from) && isOnGrid(to) && isOneProduct(from, to);
}

// The work of one rank in an exchange.
class RankPrice {
public:
  // The table, if not null, must cover the move.
  RankPrice(const Layout& from, const Layout& to, int rank, FlowTable* table)
      : from_(from), to_(to), rank_(rank), position_(to.grid().position(rank)), table_(table),
        written_(elementsHeld(to, position_)) {}

  ExchangePrice by(const LinkRates& rates, double elementBytes) {
    if (const int index = table_ ? table_->positionIndexOf(position_) : -1; index >= 0)
      add(table_->flow(from_, to_, index, Role::Source),
          table_->flow(from_, to_, index, Role::Target), rates);
    else if (table_)
      add(countFlow(from_, to_, rank_, Role::Source, table_->units()),
          countFlow(from_, to_, rank_, Role::Target, table_->units()), rates);
    else if (rates.levels.empty())
      countAtOnce(rates);
    else
      countByLevel(rates);
    // Each element that arrives is written or added once, and each element of the block is written
    // at least once, those that become zero included.
    const double written = std::max(received_, static_cast<double>(written_));
    const double links = messages_ > 0 ? latency_ : 0;
    return {.seconds = links + static_cast<double>(messages_) * rates.overhead +
                       perByte_ * elementBytes +
                       (packed_ + written) * elementBytes / rates.copyBandwidth,
            .local = messages_ == 0};
  }

private:
  void countAtOnce(const LinkRates& rates) {
    const Flow out = countFlow(from_, to_, rank_, Role::Source);
    const Flow in = countFlow(from_, to_, rank_, Role::Target);
    received_ = static_cast<double>(in.keptElements);
    add(out.others, in.others, rates.latency, rates.bandwidth);
  }

  void countByLevel(const LinkRates& rates) {
    std::vector<Index> unitRanks;
    for (const LevelRates& level : rates.levels)
      unitRanks.push_back(level.ranks);
    add(countFlow(from_, to_, rank_, Role::Source, unitRanks),
        countFlow(from_, to_, rank_, Role::Target, unitRanks), rates);
  }

  template <class Flows>
  void add(const Flows& out, const Flows& in, const LinkRates& rates) {
    const std::size_t levels = rates.levels.size();
    received_ = static_cast<double>(in.keptElements);
    for (std::size_t l = 0; l < levels; ++l)
      add(out.others[l], in.others[l], rates.levels[l].latency, rates.levels[l].bandwidth);
    add(out.others[levels], in.others[levels], rates.latency, rates.bandwidth);
  }

  // Sending and receiving overlap, so the larger of both counts for messages and bytes.
  void add(Traffic out, Traffic in, double latency, double bandwidth) {
    const Index messages = std::max(out.messages, in.messages);
    if (messages > 0)
      latency_ = std::max(latency_, latency);
    messages_ += messages;
    perByte_ += static_cast<double>(std::max(out.elements, in.elements)) / bandwidth;
    packed_ += static_cast<double>(out.elements);
    received_ += static_cast<double>(in.elements);
  }

  const Layout& from_;
  const Layout& to_;
  const int rank_, position_;
  FlowTable* const table_;
  const Index written_; // lower bound, zeros included
  Index messages_ = 0;
  double latency_ = 0;               // seconds
  double perByte_ = 0;               // sum of elements / bandwidth
  double packed_ = 0, received_ = 0; // elements
};

// Seconds of the algorithms that collectives consist of: the lines of the table in price.hpp.
struct Steps {
  double ranks, bytes; // bytes: of the whole tensor, |T| in price.hpp
  const LinkRates& rates;

  double round() const { return rates.latency + rates.overhead; }
  // ceil(lg ranks)
  double depth() const { return std::bit_width(static_cast<unsigned>(ranks) - 1); }
  // Seconds for (ranks - 1) / ranks of the data, for all of it, and to copy it.
  double share() const { return (ranks - 1) / ranks * bytes / rates.bandwidth; }
  double whole() const { return bytes / rates.bandwidth; }
  double copy() const { return bytes / rates.copyBandwidth; }

  double allGather() const { return depth() * round() + share(); }
  double broadcast() const {
    return std::min(depth() * (round() + whole()), (depth() + ranks - 1) * round() + 2 * share());
  }
  double reduceScatter() const {
    return rates.latency + (ranks - 1) * rates.overhead + share() + copy();
  }
  double tree() const { return depth() * (round() + whole() + copy()); }
  double summedByTree(CollectiveKind kind) const {
    return tree() + (kind == CollectiveKind::AllReduce ? broadcast() : 0);
  }
  double summedByParts() const { return reduceScatter() + allGather(); }
};

// Returns the rates of the outermost level that a line crosses (the ranks that differ only on these
// axes), which is the same for all lines along these axes.
LinkRates outermostRates(const std::vector<int>& axes, const LinkRates& rates,
                         const UnitAxes& units) {
  AxisMask axisMask = 0;
  for (int axis : axes)
    axisMask |= AxisMask(1) << axis;
  const auto crosses = [&](AxisMask unitAxes) { return (unitAxes & axisMask) != 0; };
  return rates.onLevel(std::ranges::find_if(units.apart, crosses) - units.apart.begin());
}

LinkRates outermostRates(const Grid& grid, const std::vector<int>& axes, const LinkRates& rates,
                         Sampling sampling) {
  std::size_t outermost = rates.levels.size();
  for (int position : sampledPositions(grid, sampling)) {
    const std::vector<int> line = lineOf(grid, axes, position);
    for (int rank : line)
      outermost = std::min(outermost, rates.levelBetween(line.front(), rank));
    if (outermost == 0)
      break;
  }
  return rates.onLevel(outermost);
}

// Position 0, and for each bit the position halfway along the axes whose number has this bit. Any
// two axes differ in one of these positions.
std::vector<int> fewPositions(const Grid& grid) {
  std::vector<int> positions = {0};
  for (int bit = 1; bit <= grid.axes(); bit *= 2) {
    std::vector<int> coordinates(grid.axes(), 0);
    for (int axis = 0; axis < grid.axes(); ++axis)
      if ((axis + 1) & bit)
        coordinates[axis] = grid.extent(axis) / 2;
    positions.push_back(grid.positionAt(coordinates));
  }
  return positions;
}

} // namespace

std::vector<int> sampledPositions(const Grid& grid, Sampling sampling) {
  if (sampling == Sampling::Few)
    return fewPositions(grid);
  const int maxCount = sampling == Sampling::First     ? 1
                       : sampling == Sampling::Sampled ? kSamples
                                                       : grid.size();
  const int count = std::min(grid.size(), maxCount);
  std::vector<int> positions(count, 0);
  for (int i = 1; i < count; ++i)
    positions[i] = static_cast<int>(static_cast<Index>(i) * (grid.size() - 1) / (count - 1));
  return positions;
}

namespace {

// Returns positions that represent all positions of an exchange; none if all would have to be
// examined.
std::optional<std::vector<int>> representativePositions(const Layout& from, const Layout& to,
                                                        const LinkRates& rates,
                                                        const FlowTable* table) {
  if (table)
    return unlikePositions(from, to, table->units());
  if (rates.levels.empty() && from.grid() == to.grid())
    return unlikePositions(from, to);
  return std::nullopt;
}

ExchangePrice exchange(const Layout& from, const Layout& to, Index elementBytes,
                       const LinkRates& rates, Sampling sampling, double enough, FlowTable* table) {
  ExchangePrice price;
  for (const Grid* grid : {&from.grid(), &to.grid()}) {
    auto positions =
        sampling == Sampling::All ? representativePositions(from, to, rates, table) : std::nullopt;
    // The first of the table's positions is that of Sampling::First.
    const bool isKnown = table && sampling <= Sampling::Few;
    if (!positions && !isKnown)
      positions = sampledPositions(*grid, sampling);
    const std::span<const int> examined(positions ? *positions : table->positions());
    for (int position : sampling == Sampling::First ? examined.first(1) : examined) {
      const ExchangePrice candidate = RankPrice(from, to, grid->rank(position), table)
                                          .by(rates, static_cast<double>(elementBytes));
      price.seconds = std::max(price.seconds, candidate.seconds);
      price.local = price.local && candidate.local;
      // The price is a maximum over positions. Once it exceeds `enough`, the exact value is not
      // needed.
      if (price.seconds >= enough)
        return price;
    }
    // On one grid both lists of positions are the same ranks. Between two grids, a rank can be in
    // one of them only.
    if (from.grid() == to.grid())
      break;
  }
  return price;
}

} // namespace

ExchangePrice priceOfExchange(const Layout& from, const Layout& to, Index elementBytes,
                              const LinkRates& rates, Sampling sampling, double enough) {
  return exchange(from, to, elementBytes, rates, sampling, enough, nullptr);
}

// The pairs of properties for which MPI has a collective.
std::optional<CollectiveKind> collectiveBetween(const Layout& from, const Layout& to, int axis) {
  const Property a = from.property(axis), b = to.property(axis);
  if (a.isShard() && b.isBroadcast())
    return CollectiveKind::AllGather;
  if (a.isRoot() && b.isBroadcast())
    return CollectiveKind::Broadcast;
  if (!a.isPartial())
    return std::nullopt;
  if (b.isShard())
    return CollectiveKind::ReduceScatter;
  if (b.isBroadcast())
    return CollectiveKind::AllReduce;
  return b.isRoot() ? std::optional(CollectiveKind::Reduce) : std::nullopt;
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

namespace {

// Whether an int can count the whole and, for a sum (the collective or its adjoint), the
// contributions of all ranks to the largest piece, which exceed the whole if cuts are uneven.
bool isCountedInInt(const Layout& from, const Layout& to, CollectiveKind kind, int ranks) {
  constexpr Index kMax = std::numeric_limits<int>::max();
  const Index fromElements = from.mostOwnedElements(), toElements = to.mostOwnedElements();
  const Index whole = std::max(fromElements, toElements);
  // The piece of a rank: in a gather or scatter the smaller tensor, otherwise an even share.
  const bool isCut = kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter;
  const Index piece = isCut ? std::min(fromElements, toElements) : whole / ranks + 1;
  return whole <= kMax && piece <= kMax / ranks;
}

std::optional<CollectivePrice> asCollective(const Layout& from, const Layout& to,
                                            Index elementBytes, const LinkRates& rates,
                                            Sampling sampling, const FlowTable* table) {
  std::vector<int> axes = changedAxes(from, to);
  if (axes.empty())
    return std::nullopt;
  const std::optional<CollectiveKind> kind = collectiveBetween(from, to, axes.front());
  const int ranks = from.grid().extentOf(axes);
  const Index whole = std::max(from.mostOwnedElements(), to.mostOwnedElements());
  if (!kind || ranks == 1 || !isCountedInInt(from, to, *kind, ranks))
    return std::nullopt;
  const LinkRates links = rates.levels.empty() ? rates
                          : table              ? outermostRates(axes, rates, table->units())
                                               : outermostRates(from.grid(), axes, rates, sampling);
  const Index bytes = whole * elementBytes;
  const bool sums = kind == CollectiveKind::Reduce || kind == CollectiveKind::AllReduce;
  return CollectivePrice{.kind = *kind,
                         .axes = std::move(axes),
                         .tree = sums && sumsByTree(*kind, ranks, bytes, links),
                         .seconds = priceOfCollective(*kind, ranks, bytes, links)};
}

} // namespace

std::optional<CollectivePrice> priceAsCollective(const Layout& from, const Layout& to,
                                                 Index elementBytes, const LinkRates& rates,
                                                 Sampling sampling) {
  return asCollective(from, to, elementBytes, rates, sampling, nullptr);
}

MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Sampling sampling) {
  return priceOfMove(from, to, elementBytes, rates, sampling, nullptr);
}

MovePrice priceOfMove(const Layout& from, const Layout& to, Index elementBytes,
                      const LinkRates& rates, Sampling sampling, FlowTable* table) {
  // The collective is priced first because that is cheap: the price of an exchange matters only if
  // it is lower.
  FlowTable* const usableTable = covers(table, from, to) ? table : nullptr;
  const auto collective = asCollective(from, to, elementBytes, rates, sampling, usableTable);
  const double enough = collective ? collective->seconds : std::numeric_limits<double>::infinity();
  const ExchangePrice exchangePrice =
      exchange(from, to, elementBytes, rates, sampling, enough, usableTable);
  if (collective && collective->seconds < exchangePrice.seconds)
    return {collective->seconds, collective->kind};
  return {exchangePrice.seconds, std::nullopt};
}

std::unique_ptr<FlowTable> makeFlowTable(const GridPtr& grid, const LinkRates& rates) {
  std::vector<Index> unitRanks;
  for (const LevelRates& level : rates.levels)
    unitRanks.push_back(level.ranks);
  const auto units = UnitAxes::of(*grid, unitRanks);
  std::vector<int> positions = sampledPositions(*grid, Sampling::Few);
  if (!units || !FlowTable::canHold(*grid, *units, positions))
    return nullptr;
  return std::make_unique<FlowTable>(grid, *units, std::move(positions));
}

} // namespace tenon
