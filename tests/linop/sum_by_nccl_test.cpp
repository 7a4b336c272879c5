// SPDX-License-Identifier: BSD-2-Clause
// Sums on devices by NCCL, for which the stand-in gives each rank a device of its own, against
// those in the order of the grid.
#include "comm/partition.hpp"
#include "dtensor/arithmetic.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "layer/layer_run.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/operators.hpp"
#include "standin/failures.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

namespace tenon {
namespace {

using test::onLine;
using test::world;

class ByNccl : public testing::Test {
protected:
  ByNccl() { options().set("-tenon_reduction", "nccl"); }
  ~ByNccl() override {
    options().set("-tenon_reduction", "auto");
    options().set("-tenon_reduction_order", "levels");
    tenonStandinFail("");
  }

  static LinearOpRef make(const Layout& from, const Layout& to, TenonDataType type = TENON_FLOAT64,
                          Space space = Space::Device) {
    return makeConversion(world(), from, to, type, MovementPolicy::fromOptions(space));
  }
};

double toleranceOf(TenonDataType type) {
  return type == TENON_FLOAT32 ? 1e-6 : type == TENON_FLOAT64 ? 1e-15 : 0;
}

// Both senses against one exchange on the host.
void expectTheSameSums(LinearOp& op, bool integers) {
  const TenonDataType type = op.domainType();
  Conversion expected(world(), op.domain(), op.range(), type, CarrierPolicy::fromOptions());
  for (Sense sense : {Sense::Forward, Sense::Adjoint})
    for (const auto& [alpha, beta] : {std::pair(1., 0.), {-2., 3.}}) {
      const test::Ends ends(expected, sense, 5);
      if (!integers)
        fillRaw(*ends.x, 5, /*integers=*/false);
      const auto x = test::sameOnDevice(*ends.x), y = test::sameOnDevice(*ends.y);
      test::act(expected, sense, alpha, *ends.x, beta, *ends.y);
      test::act(op, sense, alpha, *x, beta, *y);
      ASSERT_NO_FATAL_FAILURE(test::expectNear(test::elementsIn(*y), test::elementsOf(*ends.y),
                                               16 * toleranceOf(type), op.describe()));
    }
}

bool isByNccl(const LinearOp& op) {
  return op.describe().find("by NCCL 2.") != std::string::npos;
}

// Equal and uneven shares, some of them empty, along the first dimension and another one.
TEST_F(ByNccl, SumsAreThoseInTheOrderOfTheGridUpToRounding) {
  constexpr TenonDataType kTypes[] = {TENON_FLOAT32, TENON_FLOAT64, TENON_INT64, TENON_INT32};
  std::size_t n = 0; // each goal has three of the types, and each type three of the goals
  for (const Shape& shape : {Shape{12, 4}, Shape{13, 3}, Shape{2, 1}})
    for (const char* to : {"B", "S0", "S1", "R"}) {
      const TenonDataType type = kTypes[(n + n / 4) % 4];
      ++n;
      const LinearOpRef op = make(onLine(shape, "P"), onLine(shape, to), type);
      EXPECT_EQ(isByNccl(*op), world()->size() > 1) << op->describe();
      ASSERT_NO_FATAL_FAILURE(expectTheSameSums(*op, isInteger(type)));
    }
}

TEST_F(ByNccl, GathersAndBroadcastsAreTheirAdjoints) {
  for (const char* from : {"S0", "S1", "R"}) {
    const LinearOpRef op = make(onLine({7, 5}, from), onLine({7, 5}, "B"));
    EXPECT_EQ(isByNccl(*op), world()->size() > 1) << op->describe();
    ASSERT_NO_FATAL_FAILURE(expectTheSameSums(*op, false));
  }
}

TEST_F(ByNccl, LinesOfDrawnGridsSumApart) {
  for (unsigned seed = 0, end = test::draws(40); seed < end; ++seed) {
    test::LayoutDraw draw(900 + seed);
    const GridPtr grid = draw.grid(world()->size(), 2);
    const Shape shape = draw.shape(1, 3, 6);
    const Layout from = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false),
                 to = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false);
    ASSERT_NO_FATAL_FAILURE(expectTheSameSums(*make(from, to), false)) << "seed " << seed;
  }
}

// Columns of arrays of the program's, which no collective takes as they are.
TEST_F(ByNccl, StridedArraysArePacked) {
  for (const char* to : {"B", "S0"}) {
    const LinearOpRef op = make(onLine({6, 7}, "P"), onLine({6, 7}, to));
    const test::Ends host(*op, Sense::Forward, 3);
    const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
    Buffer memory(2 * 6 * 7 * Index(sizeof(double)), "the program's arrays", x->context().memory());
    x->placeArray(memory.data<double>(), {1, 6}, {0, 0}, {0, 0}, /*readOnly=*/false);
    copyLocal(*host.x, *x);
    y->placeArray(memory.data<double>() + 6 * 7, {1, y->extent()[0]}, {0, 0}, {0, 0},
                  /*readOnly=*/false);
    op->apply(*x, *y);
    options().set("-tenon_reduction", "auto");
    makeConversion(world(), op->domain(), op->range(), TENON_FLOAT64)->apply(*host.x, *host.y);
    options().set("-tenon_reduction", "nccl");
    EXPECT_EQ(test::elementsIn(*y), test::elementsOf(*host.y));
  }
}

// The messages that plans and reports count are those of the log: one call with the local block.
TEST_F(ByNccl, MessagesAndBuffersAreThoseOfItsMovement) {
  const int rank = world()->rank();
  const MovementTarget target = MovementPolicy::fromOptions(Space::Device).on(*world());
  for (const auto& [from, to] :
       {std::pair("P", "B"), {"P", "S0"}, {"P", "S1"}, {"P", "R"}, {"S1", "B"}, {"R", "B"}}) {
    const LinearOpRef op = make(onLine({6, 7}, from), onLine({6, 7}, to));
    const Movement movement = movementOf(op->domain(), op->range(), sizeof(double), target);
    EXPECT_EQ(movement.by == Movement::By::Vendor, world()->size() > 1);
    for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const test::Ends host(*op, sense, 3);
      const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
      logEnable(true);
      logReset();
      test::act(*op, sense, 1, *x, 0, *y);
      logEnable(false);
      Traffic counted;
      for (const EventRecord& record : logSnapshot())
        counted += {record.messages, record.bytes / Index(sizeof(double))};
      const Traffic sent =
          movement.sent(rank, sense == Sense::Forward ? Role::Source : Role::Target);
      EXPECT_EQ(counted.messages, sent.messages) << op->describe();
      EXPECT_EQ(counted.elements, sent.elements) << op->describe();
    }
    EXPECT_EQ(double(op->bufferBytes()), movement.bufferBytes(rank, {}, /*bothWays=*/true))
        << op->describe();
  }
}

// As gradients of two layers are.
TEST_F(ByNccl, TwoSumsAreInFlightTogether) {
  const LinearOpRef one = make(onLine({12}, "P"), onLine({12}, "B")),
                    two = make(onLine({5}, "P"), onLine({5}, "S0"));
  const test::Ends a(*one, Sense::Forward, 1), b(*two, Sense::Forward, 2);
  const auto ax = test::sameOnDevice(*a.x), ay = test::sameOnDevice(*a.y),
             bx = test::sameOnDevice(*b.x), by = test::sameOnDevice(*b.y);
  one->begin(Sense::Forward, 1, *ax, 0, *ay);
  two->begin(Sense::Forward, 1, *bx, 0, *by);
  one->end(Sense::Forward);
  two->end(Sense::Forward);
  options().set("-tenon_reduction", "auto");
  makeConversion(world(), one->domain(), one->range(), TENON_FLOAT64)->apply(*a.x, *a.y);
  makeConversion(world(), two->domain(), two->range(), TENON_FLOAT64)->apply(*b.x, *b.y);
  EXPECT_EQ(test::elementsIn(*ay), test::elementsOf(*a.y));
  EXPECT_EQ(test::elementsIn(*by), test::elementsOf(*b.y));
}

// A collective lasts until the slowest rank has called it. Meanwhile the others exchange halos
// whose messages are copied through the host.
TEST_F(ByNccl, HoldsUpNoCopiesOfMessages) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  const LinearOpRef sum = make(onLine({12}, "P"), onLine({12}, "B"));
  MovementPolicy byMessages = MovementPolicy::fromOptions(Space::Device);
  byMessages.carrier.transport = Transport::Messages;
  const Layout rows = onLine({8, 5}, "S0"), columns = onLine({8, 5}, "S1");
  const LinearOpRef exchange = makeConversion(world(), rows, columns, TENON_FLOAT64, byMessages);
  const test::Ends a(*sum, Sense::Forward, 1), b(*exchange, Sense::Forward, 2);
  const auto ax = test::sameOnDevice(*a.x), ay = test::sameOnDevice(*a.y),
             bx = test::sameOnDevice(*b.x), by = test::sameOnDevice(*b.y);
  const bool isSlowest = world()->rank() == world()->size() - 1;
  if (!isSlowest)
    sum->begin(Sense::Forward, 1, *ax, 0, *ay);
  exchange->apply(*bx, *by);
  if (isSlowest)
    sum->begin(Sense::Forward, 1, *ax, 0, *ay);
  sum->end(Sense::Forward);
  options().set("-tenon_reduction", "auto");
  makeConversion(world(), sum->domain(), sum->range(), TENON_FLOAT64)->apply(*a.x, *a.y);
  exchange->apply(*b.x, *b.y);
  EXPECT_EQ(test::elementsIn(*ay), test::elementsOf(*a.y));
  EXPECT_EQ(test::elementsIn(*by), test::elementsOf(*b.y));
}

TEST_F(ByNccl, ArraysOnTheHostGoByTheRouteOfAnOperatorThatWasNotMadeForTheDevice) {
  const Layout from = onLine({9}, "P"), to = onLine({9}, "B");
  const LinearOpRef any = make(from, to, TENON_FLOAT64, Space::Host);
  const test::Ends host(*any, Sense::Forward, 3);
  const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
  any->apply(*host.x, *host.y);
  any->apply(*x, *y);
  EXPECT_EQ(test::elementsIn(*y), test::elementsOf(*host.y));
  if (world()->size() > 1) {
    EXPECT_NE(any->describe().find("arrays on the host by the route"), std::string::npos);
    const LinearOpRef devices = make(from, to);
    expectError(TENON_ERR_ARG, {"-tenon_reduction nccl", "its input is on the host", "to auto"},
                [&] { devices->apply(*host.x, *host.y); });
  }
}

TEST_F(ByNccl, FailuresAreNamed) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  const auto expectFailure = [&](const char* call, const char* from, const char* to, Index length,
                                 const char* words) {
    const LinearOpRef op = make(onLine({length}, from), onLine({length}, to));
    const test::Ends host(*op, Sense::Forward, 3);
    const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
    tenonStandinFail(call);
    expectError(TENON_ERR_LIBRARY,
                {"NCCL failed in", words, "NCCL_DEBUG=WARN", "-tenon_reduction auto"},
                [&] { op->apply(*x, *y); });
    tenonStandinFail("");
  };
  const Index even = 3 * world()->size(), uneven = even + 1;
  expectFailure("ncclAllReduce", "P", "B", even, "ncclAllReduce: a failure");
  expectFailure("ncclReduceScatter", "P", "S0", even, "ncclReduceScatter: a failure");
  expectFailure("ncclReduce", "P", "S0", uneven, "ncclReduce: a failure");
  expectFailure("ncclReduce", "P", "R", even, "ncclReduce: a failure");
  expectFailure("ncclAllGather", "S0", "B", even, "ncclAllGather: a failure");
  expectFailure("ncclBroadcast", "S0", "B", uneven, "ncclBroadcast: a failure");
  expectFailure("ncclBroadcast", "R", "B", even, "ncclBroadcast: a failure");
  expectFailure("ncclCommGetAsyncError", "P", "B", even,
                "a collective that was queued earlier: a failure");
  for (const char* call : {"ncclGetUniqueId", "ncclCommInitRank"}) { // of new lines of ranks
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    const CommPtr comm = Communicator::of(parent);
    tenonStandinFail(call);
    expectError(TENON_ERR_LIBRARY, {"NCCL failed in", call}, [&] {
      makeConversion(comm, onLine({8}, "P"), onLine({8}, "B"), TENON_FLOAT64,
                     MovementPolicy::fromOptions(Space::Device));
    });
    tenonStandinFail("");
    MPI_Comm_free(&parent);
  }
}

// No rank ends a group without the others, which may still receive what it has sent: when
// communicators are made and freed by the program, or the operators of a group are destroyed, its
// end is that of all.
TEST_F(ByNccl, GroupsLiveUntilAllRanksEndThem) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  const Layout from = onLine({9}, "P"), to = onLine({9}, "B");
  const auto apply = [&](const CommPtr& comm) {
    const LinearOpRef op =
        makeConversion(comm, from, to, TENON_FLOAT64, MovementPolicy::fromOptions(Space::Device));
    const test::Ends host(*op, Sense::Forward, 3);
    const auto y = makeRef<DTensor>(comm, to, TENON_FLOAT64, Space::Device);
    const auto x = makeRef<DTensor>(comm, from, TENON_FLOAT64, Space::Device);
    copyLocal(*host.x, *x);
    op->apply(*x, *y); // queued, and looked at by nobody
  };
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  apply(Communicator::of(parent));
  MPI_Comm_free(&parent);
  apply(world());
  const auto line = lineDevices(*world(), from.gridPtr(), {0});
  for (int axis = 1; axis <= 70; ++axis) // a Communicator keeps at most 64 of its splits
    world()->split({.use = 99, .axes = {axis}}, 0, 0);
  EXPECT_EQ(lineDevices(*world(), from.gridPtr(), {0}), line);
  ASSERT_NO_FATAL_FAILURE(expectTheSameSums(*make(from, to), false));
}

TEST_F(ByNccl, NeedsNoOrder) {
  options().set("-tenon_reduction_order", "flat");
  expectError(TENON_ERR_ARG, {"-tenon_reduction_order is flat", "NCCL", "leave one"},
              [] { MovementPolicy::fromOptions(Space::Device); });
}

// The gradients of a network whose input is divided by the batch.
TEST_F(ByNccl, GradientsOfDataParallelismAreThoseOfTheRoute) {
  const auto directions = [] {
    const Ref<Layer> layer = test::smallNet<PoolingMode::Max>(world());
    const Layout input = test::onWorld({8, 2, 8, 7}, "S0");
    layer->setDataType(TENON_FLOAT64);
    layer->setSpace(Space::Device);
    layer->setUp({input});
    test::fillParameters(*layer);
    const auto x = makeRef<DTensor>(world(), input, TENON_FLOAT64),
               dy = makeRef<DTensor>(world(), layer->outputLayout().dual(), TENON_FLOAT64);
    test::fillValid(*x, 1);
    test::fillValid(*dy, 2);
    const auto y = makeRef<DTensor>(world(), layer->outputLayout(), TENON_FLOAT64, Space::Device);
    const auto dx = makeRef<DTensor>(world(), input.dual(), TENON_FLOAT64, Space::Device);
    layer->apply(*test::sameOnDevice(*x), *y);
    layer->applyAdjoint(*test::sameOnDevice(*dy), dx.get());
    std::vector<std::vector<double>> all;
    for (const auto& p : layer->parameters())
      all.push_back(test::localCells(p->direction()));
    return all;
  };
  tenonStandinFail("ncclAllReduce"); // which they are summed by
  if (world()->size() > 1)
    expectError(TENON_ERR_LIBRARY, {"NCCL failed in ncclAllReduce"}, directions);
  tenonStandinFail("");
  const auto got = directions();
  options().set("-tenon_reduction", "auto");
  const auto want = directions();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    test::expectNear(got[i], want[i], 1e-13, fmt::format("parameter {}", i));
}

// Run apart, without devices for all.
TEST(OneDeviceByNccl, IsRefusedForTwoRanks) {
  if (std::getenv("TENON_STANDIN_DEVICES"))
    GTEST_SKIP() << "each rank has a device of its own";
  options().set("-tenon_reduction", "nccl");
  expectError(TENON_ERR_LIBRARY,
              {"NCCL failed in ncclCommInitRank", "Duplicate GPU", "a device of its own"}, [] {
                makeConversion(world(), onLine({8}, "P"), onLine({8}, "B"), TENON_FLOAT64,
                               MovementPolicy::fromOptions(Space::Device));
              });
  options().set("-tenon_reduction", "auto");
}

} // namespace
} // namespace tenon
