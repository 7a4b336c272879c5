// SPDX-License-Identifier: BSD-2-Clause
// Tests that conversions send and hold what their movements say (reduction/movement/movement.hpp):
// messages and elements as the event log counts them, and buffers byte by byte, for drawn layouts,
// by routes and by programs on levels of the machine, with messages and with shared memory.
#include "reduction/movement/movement.hpp"

#include "comm/memory/lane.hpp"
#include "linop/operators.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"
#include "sys/log/log.hpp"

namespace tenon {
namespace {

using test::world;

// Messages and bytes of one application or adjoint. The first one also announces lanes, which is
// not counted.
Traffic countedIn(LinearOp& op, Sense sense) {
  const test::Ends ends(op, sense, 1);
  test::act(op, sense, 1, *ends.x, 0, *ends.y);
  logEnable(true);
  logReset();
  test::act(op, sense, 1, *ends.x, 0, *ends.y);
  logEnable(false);
  Traffic counted;
  for (const EventRecord& record : logSnapshot())
    counted += {record.messages, record.bytes / Index(sizeof(double))};
  return counted;
}

void expectAsDecided(const Layout& from, const Layout& to, const MovementPolicy& policy) {
  const Movement movement = movementOf(from, to, sizeof(double), policy.on(*world()));
  const LinearOpRef op = makeConversion(world(), from, to, TENON_FLOAT64, policy);
  const int rank = world()->rank();
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const Traffic counted = countedIn(*op, sense),
                  sent = movement.sent(rank, sense == Sense::Forward ? Role::Source : Role::Target);
    ASSERT_EQ(counted.messages, sent.messages) << op->describe();
    ASSERT_EQ(counted.elements, sent.elements) << op->describe();
  }
  const bool byLanes = world()->arena() && policy.carrier.transport != Transport::Messages;
  const SharedByNode shared{.ranks = byLanes ? world()->ranksPerNode() : 0, .laneBytes = laneBytes};
  ASSERT_EQ(double(op->bufferBytes()), movement.bufferBytes(rank, shared, /*bothWays=*/true))
      << op->describe();
}

std::vector<SumPolicy> sumPolicies() {
  const int ranks = world()->size();
  std::vector<SumPolicy> policies = {{}};
  SumPolicy levels{.by = SumPolicy::By::Cheapest};
  if (ranks % 2 == 0 && ranks > 2) {
    levels.levels = {2, ranks / 2};
    policies.push_back(levels);
  }
  policies.push_back({.by = SumPolicy::By::Programs,
                      .programs = {parseProgram("(0, InsideGroup, ReduceScatter), "
                                                "(0, InsideGroup, AllGather)")}});
  return policies;
}

TEST(MovementThatRuns, SendsAndHoldsWhatWasDecided) {
  const std::vector<SumPolicy> sums = sumPolicies();
  constexpr LinkRates kBytes{
      .latency = 1e-9, .overhead = 1e-9, .bandwidth = 1e6, .copyBandwidth = 1e12};
  // Auto, the default, is drawn twice as often as the others.
  constexpr RouteMode kModes[] = {RouteMode::Auto, RouteMode::Auto, RouteMode::Chain,
                                  RouteMode::Collective, RouteMode::Exchange};
  for (unsigned seed = 0, end = test::draws(60); seed < end; ++seed) {
    test::LayoutDraw draw(4000 + seed);
    const GridPtr grid = draw.grid(world()->size(), 3);
    const Shape shape = draw.shape(1, 3, 6);
    const Layout from = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false),
                 to = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false);
    MovementPolicy policy{
        .route = {.mode = kModes[seed % 5], .rates = seed % 2 == 0 ? LinkRates() : kBytes},
        .carrier = CarrierPolicy::fromOptions(),
        .sums = sums[seed % sums.size()]};
    policy.carrier.transport = seed % 3 == 0 ? Transport::Messages : Transport::Auto;
    ASSERT_NO_FATAL_FAILURE(expectAsDecided(from, to, policy)) << "seed " << seed;
  }
}

// Sums of all kinds, which random layouts seldom are.
TEST(MovementThatRuns, SumsAsWasDecided) {
  const int ranks = world()->size();
  for (const SumPolicy& sums : sumPolicies())
    for (const auto& [from, to] : {std::pair("P", "B"),
                                   {"P", "S0"},
                                   {"P", "S1"},
                                   {"P", "R"},
                                   {"S0", "B"},
                                   {"S1", "B"},
                                   {"R", "B"}})
      for (const Index length : {3, 300})
        for (const Transport transport : {Transport::Messages, Transport::Auto}) {
          MovementPolicy policy{.route = {}, .carrier = CarrierPolicy::fromOptions(), .sums = sums};
          policy.carrier.transport = transport;
          policy.route.rates.bandwidth = length == 3 ? 5e9 : 1e7;
          const GridPtr line = Grid::make({ranks});
          ASSERT_NO_FATAL_FAILURE(expectAsDecided(test::layoutOn(line, {length, 7}, from),
                                                  test::layoutOn(line, {length, 7}, to), policy));
        }
}

} // namespace
} // namespace tenon
