// SPDX-License-Identifier: BSD-2-Clause
// Tests how movementOf() decides, and what its movements send and hold, against numbers computed by
// hand. Nothing communicates. That operators send and hold what their movements say is tested in
// tests/linop/movement_run_test.cpp.
#include "reduction/movement/movement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon {
namespace {

using By = Movement::By;

Layout on(const GridPtr& grid, Shape shape, const char* properties) {
  return Layout(
      {.shape = std::move(shape), .grid = grid, .properties = parseProperties(properties)});
}

// Messages cost little beside their bytes, but fewer of them are better for equal bytes.
constexpr LinkRates kBytes{
    .latency = 1e-6, .overhead = 1e-6, .bandwidth = 1e6, .copyBandwidth = 1e15};

MovementTarget target(int ranks, Index ranksPerNode, SumPolicy sums,
                      RouteMode mode = RouteMode::Auto, const LinkRates& rates = kBytes,
                      Space space = Space::Host) {
  return MovementTarget::on(ranks, ranksPerNode, space, {.mode = mode, .rates = rates},
                            std::move(sums));
}

const SumPolicy kCheapest{.by = SumPolicy::By::Cheapest}, kVendor{.by = SumPolicy::By::Vendor};

TEST(Movement, OfASumWithinANodeIsItsRoute) {
  const GridPtr few = Grid::make({3}), many = Grid::make({64});
  const Movement one = movementOf(on(few, {6}, "P"), on(few, {6}, "B"), 8,
                                  target(3, 3, kCheapest, RouteMode::Auto, LinkRates()));
  EXPECT_EQ(one.by, By::Exchange);
  // Each rank sends its 6 contributions to both others.
  EXPECT_EQ(one.sent(1, Role::Source).messages, 2);
  EXPECT_EQ(one.sent(1, Role::Source).elements, 12);
  // Packed and received contributions of both other ranks.
  EXPECT_EQ(one.bufferBytes(1, {}, true), 8 * (2 * 6 + 2 * 6));
  const Movement steps =
      movementOf(on(many, {64000}, "P"), on(many, {64000}, "B"), 8, target(64, 64, kCheapest));
  ASSERT_EQ(steps.by, By::Steps);
  ASSERT_EQ(steps.parts.size(), 2u); // a share of the sum for each rank, then all of them
  EXPECT_EQ(steps.parts.front().to(), on(many, {64000}, "S0"));
  EXPECT_EQ(steps.parts.front().to(), steps.parts.back().from());
  EXPECT_NEAR(steps.ends.seconds,
              steps.parts.front().ends.seconds + steps.parts.back().ends.seconds, 1e-12);
}

// Two nodes of four ranks: a reduce-scatter in each node sends 3/4 of the array, the sum of the
// nodes' shares 1/4, and the all-gather 3/4.
TEST(Movement, OfASumBetweenNodesIsAProgram) {
  const GridPtr line = Grid::make({8});
  const Movement sum =
      movementOf(on(line, {1000}, "P"), on(line, {1000}, "B"), 8, target(8, 4, kCheapest));
  ASSERT_EQ(sum.by, By::Program);
  EXPECT_EQ(describe(sum.program.program), "(1, InsideGroup, ReduceScatter), (1, Parallel(0), "
                                           "AllReduce), (1, InsideGroup, AllGather)");
  EXPECT_NE(sum.why.find("by a program"), std::string::npos);
  for (const int rank : {0, 3, 7})
    for (const Role role : {Role::Source, Role::Target}) {
      EXPECT_EQ(sum.sent(rank, role).messages, 3 + 1 + 3);
      EXPECT_EQ(sum.sent(rank, role).elements, 750 + 250 + 750);
    }
  // Two arrays of the whole and, in both directions, the messages of each step.
  EXPECT_EQ(sum.bufferBytes(5, {}, true), 8.0 * (2 * 1000 + 2 * 1750));
  // Between the ranks of a node, messages of 750 + 750 elements go through lanes in shared memory,
  // which are here twice as large as their data.
  const SharedByNode lanes{.ranks = 4, .laneBytes = [](Index bytes, Index) { return 2 * bytes; }};
  EXPECT_EQ(sum.bufferBytes(5, lanes, true), 8.0 * (2 * 1000 + 2 * (2 * 1500 + 250)));
}

TEST(Movement, OfASumThatAlsoRedistributesHasSteps) {
  const GridPtr grid = Grid::make({4, 2});
  const Layout from = on(grid, {4000, 8}, "P,S0"), to = on(grid, {4000, 8}, "B,S1");
  const LinkRates free{.latency = 1e-9, .overhead = 1e-9, .bandwidth = 1e6, .copyBandwidth = 1e12};
  const Movement movement = movementOf(from, to, 8, target(8, 4, kCheapest, RouteMode::Auto, free));
  ASSERT_EQ(movement.by, By::Steps);
  EXPECT_TRUE(movement.has(By::Program));
  EXPECT_EQ(movement.parts.front().from(), from);
  EXPECT_EQ(movement.parts.back().to(), to);
  Traffic sum;
  for (std::size_t i = 0; i < movement.parts.size(); ++i) {
    sum += movement.parts[i].sent(3, Role::Target);
    const Layout& before = i > 0 ? movement.parts[i - 1].to() : from;
    EXPECT_EQ(before, movement.parts[i].from());
  }
  EXPECT_EQ(movement.sent(3, Role::Target).elements, sum.elements);
}

TEST(Movement, ThatIsRequestedIsNotReplaced) {
  const GridPtr line = Grid::make({8});
  const auto byOf = [&](const char* to, const MovementTarget& requested) {
    return movementOf(on(line, {1000}, "P"), on(line, {1000}, to), 8, requested).by;
  };
  EXPECT_EQ(byOf("B", target(8, 4, kCheapest, RouteMode::Exchange)), By::Exchange);
  EXPECT_NE(byOf("B", target(8, 4, kCheapest, RouteMode::Collective)), By::Program);
  EXPECT_NE(byOf("B", target(8, 4, {})), By::Program);
  // A program of the user leaves the whole sum on each rank, in any mode but one exchange.
  const SumPolicy program{.by = SumPolicy::By::Programs,
                          .programs = {parseProgram("(0, InsideGroup, AllReduce)")}};
  EXPECT_EQ(byOf("B", target(8, 8, program)), By::Program);
  EXPECT_EQ(byOf("B", target(8, 8, program, RouteMode::Collective)), By::Program);
  EXPECT_NE(byOf("S0", target(8, 8, program)), By::Program);
}

// Arrays on devices are summed by one call, those on the host by their route.
TEST(Movement, ByTheVendorIsForArraysOnDevices) {
  const GridPtr grid = Grid::make({4, 1});
  const auto moved = [&](const char* from, const char* to, Space space) {
    return movementOf(on(grid, {5, 8}, from), on(grid, {5, 8}, to), 4,
                      target(4, 4, kVendor, RouteMode::Auto, LinkRates(), space));
  };
  const Movement sum = moved("P,B", "B,B", Space::Device);
  ASSERT_EQ(sum.by, By::Vendor);
  EXPECT_STREQ(sum.ends.name(), "all-reduce");
  EXPECT_EQ(sum.sent(2, Role::Source).messages, 1); // one call of the vendor's library
  EXPECT_EQ(sum.sent(2, Role::Source).elements, 5 * 8);
  EXPECT_EQ(sum.bufferBytes(2, {}, true), 0);
  // Shares of the second dimension do not follow each other in the array, which is packed.
  const Movement shares = moved("P,B", "S1,B", Space::Device);
  ASSERT_EQ(shares.by, By::Vendor);
  EXPECT_EQ(shares.sent(2, Role::Target).elements, 10); // gathered by the adjoint
  EXPECT_EQ(shares.bufferBytes(2, {}, true), 4 * 40);
  EXPECT_STREQ(moved("R,B", "B,B", Space::Device).ends.name(), "broadcast");
  EXPECT_EQ(moved("R,B", "B,B", Space::Device).sent(2, Role::Source).messages, 0);

  // On the host each rank sends its contributions to the three others, from and into buffers.
  const Movement host = moved("P,B", "B,B", Space::Host);
  ASSERT_EQ(host.by, By::Vendor);
  ASSERT_EQ(host.parts.size(), 1u);
  EXPECT_EQ(host.sent(2, Role::Source).elements, 3 * 40);
  EXPECT_EQ(host.bufferBytes(2, {}, true), 4 * (3 * 40 + 3 * 40));
  for (const auto& [from, to] : {std::pair("S0,B", "S1,B"), {"B,P", "B,B"}, {"S0,B", "P,B"}})
    EXPECT_FALSE(moved(from, to, Space::Device).has(By::Vendor)) << from << " -> " << to;
}

// Nodes of different sizes have no levels, and ranks that do not fit the levels have no program;
// both say why.
TEST(Movement, SaysWhyThereIsNoProgram) {
  const GridPtr line = Grid::make({7});
  const auto whyOf = [&](const MovementTarget& requested) {
    const Movement sum = movementOf(on(line, {9}, "P"), on(line, {9}, "B"), 8, requested);
    EXPECT_NE(sum.by, By::Program);
    return sum.why;
  };
  EXPECT_NE(whyOf(target(7, 0, kCheapest)).find("number ranks node by node"), std::string::npos);
  SumPolicy levels = kCheapest;
  levels.levels = {2, 3};
  EXPECT_NE(whyOf(target(7, 7, levels)).find("by the route, since"), std::string::npos);
}

TEST(Movement, MostSentIsABound) {
  const GridPtr grid = Grid::make({4, 2});
  for (const auto& [from, to] : {std::pair("P,S0", "B,S1"),
                                 {"P,P", "B,B"},
                                 {"S0,S1", "B,S1"},
                                 {"S0,B", "S1,B"},
                                 {"P,S0", "S0,B"}})
    for (const Index perNode : {2, 8})
      for (const Role role : {Role::Source, Role::Target}) {
        const Movement movement = movementOf(on(grid, {401, 39}, from), on(grid, {401, 39}, to), 8,
                                             target(8, perNode, kCheapest));
        const Traffic bound = movement.mostSent(role);
        Traffic most;
        for (int rank = 0; rank < 8; ++rank) {
          most.messages = std::max(most.messages, movement.sent(rank, role).messages);
          most.elements = std::max(most.elements, movement.sent(rank, role).elements);
        }
        EXPECT_GE(bound.messages, most.messages) << from << " -> " << to;
        EXPECT_GE(bound.elements, most.elements) << from << " -> " << to;
        if (movement.by == By::Exchange) {
          EXPECT_EQ(bound.elements, most.elements) << from << " -> " << to;
        }
      }
}

} // namespace
} // namespace tenon
