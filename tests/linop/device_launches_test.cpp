// SPDX-License-Identifier: BSD-2-Clause
// Tests how many CUDA kernels a halo exchange or a sum launches, counted by the stand-in for CUDA:
// one that packs the parts for all ranks, and one that combines the parts of all ranks, for any
// number of ranks. The values must be those of the host.
#include "operators.hpp"
#include "standin/calls.hpp"
#include "standin/kernels.hpp"
#include "support/own_communicator.hpp"

namespace tenon {
namespace {

using test::act;
using test::Ends;
using test::world;

// Adds a halo of two elements on both sides in all dimensions after the first two.
Layout withHalos(const Layout& plain, Boundary boundary) {
  LayoutSpec spec = plain.spec();
  spec.halos.resize(spec.shape.size());
  for (int d = 2; d < plain.ndim(); ++d) {
    Halo halo{.boxes = {}, .low = boundary, .high = boundary};
    for (int part = 0; part < plain.parts(d); ++part) {
      const Interval owned = plain.owned(d, part);
      halo.boxes.push_back({owned.begin - 2, owned.end + 2});
    }
    spec.halos[d] = halo;
  }
  return Layout(spec);
}

struct Case {
  const char* name;
  Shape shape;
  std::vector<int> grid;
  const char* properties;
  Boundary boundary;
};

std::vector<Case> cases() {
  const int ranks = world()->size(), half = ranks % 2 == 0 ? ranks / 2 : ranks;
  const int other = ranks / half;
  return {{"line", {1, 3, 19, 6}, {ranks}, "S2", Boundary::Periodic},
          {"plane", {1, 2, 9, 11}, {half, other}, "S2,S3", Boundary::Periodic},
          {"ends", {1, 2, 9, 11}, {half, other}, "S2,S3", Boundary::Zero},
          {"space", {2, 2, 6, 9, 11}, {half, 1, other}, "S2,S3,S4", Boundary::Periodic},
          {"reflected", {1, 2, 6, 9, 11}, {half, other}, "S2,S3", Boundary::Reflect}};
}

// Returns the number of kernels of the second action, and compares its values with those of the
// host.
std::uint64_t kernelsOf(LinearOp& op, Sense sense) {
  const Ends host(op, sense, 5);
  fillRaw(*host.x, 5, isInteger(op.domainType())); // sums of reals depend on the order
  const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
  act(op, sense, 1, *host.x, 0, *host.y);
  const auto synchronise = [&] { x->context().stream().synchronise(); };
  act(op, sense, 1, *x, 0, *y);
  synchronise();
  const std::uint64_t before = tenonStandinCounts().kernels;
  act(op, sense, 1, *x, 0, *y);
  synchronise();
  const std::uint64_t after = tenonStandinCounts().kernels;
  EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*host.y)) << op.describe();
  return after - before;
}

TEST(DeviceLaunches, OfAHaloAreOneToPackAndOneToCombine) {
  const std::uint64_t packs = world()->size() > 1 ? 1 : 0;
  for (const Transport transport : {Transport::Auto, Transport::Messages})
    for (const Case& c : cases()) {
      SCOPED_TRACE(c.name);
      const Layout plain = test::layoutOn(Grid::make(c.grid), c.shape, c.properties);
      MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
      policy.carrier.transport = transport;
      const LinearOpRef op =
          makeConversion(world(), plain, withHalos(plain, c.boundary), TENON_FLOAT32, policy);
      EXPECT_EQ(kernelsOf(*op, Sense::Forward), packs + 1);
      // If several boxes are added to an element, another kernel clears the target first.
      EXPECT_LE(kernelsOf(*op, Sense::Adjoint), packs + 2);
    }
}

// A mesh: each rank owns 20 nodes of three channels, and has ghosts of all others. The nodes that
// other ranks need are packed by one kernel, and those that come from them are copied by another.
// In the adjoint most nodes get contributions of several ranks, which are added in the order of the
// ranks: one kernel adds those of all ranks before this one, and one those of all after it.
TEST(DeviceLaunches, OfAHaloOfListsDoNotGrowWithTheNumberOfRanks) {
  constexpr Index kOwned = 20, kChannels = 3;
  const int ranks = world()->size(), rank = world()->rank();
  std::vector<Index> ids;
  for (Index i = 0; i < kOwned; ++i)
    ids.push_back(rank * kOwned + i);
  for (int other = 0; other < ranks; ++other)
    for (Index i = 0; other != rank && i < 7; ++i)
      ids.push_back(other * kOwned + (3 * i + rank) % kOwned);
  const IndexMapPtr map = makeIndexMapFromIds(*world(), kOwned, ids);
  const auto check = [&](Transport transport, TenonDataType type) {
    CarrierPolicy policy = CarrierPolicy::fromOptions(Space::Device);
    policy.transport = transport;
    IndexMapOp op(world(), map, test::onLine({kOwned * ranks, kChannels}, "S0"), type, policy);
    // The owned nodes are a box, which is copied by a kernel of its own.
    EXPECT_LE(kernelsOf(op, Sense::Forward), ranks > 1 ? 3u : 1u);
    // The adjoint packs, clears the nodes, and adds this rank's own ones too.
    EXPECT_LE(kernelsOf(op, Sense::Adjoint), 3u + (rank > 0) + (rank < ranks - 1));
  };
  for (const Transport transport : {Transport::Auto, Transport::Messages})
    for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64, TENON_INT32, TENON_INT64})
      check(transport, type);
}

// In a sum over all ranks, one kernel reads all contributions and writes each element once.
TEST(DeviceLaunches, OfASumAreOneForAllRanks) {
  const std::uint64_t packs = world()->size() > 1 ? 1 : 0;
  MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
  policy.route.mode = RouteMode::Exchange;
  const LinearOpRef op = makeConversion(world(), test::onLine({40, 30}, "P"),
                                        test::onLine({40, 30}, "B"), TENON_FLOAT64, policy);
  // The first contribution covers the target and can be copied by another kernel.
  EXPECT_LE(kernelsOf(*op, Sense::Forward), packs + 2);
}

// What several ranks of the node receive, as in a sum of all arrays and in a gather, is packed
// once: the memory of a rank is two buffers for it, however many ranks there are.
TEST(DeviceLanes, HaveOnePieceForTheReceiversOfTheSameElements) {
  constexpr Index kBytes = 40 * 32 * sizeof(double); // a quarter has whole cache lines of a device
  const int ranks = world()->size();
  MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
  policy.route.mode = RouteMode::Exchange;
  policy.carrier.transport = Transport::Auto;
  const auto bytesOf = [&](const char* from, const char* to) {
    const LinearOpRef op = makeConversion(world(), test::onLine({40, 32}, from),
                                          test::onLine({40, 32}, to), TENON_FLOAT64, policy);
    const auto actOn = [&](Sense sense) {
      const Ends host(*op, sense, 5);
      const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
      act(*op, sense, 1, *x, 0, *y);
    };
    actOn(Sense::Forward);
    actOn(Sense::Adjoint);
    const Index bytes = op->bufferBytes();
    kernelsOf(*op, Sense::Forward); // compares values with those of the host, whose lanes it makes
    kernelsOf(*op, Sense::Adjoint);
    return bytes;
  };
  if (ranks == 1)
    return;
  // The adjoint is the same sum.
  EXPECT_EQ(bytesOf("P", "B"), 2 * 2 * kBytes);
  // In the adjoint of a gather each rank sends every other rank other elements.
  EXPECT_EQ(bytesOf("S0", "B"), 2 * kBytes / ranks + 2 * (kBytes - kBytes / ranks));
}

// Messages through the host: to send them, the host does not wait for copies of messages that it
// has received in the same memory, since both are copied in order.
TEST(DeviceWaits, AreNotForWhatWasReceivedBefore) {
  MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
  policy.carrier.transport = Transport::Messages;
  const Layout plain = test::onLine({24, 3}, "S0");
  const LinearOpRef op =
      makeConversion(world(), plain, test::onLine({24, 3}, "S1"), TENON_FLOAT64, policy);
  const Ends there(*op, Sense::Forward, 5), back(*op, Sense::Adjoint, 6);
  const auto x = test::sameOnDevice(*there.x), y = test::sameOnDevice(*there.y),
             dy = test::sameOnDevice(*back.x), dx = test::sameOnDevice(*back.y);
  act(*op, Sense::Forward, 1, *x, 0, *y);
  const std::uint64_t before = tenonStandinCalls().waits;
  op->begin(Sense::Adjoint, 1, *dy, 0, *dx);
  EXPECT_EQ(tenonStandinCalls().waits, before);
  op->end(Sense::Adjoint);
  act(*op, Sense::Forward, 1, *there.x, 0, *there.y);
  act(*op, Sense::Adjoint, 1, *back.x, 0, *back.y);
  EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*there.y));
  EXPECT_EQ(test::elementsIn(*dx), test::elementsIn(*back.y));
}

} // namespace
} // namespace tenon
