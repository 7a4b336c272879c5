// SPDX-License-Identifier: BSD-2-Clause
// Prints the data that leaves the nodes of a machine in sums, halo exchanges and repartitions. It
// is counted without MPI or a cluster, from the schedules of all ranks on a described machine of
// nodes, whose device r is rank r. Each conversion is counted on the route that the library
// chooses; if it sums over nodes, also with the reduction program that is chosen; and if it sums
// and redistributes, also with the sum in a step of its own. Bytes are multiples of S, the size of
// the whole tensor.
//
//   tests/bench/between_nodes
#include "geometry/layout/layout_draft.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/traffic.hpp"
#include "machine/line.hpp"
#include "machine/route.hpp"
#include "reduction/reduction_groups.hpp"
#include "reduction/sum_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

namespace tenon::bench {
namespace {

constexpr Index kElementBytes = 4;

struct Nodes {
  int count, ranks;           // ranks of each
  std::optional<double> most; // of a large sum, out of a node
  int size() const { return count * ranks; }
  LinkRates rates() const { return withAssumedNodes({}, {count, ranks}); }
};

// The messages and elements that all ranks send to each other.
class Counted {
public:
  explicit Counted(const Nodes& nodes)
      : nodes_(nodes), elements_(nodes.count), messages_(nodes.size()) {}

  void send(int from, int to, Index elements) {
    if (from == to || elements == 0)
      return;
    ++messages_[from];
    if (from / nodes_.ranks != to / nodes_.ranks)
      elements_[from / nodes_.ranks] += elements;
  }
  void add(int rank, const LevelFlow& flow) {
    for (const Traffic& traffic : flow.others)
      messages_[rank] += traffic.messages;
    elements_[rank / nodes_.ranks] += flow.others.front().elements;
  }

  void add(const Counted& other) {
    std::ranges::transform(elements_, other.elements_, elements_.begin(), std::plus());
    std::ranges::transform(messages_, other.messages_, messages_.begin(), std::plus());
  }

  Index mostElements() const { return std::ranges::max(elements_); }
  Index mostMessages() const { return std::ranges::max(messages_); }

private:
  const Nodes& nodes_;
  std::vector<Index> elements_; // out of each node
  std::vector<Index> messages_; // of each rank
};

// For a step by a collective of MPI, the algorithm inside MPI is unknown. It is counted as if each
// rank sent its pieces to each other rank of the line; along a tree, and in a broadcast, as if each
// parent of the binomial tree sent to its children.
void countCollective(Counted& counted, const RouteStep& step) {
  const Grid& grid = step.from.grid();
  for (int rank : grid.ranks()) {
    const CollectivePieces pieces = collectivePieces(step, rank);
    if (!pieces.takesPart)
      continue;
    const std::vector<int> line = lineOf(grid, step.axes, grid.position(rank));
    const int me = pieces.coordinate, ranks = static_cast<int>(line.size());
    const CollectiveKind kind = *step.collective;
    const bool gathers =
        kind == CollectiveKind::AllGather || (kind == CollectiveKind::AllReduce && !step.tree);
    const bool scatters = kind == CollectiveKind::ReduceScatter ||
                          (kind == CollectiveKind::AllReduce && !step.tree) ||
                          (kind == CollectiveKind::Reduce && !step.tree);
    for (int other = 0; other < ranks; ++other) {
      if (scatters && other != me)
        counted.send(rank, line[other], pieces.piece(other));
      if (gathers && other != me)
        counted.send(rank, line[other], pieces.piece(me));
    }
    if (kind == CollectiveKind::Reduce && !step.tree && me != 0)
      counted.send(rank, line[0], pieces.piece(me));
    const bool down =
        kind == CollectiveKind::Broadcast || (kind == CollectiveKind::AllReduce && step.tree);
    const int lowest = me == 0 ? static_cast<int>(std::bit_ceil(unsigned(ranks))) : me & -me;
    if (step.tree && me != 0)
      counted.send(rank, line[me - lowest], pieces.elements);
    for (int bit = 1; down && bit < lowest; bit *= 2)
      if (me + bit < ranks)
        counted.send(rank, line[me + bit], pieces.elements);
  }
}

Counted countRoute(const Nodes& nodes, const Route& route) {
  Counted counted(nodes);
  for (const RouteStep& step : route)
    if (step.collective)
      countCollective(counted, step);
    else
      for (int rank : step.from.grid().ranks())
        counted.add(rank, countFlow(step.from, step.to, rank, Role::Source, {nodes.ranks}));
  return counted;
}

// The transpose of a sum sends the messages that the sum receives.
Counted countProgram(const Nodes& nodes, const Layout& from, const Layout& to,
                     const SumChange& change, const ReductionPlan& plan) {
  Counted counted(nodes);
  for (int rank : from.grid().ranks())
    for (const ScheduledStep& step : scheduledSteps(plan, from, to, change, kElementBytes, rank))
      for (const Transfer& t : change.isTransposed ? step.schedule.receives : step.schedule.sends)
        counted.send(rank, t.peer, t.elements);
  return counted;
}

std::optional<SumPlan> programOf(const Nodes& nodes, const Layout& from, const Layout& to) {
  const std::optional<SumChange> sum = sumBetween(from, to);
  if (!sum)
    return std::nullopt;
  const LinkRates rates = nodes.rates();
  return cheapestPlan(
      levelsOfSum(from.grid(), *sum, levelsOf(rates, nodes.size()), rates),
      static_cast<double>(mostElements(sum->isTransposed ? to : from) * kElementBytes));
}

// The steps of a conversion that sums and redistributes; none if one exchange costs less.
Route stepsOf(const Nodes& nodes, const Layout& from, const Layout& to) {
  const LinkRates rates = nodes.rates();
  SumPrices prices(rates, nodes.size());
  SumRoute best = cheapestSumRoute(
      from, to, kElementBytes, prices, [&](const Layout& begin, const Layout& end) {
        return priceOfExchange(begin, end, kElementBytes, rates, Sampling::Sampled).seconds;
      });
  return best.steps.size() > 1 ? std::move(best.steps) : Route();
}

void print(const std::string& move, const std::string& way, const Counted& counted, Index whole,
           std::optional<double> target) {
  const double share = static_cast<double>(counted.mostElements()) / static_cast<double>(whole);
  fmt::print("  {:<24} {:>9.3f} S {:>6} messages  {}{}\n", move, share, counted.mostMessages(), way,
             target ? fmt::format("  <= {} S {}", *target, share <= *target ? "met" : "not met")
                    : "");
}

void measure(const Nodes& nodes, const std::string& name, const Layout& from, const Layout& to) {
  const Index whole = elements(from.shape());
  const Route route = findRoute(from, to, kElementBytes, {});
  std::string steps;
  for (const RouteStep& step : route)
    steps += (steps.empty() ? "route: " : ", ") + std::string(step.name());
  print(name, steps, countRoute(nodes, route), whole, {});
  if (const Route parts = stepsOf(nodes, from, to); !parts.empty()) {
    Counted all(nodes);
    std::string texts;
    for (const RouteStep& step : parts) {
      const auto sum = programOf(nodes, step.from, step.to);
      all.add(
          sum ? countProgram(nodes, step.from, step.to, *sumBetween(step.from, step.to), sum->plan)
              : countRoute(nodes, {step}));
      texts += fmt::format("{}{} -> {}", texts.empty() ? "steps: " : ", ",
                           tenon::describe(step.from.properties()),
                           tenon::describe(step.to.properties()));
    }
    print(name, texts, all, whole, {});
  }
  const auto sum = programOf(nodes, from, to);
  if (!sum)
    return;
  // If each rank gets a share of the sum, data leaves a node once; for the whole sum twice.
  std::optional<double> most = whole > 1 << 16 ? nodes.most : std::nullopt;
  if (most && sum->plan.goal == SumGoal::Share)
    *most /= 2;
  print(name, describe(sum->plan.program),
        countProgram(nodes, from, to, *sumBetween(from, to), sum->plan), whole, most);
}

Layout on(const GridPtr& grid, const Shape& shape, const std::string& properties) {
  return Layout({.shape = shape, .grid = grid, .properties = parseProperties(properties)});
}

void measure(const Nodes& nodes) {
  fmt::print("{} ranks on {} nodes of {}: most out of a node, most messages of a rank\n",
             nodes.size(), nodes.count, nodes.ranks);
  const GridPtr line = Grid::make({nodes.size()});
  for (const Index length : {Index(1) << 24, Index(1) << 10}) {
    const auto sum = [&](const char* from, const char* to) {
      measure(nodes, fmt::format("{} -> {}, {} cells", from, to, length), on(line, {length}, from),
              on(line, {length}, to));
    };
    sum("P", "B");
    sum("P", "S0");
    sum("S0", "B");
    sum("R", "B");
    sum("P", "R");
  }
  const GridPtr two = Grid::make({2, nodes.size() / 2});
  measure(nodes, "P,S0 -> B,S0", on(two, {1 << 20}, "P,S0"), on(two, {1 << 20}, "B,S0"));
  measure(nodes, "S0,P -> S0,B", on(two, {1 << 20}, "S0,P"), on(two, {1 << 20}, "S0,B"));
  for (const auto& [from, to] : {std::pair("P,S0", "B,S1"),
                                 {"S0,P", "S1,B"},
                                 {"P,S0", "S1,S1"},
                                 {"P,S0", "B,B"},
                                 {"P,B", "B,S0"},
                                 {"S0,S1", "S1,B"}})
    measure(nodes, fmt::format("{} -> {}", from, to), on(two, {1024, 1024}, from),
            on(two, {1024, 1024}, to));
  const Layout slabs = on(line, {1024, 1024}, "S0");
  LayoutDraft halo(slabs);
  halo.setHaloWidths(0, 1, 1, Boundary::Zero, Boundary::Zero);
  measure(nodes, "halo of slabs", slabs, halo.build());
  measure(nodes, "S0 -> S1", slabs, on(line, {1024, 1024}, "S1"));
}

} // namespace
} // namespace tenon::bench

int main() {
  using tenon::bench::Nodes;
  for (const Nodes& nodes : {Nodes{4, 8, 1.55}, Nodes{8, 8, 1.8}, Nodes{2, 8, 1.05},
                             Nodes{64, 1, {}}, Nodes{128, 8, {}}})
    tenon::bench::measure(nodes);
}
