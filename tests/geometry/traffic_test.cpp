// SPDX-License-Identifier: BSD-2-Clause
// Tests the counts of messages and elements against the schedules that list them, for random pairs
// of layouts, also by level of a machine; deliberately wrong counts show that the comparison
// detects faults. Also tests changes of single grid axes (axis_change.hpp) by hand.
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/flow_table.hpp"
#include "geometry/schedule/traffic.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tenon {
namespace {

const auto kPairs = static_cast<unsigned>(test::drawsAlone(10000));

using Count = Flow (*)(const Layout&, const Layout&, int, Role);

struct Pair {
  Layout from, to;
  int ranks; // of the communicator; a grid can have fewer
};

Pair drawnPair(unsigned seed) {
  test::LayoutDraw draw(seed);
  const int ranks = draw.between(1, 12);
  const Shape shape = draw.shape(1, 4, 6);
  const GridPtr a = draw.grid(ranks, 3);
  const GridPtr b = draw.chance(60) ? a : draw.grid(ranks, 3);
  const int percent = draw.chance(30) ? 0 : 50;
  const Layout from = draw.layout(shape, a, percent, /*coveringHalos=*/false);
  Pair pair{from, draw.layout(shape, b, percent, /*coveringHalos=*/false), ranks};
  draw.poles(pair.from);
  draw.poles(pair.to);
  draw.modesByChannel(pair.from, pair.to);
  return pair;
}

// The flow of one rank, counted from the transfers that a schedule lists.
Flow listed(const std::vector<Transfer>& transfers, int rank) {
  Flow flow;
  for (const Transfer& t : transfers) {
    flow.others.messages += t.peer != rank;
    flow.others.elements += t.peer == rank ? 0 : t.elements;
    flow.keptElements += t.peer == rank ? t.elements : 0;
  }
  return flow;
}

bool differ(const Flow& a, const Flow& b) {
  return a.others.messages != b.others.messages || a.others.elements != b.others.elements ||
         a.keptElements != b.keptElements;
}

// Number of ranks and roles of a pair of layouts in which the count differs from the schedule.
int faults(const Pair& pair, Count count) {
  int found = 0;
  for (int rank = 0; rank < pair.ranks; ++rank) {
    const Schedule schedule = makeSchedule(pair.from, pair.to, rank);
    found += differ(count(pair.from, pair.to, rank, Role::Source), listed(schedule.sends, rank));
    found += differ(count(pair.from, pair.to, rank, Role::Target), listed(schedule.receives, rank));
  }
  return found;
}

TEST(CountFlow, EqualsTheSchedule) {
  for (unsigned seed = 0; seed < kPairs; ++seed)
    ASSERT_EQ(faults(drawnPair(seed), countFlow), 0) << seed;
}

// Positions of a grid that send and receive the same numbers need not be counted one by one:
// unlikePositions() lists at least one of each kind, and in many pairs fewer than all.
TEST(CountFlow, EveryPositionSendsAsOneOfTheUnlikePositions) {
  const auto moved = [](const Pair& pair, int position) {
    std::vector<Index> numbers;
    for (Role role : {Role::Source, Role::Target}) {
      const Flow flow = countFlow(pair.from, pair.to, pair.from.grid().rank(position), role);
      numbers.insert(numbers.end(),
                     {flow.others.messages, flow.others.elements, flow.keptElements});
    }
    return numbers;
  };
  int fewer = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const Pair pair = drawnPair(seed);
    if (!(pair.from.grid() == pair.to.grid()))
      continue;
    std::set<std::vector<Index>> ofSome, ofAll;
    const std::vector<int> some = unlikePositions(pair.from, pair.to);
    for (int position : some)
      ofSome.insert(moved(pair, position));
    for (int position = 0; position < pair.from.grid().size(); ++position)
      ofAll.insert(moved(pair, position));
    ASSERT_EQ(ofSome, ofAll) << seed;
    fewer += static_cast<int>(some.size()) < pair.from.grid().size();
  }
  EXPECT_GT(fewer, 100);
}

// The pairs of the test above are not all of one kind: each has occurred hundreds of times.
TEST(CountFlow, DrawnPairsHaveAllKindsOfHalos) {
  int modes[2][kBoundaries] = {}, folded = 0, filled = 0, twoGrids = 0, inactive = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    const Pair pair = drawnPair(seed);
    twoGrids += !(pair.from.grid() == pair.to.grid()) && pair.to.hasHalos();
    inactive += pair.from.grid().size() < pair.ranks && pair.to.hasHalos();
    for (const Layout* layout : {&pair.from, &pair.to})
      for (int d = 0; d < layout->ndim(); ++d)
        if (const auto& halo = layout->halo(d)) {
          ++modes[0][static_cast<int>(halo->low)];
          ++modes[1][static_cast<int>(halo->high)];
          (halo->isPartial ? folded : filled) += (layout == &pair.from) == halo->isPartial;
        }
  }
  for (const auto& side : modes)
    for (int mode = 0; mode < kBoundaries; ++mode)
      EXPECT_TRUE(side[mode] > (isPole(Boundary(mode)) ? 100 : 500) ||
                  Boundary(mode) == Boundary::Linked)
          << boundaryName(Boundary(mode)) << " " << side[mode];
  for (int count : {folded, filled, twoGrids, inactive})
    EXPECT_GT(count, 500);
}

// Wrong versions of countFlow(), each with one fault, to show that faults() detects them.
Flow withoutHalos(const Layout& from, const Layout& to, int rank, Role role) {
  return countFlow(from.withoutHalos(), to.withoutHalos(), rank, role);
}
Flow keptAsSent(const Layout& from, const Layout& to, int rank, Role role) {
  Flow flow = countFlow(from, to, rank, role);
  flow.others.elements += flow.keptElements;
  return flow;
}
Flow messageToItself(const Layout& from, const Layout& to, int rank, Role role) {
  Flow flow = countFlow(from, to, rank, role);
  flow.others.messages += flow.keptElements > 0;
  return flow;
}
Flow ofTheOtherRole(const Layout& from, const Layout& to, int rank, Role role) {
  return countFlow(from, to, rank, otherRole(role));
}
Flow ofRankZero(const Layout& from, const Layout& to, int, Role role) {
  return countFlow(from, to, 0, role);
}
Flow ofTheDualHalos(const Layout& from, const Layout& to, int rank, Role role) {
  LayoutSpec spec = to.spec();
  for (auto& halo : spec.halos)
    if (halo)
      halo->isPartial = !halo->isPartial;
  return countFlow(from, Layout(spec), rank, role);
}

TEST(CountFlow, PlantedFaultsAreSeen) {
  for (Count planted :
       {withoutHalos, keptAsSent, messageToItself, ofTheOtherRole, ofRankZero, ofTheDualHalos}) {
    int seen = 0;
    for (unsigned seed = 0; seed < 200; ++seed)
      seen += faults(drawnPair(seed), planted) > 0;
    EXPECT_GT(seen, 20);
  }
}

// The messages and elements of each level of the machine, counted from the peers of the transfers.
std::vector<Traffic> listedByLevel(const std::vector<Transfer>& transfers, int rank,
                                   const std::vector<Index>& unitRanks) {
  std::vector<Traffic> levels(unitRanks.size() + 1);
  for (const Transfer& t : transfers) {
    std::size_t level = 0;
    while (level < unitRanks.size() && t.peer / unitRanks[level] == rank / unitRanks[level])
      ++level;
    levels[level].messages += t.peer != rank;
    levels[level].elements += t.peer == rank ? 0 : t.elements;
  }
  return levels;
}

TEST(CountFlow, ByLevelEqualsTheSchedule) {
  // Ranks in a unit of each level, from the outermost: {4, 2} has units of 4, each of two units of
  // 2.
  const std::vector<std::vector<Index>> machines = {{}, {3}, {4, 2}, {100, 6, 3, 1}, {8, 4, 4}};
  const auto same = [](Traffic a, Traffic b) {
    return a.messages == b.messages && a.elements == b.elements;
  };
  for (unsigned seed = 0; seed < kPairs / 6; ++seed) {
    const Pair pair = drawnPair(seed);
    const std::vector<Index>& machine = machines[seed % machines.size()];
    for (int rank = 0; rank < pair.ranks; ++rank) {
      const Schedule schedule = makeSchedule(pair.from, pair.to, rank);
      for (Role role : {Role::Source, Role::Target})
        ASSERT_TRUE(std::ranges::equal(
            countFlow(pair.from, pair.to, rank, role, machine).others,
            listedByLevel(role == Role::Source ? schedule.sends : schedule.receives, rank, machine),
            same))
            << seed;
    }
  }
}

// Two grids of 2 x 3 x 2 ranks: in the first the last axis varies fastest with the rank, in the
// second the first axis does.
std::vector<GridPtr> regularGrids() {
  std::vector<int> backwards;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c)
        backwards.push_back(6 * c + 2 * b + a);
  return {Grid::make({2, 3, 2}), Grid::make({2, 3, 2}, backwards)};
}

bool sameTraffic(const Traffic& a, const Traffic& b) {
  return a.messages == b.messages && a.elements == b.elements;
}

// One table counts the flows between many pairs of layouts, with halos of all kinds. What it
// remembers of one pair must not spoil the next.
TEST(FlowTable, HasTheFlowsOfTheSchedules) {
  const std::vector<std::vector<Index>> machines = {{}, {6}, {6, 2}, {12, 2, 1}};
  for (const GridPtr& grid : regularGrids())
    for (const std::vector<Index>& machine : machines) {
      const auto units = UnitAxes::of(*grid, machine);
      ASSERT_TRUE(units);
      FlowTable table(grid, *units, {0, 5, 11, 8});
      test::LayoutDraw draw(17);
      for (int pair = 0; pair < 400; ++pair) {
        const Shape shape = draw.shape(1, 4, 6);
        const Layout from = draw.layout(shape, grid, /*haloPercent=*/50, /*coveringHalos=*/false),
                     to = draw.layout(shape, grid, /*haloPercent=*/50, /*coveringHalos=*/false);
        const int position = pair % grid->size(), rank = grid->rank(position);
        for (const Role role : {Role::Source, Role::Target}) {
          const auto listedAt = [&](int one) {
            const Schedule schedule = makeSchedule(from, to, one);
            return listedByLevel(role == Role::Source ? schedule.sends : schedule.receives, one,
                                 machine);
          };
          const LevelFlow flow = countFlow(from, to, rank, role, *units);
          ASSERT_TRUE(std::ranges::equal(flow.others, listedAt(rank), sameTraffic)) << pair;
          const int place = pair % 4, there = grid->rank(table.positions()[place]);
          const FlowTable::TableFlow tabled = table.flow(from, to, place, role);
          const auto wanted = listedAt(there);
          ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), tabled.others.begin(), sameTraffic))
              << pair;
          ASSERT_EQ(tabled.keptElements, countFlow(from, to, there, role).keptElements) << pair;
        }
      }
    }
}

// As above, with messages counted by the level of the machine that they cross: within units of 2
// and of 6 ranks, and between the latter.
TEST(FlowTable, EveryPositionSendsInEachLevelAsOneOfTheUnlikePositions) {
  int fewer = 0;
  for (const GridPtr& grid : regularGrids()) {
    const UnitAxes units = *UnitAxes::of(*grid, {6, 2});
    test::LayoutDraw draw(18);
    for (int pair = 0; pair < 300; ++pair) {
      const Shape shape = draw.shape(1, 4, 6);
      const Layout from = draw.layout(shape, grid, /*haloPercent=*/50, /*coveringHalos=*/false),
                   to = draw.layout(shape, grid, /*haloPercent=*/50, /*coveringHalos=*/false);
      const auto moved = [&](int position) {
        std::vector<Index> numbers;
        for (const Role role : {Role::Source, Role::Target})
          for (const Traffic& t : countFlow(from, to, grid->rank(position), role, units).others)
            numbers.insert(numbers.end(), {t.messages, t.elements});
        return numbers;
      };
      std::set<std::vector<Index>> ofSome, ofAll;
      const std::vector<int> some = unlikePositions(from, to, units);
      for (int position : some)
        ofSome.insert(moved(position));
      for (int position = 0; position < grid->size(); ++position)
        ofAll.insert(moved(position));
      ASSERT_EQ(ofSome, ofAll) << pair;
      fewer += static_cast<int>(some.size()) < grid->size();
    }
  }
  EXPECT_GT(fewer, 50);
}

TEST(UnitAxes, AreEmptyIfUnitsAreNotSeparatedByAxes) {
  EXPECT_EQ(UnitAxes::of(*Grid::make({4, 3}), {6}), std::nullopt);
  EXPECT_EQ(UnitAxes::of(*Grid::make({2, 2}, {0, 1, 3, 2}), {2}), std::nullopt);
  EXPECT_EQ(UnitAxes::of(*Grid::make({2, 2}, {1, 2, 3, 4}), {2}), std::nullopt);
  EXPECT_EQ(UnitAxes::of(*Grid::make({2, 2}), {2})->apart, (std::vector<AxisMask>{1}));
}

// 8192 rows of 3 elements on 4096 ranks, with units of 1024 and of 16 ranks. For a halo of one row
// each rank receives 3 elements from each of two neighbours.
TEST(CountFlow, AHaloCrossesTheEdgesOfItsUnits) {
  const GridPtr grid = Grid::make({4096});
  const Layout plain({.shape = {8192, 3}, .grid = grid, .properties = {Property::shard(0)}});
  LayoutSpec spec = plain.spec();
  Halo widened{.boxes = {}, .low = Boundary::Periodic, .high = Boundary::Periodic};
  for (int part = 0; part < 4096; ++part)
    widened.boxes.push_back({2 * part - 1, 2 * part + 3});
  spec.halos[0] = widened;
  const Layout halo(spec);
  const auto elements = [&](int rank) {
    std::vector<Index> counts;
    for (const Traffic& t : countFlow(plain, halo, rank, Role::Target, {1024, 16}).others)
      counts.push_back(t.elements);
    return counts;
  };
  EXPECT_EQ(elements(5), (std::vector<Index>{0, 0, 6}));
  EXPECT_EQ(elements(15), (std::vector<Index>{0, 3, 3}));
  EXPECT_EQ(elements(1024), (std::vector<Index>{3, 0, 3}));
  EXPECT_EQ(elements(4095), (std::vector<Index>{3, 0, 3})); // around the end
}

Layout layoutOn(const GridPtr& grid, Shape shape, const char* properties,
                std::vector<std::vector<Index>> cuts = {}) {
  return Layout({.shape = std::move(shape),
                 .grid = grid,
                 .properties = parseProperties(properties),
                 .splitAxes = {},
                 .cuts = std::move(cuts)});
}

const std::vector<int> kNone;

TEST(AxisChange, AnAxisLeavesAndEntersAsTheMinorOne) {
  const GridPtr grid = Grid::make({2, 3});
  const Layout both = layoutOn(grid, {12, 5}, "S0,S0", {{0, 1, 2, 3, 4, 8, 12}, {0, 5}});
  EXPECT_FALSE(withProperty(both, 0, Property::broadcast()));
  const Layout joined = *withProperty(both, 1, Property::broadcast());
  EXPECT_EQ(joined.cuts(0), (std::vector<Index>{0, 3, 12}));
  const Layout entered = *withProperty(joined, 1, Property::shard(0));
  EXPECT_EQ(entered.cuts(0), (std::vector<Index>{0, 1, 2, 3, 6, 9, 12}));
  EXPECT_EQ(*withProperty(joined, 1, Property::shard(0), &both), both);
}

TEST(AxisChange, TheGoalsCutsCountOnlyIfTheyDivideTheParts) {
  const GridPtr grid = Grid::make({2, 2});
  const Layout goal = layoutOn(grid, {8}, "S0,S0", {{0, 1, 2, 3, 8}});
  const Layout other = layoutOn(grid, {8}, "S0,B");
  EXPECT_EQ(withProperty(other, 1, Property::shard(0), &goal)->cuts(0),
            (std::vector<Index>{0, 2, 4, 6, 8}));
  EXPECT_EQ(changedAxes(other, goal), kNone);
}

TEST(AxisChange, FindsTheAxesThatChangeInTheSameWay) {
  const GridPtr grid = Grid::make({2, 2});
  const Layout start = layoutOn(grid, {8, 8}, "P,S0");
  EXPECT_EQ(changedAxes(start, layoutOn(grid, {8, 8}, "B,S0")), (std::vector<int>{0}));
  EXPECT_EQ(changedAxes(start, layoutOn(grid, {8, 8}, "P,S1")), (std::vector<int>{1}));
  EXPECT_EQ(changedAxes(start, layoutOn(grid, {8, 8}, "B,S1")), kNone);
  EXPECT_EQ(changedAxes(start, start), kNone);
  // Axis 0 would become the major one.
  EXPECT_EQ(changedAxes(start, layoutOn(grid, {8, 8}, "S0,S0")), kNone);
  EXPECT_EQ(changedAxes(start, layoutOn(Grid::make({4}), {8, 8}, "B")), kNone);
}

TEST(AxisChange, SeveralAxesAreInTheOrderOfTheirDimension) {
  const GridPtr grid = Grid::make({2, 3, 2});
  LayoutSpec spec = layoutOn(grid, {24}, "S0,S0,S0").spec();
  spec.splitAxes[0] = {1, 2, 0};
  spec.cuts[0].clear();
  const Layout cut(spec);
  EXPECT_EQ(changedAxes(layoutOn(grid, {24}, "P,S0,P"), cut), (std::vector<int>{2, 0}));
  EXPECT_EQ(changedAxes(cut, layoutOn(grid, {24}, "B,B,B")), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(changedAxes(layoutOn(grid, {24}, "P,B,P"), layoutOn(grid, {24}, "B,B,B")),
            (std::vector<int>{0, 2}));
  // One axis is summed, the other gathered; and axis 1 stays, but is not the major one any more.
  EXPECT_EQ(changedAxes(layoutOn(grid, {24}, "P,B,S0"), layoutOn(grid, {24}, "B,B,B")), kNone);
  EXPECT_EQ(changedAxes(cut, layoutOn(grid, {24}, "S0,B,S0")), kNone);
}

TEST(SumBetween, IsAConversionOrAdjointThatOnlySums) {
  const GridPtr grid = Grid::make({2, 3});
  struct Case {
    const char *from, *to;
    std::vector<int> axes; // none: no sum
    SumGoal goal = SumGoal::All;
    int dim = -1;
    bool isTransposed = false;
  };
  // {from, to, axes that are summed, goal, dimension of the shares, whether it is an adjoint}
  for (const Case& one : {Case{"P,P", "B,B", {0, 1}},
                          {"S0,P", "S0,B", {1}},
                          {"P,S0", "S1,S0", {0}, SumGoal::Share, 1},
                          {"P,P", "S1,S1", {0, 1}, SumGoal::Share, 1},
                          {"P,B", "R,B", {0}, SumGoal::First},
                          {"S0,S1", "S0,B", {1}, SumGoal::Share, 1, true},
                          {"B,R", "B,B", {1}, SumGoal::First, -1, true},
                          {"P,S0", "S0,S0", {}},
                          {"P,P", "B,R", {}},
                          {"P,S0", "B,S1", {}},
                          {"B,B", "P,B", {}},
                          {"S0,B", "S1,B", {}},
                          {"P,B", "P,B", {}}}) {
    const auto sum = sumBetween(layoutOn(grid, {8, 8}, one.from), layoutOn(grid, {8, 8}, one.to));
    SCOPED_TRACE(std::string(one.from) + " -> " + one.to);
    ASSERT_EQ(sum.has_value(), !one.axes.empty());
    if (!sum)
      continue;
    EXPECT_EQ(sum->axes, one.axes);
    EXPECT_EQ(sum->goal, one.goal);
    EXPECT_EQ(sum->dim, one.dim);
    EXPECT_EQ(sum->isTransposed, one.isTransposed);
  }
  const Layout contributions = layoutOn(Grid::make({4}), {8}, "P");
  EXPECT_FALSE(sumBetween(contributions, layoutOn(grid, {8}, "B,B")));
}

} // namespace
} // namespace tenon
