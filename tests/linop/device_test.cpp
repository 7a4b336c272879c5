// SPDX-License-Identifier: BSD-2-Clause
// Tests operators on tensors in device memory: results must be those on the host, and equal bit by
// bit where sums are added in one order only; for one operator of each kind and for random layouts.
// Also tested: actions that follow each other without waiting, shared device memory and its
// absence, failures, and streams of the user. On machines without a GPU the tests run on the
// stand-in for CUDA.
#include "capi/expect_code.hpp"
#include "comm/agreement/agreement.hpp"
#include "linop/exchange/block_diagonal.hpp"
#include "operators.hpp"
#include "support/draws.hpp"
#include "support/own_communicator.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"

#include <tenon/partition.h>

#include <cstdlib>

namespace tenon {
namespace {

using test::act;
using test::communicatorWithArena;
using test::Ends;
using test::LayoutDraw;
using test::onLine;
using test::world;

// Runs the same action on host and device and compares the results.
void expectSame(LinearOp& op, Sense sense, std::uint64_t seed, bool integers, double alpha = 1,
                double beta = 0) {
  const Ends host(op, sense, seed);
  if (!integers)
    fillRaw(*host.x, seed, /*integers=*/false);
  const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y),
             again = test::sameOnDevice(*host.y);
  act(op, sense, alpha, *host.x, beta, *host.y);
  const std::vector<double> want = test::elementsIn(*host.y);
  act(op, sense, alpha, *x, beta, *y);
  ASSERT_EQ(test::elementsIn(*y), want) << op.describe();
  op.begin(sense, alpha, *x, beta, *again);
  op.end(sense);
  ASSERT_EQ(test::elementsIn(*again), want) << op.describe();
}

class OnDevice : public testing::TestWithParam<test::NamedOp> {};

TEST_P(OnDevice, GivesWhatItGivesOnTheHost) {
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
    const LinearOpRef op = GetParam().make(type);
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      ASSERT_NO_FATAL_FAILURE(expectSame(*op, sense, 7, /*integers=*/true));
      ASSERT_NO_FATAL_FAILURE(expectSame(*op, sense, 9, /*integers=*/true, -2, 3));
    }
  }
}

TEST_P(OnDevice, GivesTheSameBound) {
  const LinearOpRef op = GetParam().make(TENON_FLOAT64);
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const Ends host(*op, sense, 7);
    const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
    act(*op, sense, 1, *host.x, 0, *host.y);
    op->bind(sense, *x, *y);
    for (int n = 0; n < 2; ++n) {
      act(*op, sense, 1, *x, 0, *y);
      EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*host.y)) << op->describe();
    }
    op->unbind();
  }
}

TEST_P(OnDevice, GivesTheSameForSeveralFields) {
  const LinearOpRef op = GetParam().make(TENON_FLOAT64);
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    std::vector<Ref<DTensor>> kept;
    std::vector<const DTensor*> x;
    std::vector<DTensor*> y;
    std::vector<std::vector<double>> want;
    for (std::uint64_t seed : {7, 8, 9}) {
      const Ends host(*op, sense, seed);
      x.push_back(kept.emplace_back(test::sameOnDevice(*host.x)).get());
      y.push_back(kept.emplace_back(test::sameOnDevice(*host.y)).get());
      act(*op, sense, 1, *host.x, 0, *host.y);
      want.push_back(test::elementsIn(*host.y));
    }
    for (int n = 0; n < 2; ++n) {
      op->applyMany(sense, x, y);
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(test::elementsIn(*y[i]), want[i]) << op->describe();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, OnDevice, testing::ValuesIn(test::allOperators()),
                         test::nameOfParameter);

TEST(DeviceBlockDiagonal, GivesTheBitsOfTheHost) {
  const Layout plain = onLine({5 * world()->size(), 3}, "S0");
  const auto halo = [&](Index width, Boundary mode, TenonDataType type) {
    return test::conversion(plain, test::withHalo(plain, width, mode), type);
  };
  const std::vector<LinearOpRef> ops = {halo(1, Boundary::Periodic, TENON_FLOAT32),
                                        halo(2, Boundary::Odd, TENON_FLOAT64),
                                        adjointView(halo(1, Boundary::Zero, TENON_FLOAT64)),
                                        test::indexMaps().front().make(TENON_FLOAT32)};
  const LinearOpRef op = blockDiagonal(ops, CarrierPolicy::fromOptions(Space::Device));
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    std::vector<Ref<DTensor>> kept;
    std::vector<const DTensor*> x;
    std::vector<DTensor*> y;
    std::vector<std::vector<double>> want;
    for (const LinearOpRef& one : ops) {
      const Ends host(*one, sense, 7);
      x.push_back(kept.emplace_back(test::sameOnDevice(*host.x)).get());
      y.push_back(kept.emplace_back(test::sameOnDevice(*host.y)).get());
      act(*one, sense, 1, *host.x, 0, *host.y);
      want.push_back(test::elementsIn(*host.y));
    }
    for (int n = 0; n < 2; ++n) {
      op->applyMany(sense, x, y);
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(test::elementsIn(*y[i]), want[i]) << "operator " << i << op->describe();
    }
  }
}

TEST(DeviceConversion, OfDrawnLayoutsGivesTheBitsOfTheHost) {
  for (unsigned seed = 0, end = test::draws(40); seed < end; ++seed) {
    LayoutDraw draw(6000 + seed);
    const int ranks = world()->size();
    const Shape shape = draw.shape(1, 4, 6);
    const GridPtr a = draw.grid(ranks, 3), b = draw.chance(60) ? a : draw.grid(ranks, 3);
    Layout from = draw.layout(shape, a, /*haloPercent=*/30, /*coveringHalos=*/false),
           to = draw.layout(shape, b, /*haloPercent=*/30, /*coveringHalos=*/false);
    draw.poles(from);
    draw.poles(to);
    const LinearOpRef op =
        test::conversion(from, to, seed % 2 == 0 ? TENON_FLOAT64 : TENON_FLOAT32);
    for (Sense sense : {Sense::Forward, Sense::Adjoint})
      ASSERT_NO_FATAL_FAILURE(expectSame(*op, sense, seed, /*integers=*/false)) << "seed " << seed;
  }
}

// Sums along trees, in shares that are gathered, in one exchange, and in chunks.
TEST(DeviceSums, HaveTheBitsOfTheHostOnEveryRoute) {
  constexpr LinkRates kCheapMessages{.latency = 1e-12, .overhead = 1e-12};
  const RoutePolicy policies[] = {{RouteMode::Exchange, {}},
                                  {RouteMode::Collective, {}},
                                  {RouteMode::Collective, kCheapMessages},
                                  {RouteMode::Chain, {}}};
  for (const RoutePolicy& policy : policies)
    for (const char* to : {"B", "S0", "R"})
      for (Index length : {5, 70000}) {
        const LinearOpRef op = makeConversion(world(), onLine({length}, "P"), onLine({length}, to),
                                              TENON_FLOAT64, test::by(policy));
        for (Sense sense : {Sense::Forward, Sense::Adjoint})
          ASSERT_NO_FATAL_FAILURE(expectSame(*op, sense, 3, /*integers=*/false));
      }
  const LinearOpRef op = test::reduction(onLine({1001}, "P"), onLine({1001}, "B"), TENON_FLOAT64);
  expectSame(*op, Sense::Forward, 3, /*integers=*/false);
}

// Columns of user arrays, which must be packed for a collective.
TEST(DeviceSums, TakeStridedArrays) {
  const Layout from = onLine({6, 7}, "P"), to = onLine({6, 7}, "B");
  const auto x = makeRef<DTensor>(world(), from, TENON_FLOAT64, Space::Device),
             y = makeRef<DTensor>(world(), to, TENON_FLOAT64, Space::Device);
  const auto hx = makeRef<DTensor>(world(), from, TENON_FLOAT64),
             hy = makeRef<DTensor>(world(), to, TENON_FLOAT64);
  Buffer memory(84 * Index(sizeof(double)), "the program's arrays", x->context().memory());
  x->placeArray(memory.data<double>(), {1, 6}, {0, 0}, {0, 0}, /*readOnly=*/false);
  y->placeArray(memory.data<double>() + 42, {1, 6}, {0, 0}, {0, 0}, /*readOnly=*/false);
  fillRaw(*hx, 3, /*integers=*/false);
  copyLocal(*hx, *x);
  for (const RouteMode mode : {RouteMode::Exchange, RouteMode::Collective}) {
    const LinearOpRef op =
        makeConversion(world(), from, to, TENON_FLOAT64, test::by(RoutePolicy{mode, {}}));
    op->apply(*hx, *hy);
    op->apply(*x, *y);
    EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*hy));
  }
  const LinearOpRef op = test::reduction(from, to, TENON_FLOAT64);
  op->apply(*hx, *hy);
  op->apply(*x, *y);
  EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*hy));
}

TEST(DeviceHalo, IsExchangedInPlace) {
  const Layout plain = onLine({11, 2}, "S0"), wide = test::withHalo(plain, 2, Boundary::Periodic);
  const LinearOpRef halo = test::conversion(plain, wide, TENON_FLOAT64);
  const Ends host(*halo, Sense::Forward, 5);
  halo->apply(*host.x, *host.y);
  const auto inner = makeRef<DTensor>(world(), plain, TENON_FLOAT64, Space::Device),
             whole = makeRef<DTensor>(world(), wide, TENON_FLOAT64, Space::Device);
  Buffer field(whole->localElements() * Index(sizeof(double)), "a field",
               whole->context().memory());
  double* owned = field.data<double>() + (whole->localElements() > 0 ? 4 : 0);
  inner->placeArray(owned, {2, 1}, {2, 0}, {2, 0}, /*readOnly=*/false);
  whole->placeArray(owned, {2, 1}, {2, 0}, {2, 0}, /*readOnly=*/false);
  copyLocal(*host.x, *inner);
  halo->apply(*inner, *whole);
  EXPECT_EQ(test::elementsIn(*whole), test::elementsIn(*host.y));
}

// Kernels between the two halves of an action change x, which was packed before, and y, to which
// the second half adds.
TEST(DeviceConversion, SeveralAreInFlight) {
  const Layout rows = onLine({9, 8}, "S0"), columns = onLine({9, 8}, "S1"),
               all = onLine({9, 8}, "B");
  const LinearOpRef turn = test::conversion(rows, columns, TENON_FLOAT64),
                    gather = test::conversion(rows, all, TENON_FLOAT64);
  const Ends turned(*turn, Sense::Forward, 1), gathered(*gather, Sense::Forward, 3);
  const auto x = test::sameOnDevice(*turned.x), y = test::sameOnDevice(*turned.y),
             z = test::sameOnDevice(*gathered.x), w = test::sameOnDevice(*gathered.y);
  turn->apply(*turned.x, *turned.y);
  gather->apply(*gathered.x, *gathered.y);
  for (int n = 0; n < 3; ++n) {
    turn->begin(Sense::Forward, 1, *x, 0, *y);
    gather->begin(Sense::Forward, 1, *z, 0, *w);
    turn->end(Sense::Forward);
    gather->end(Sense::Forward);
    EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*turned.y));
    EXPECT_EQ(test::elementsIn(*w), test::elementsIn(*gathered.y));
    scaleArray(2, *x);
    scaleArray(2, *turned.y);
  }
}

// Actions follow each other without waiting for the device, and their messages use the same
// buffers.
void expectSameWithoutWaiting(LinearOp& op) {
  constexpr int kTimes = 3;
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    std::vector<Ref<DTensor>> x, y;
    std::vector<std::vector<double>> want;
    for (int n = 0; n < kTimes; ++n) {
      const Ends host(op, sense, 3 * n);
      x.push_back(test::sameOnDevice(*host.x));
      y.push_back(test::sameOnDevice(*host.y));
      act(op, sense, 1, *host.x, 0, *host.y);
      want.push_back(test::elementsIn(*host.y));
    }
    for (int n = 0; n < kTimes; ++n)
      act(op, sense, 1, *x[n], 0, *y[n]);
    for (int n = 0; n < kTimes; ++n)
      ASSERT_EQ(test::elementsIn(*y[n]), want[n]) << op.describe() << "use " << n;
  }
}

TEST(DeviceConversion, FollowsItselfWithoutWaiting) {
  for (const RouteMode mode : {RouteMode::Exchange, RouteMode::Collective})
    for (const char* from : {"R", "S0", "P"})
      for (const char* to : {"B", "S1", "R"})
        expectSameWithoutWaiting(*makeConversion(world(), onLine({7, 5}, from), onLine({7, 5}, to),
                                                 TENON_FLOAT64, test::by(RoutePolicy{mode, {}})));
  expectSameWithoutWaiting(*test::sendReceive(TENON_FLOAT64));
  expectSameWithoutWaiting(
      *test::reduction(onLine({7, 5}, "P"), onLine({7, 5}, "B"), TENON_FLOAT64));
}

// Messages of more than 4 MiB are divided into pieces, which are copied while others are sent.
TEST(DeviceConversion, OfLargeMessagesGivesTheBitsOfTheHost) {
  const LinearOpRef op =
      makeConversion(world(), onLine({1300001}, "R"), onLine({1300001}, "B"), TENON_FLOAT64,
                     test::by(RoutePolicy{RouteMode::Exchange, {}}));
  for (Sense sense : {Sense::Forward, Sense::Adjoint})
    expectSame(*op, sense, 3, /*integers=*/false);
}

MovementPolicy onDeviceBy(Transport transport, GpuAware gpuAware = GpuAware::Off) {
  MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
  policy.route.mode = RouteMode::Exchange;
  policy.carrier.transport = transport;
  policy.carrier.gpuAware = gpuAware;
  return policy;
}

// An operator that copies the root's elements to all ranks.
LinearOpRef spread(const CommPtr& comm, const MovementPolicy& policy, Index length = 40) {
  return makeConversion(comm, onLine({length}, "R"), onLine({length}, "B"), TENON_FLOAT64, policy);
}

// Whether the devices of the node share memory: not on every machine, but always on the stand-in.
bool devicesShareMemory() {
  if (world()->size() == 1)
    return false;
  const DeviceArena::Made& made = world()->openDeviceArena();
  EXPECT_TRUE(made.arena || !std::getenv("TENON_STANDIN")) << made.reason;
  return made.arena != nullptr;
}

const std::string kHostMemory = "host memory";

bool usesIpc() {
  return options().getFlag("", "device_ipc");
}

TEST(DeviceConversion, SaysHowItsMessagesTravel) {
  const auto expect = [](const std::string& text, const CommPtr& comm,
                         const MovementPolicy& policy) {
    const LinearOpRef op =
        makeConversion(comm, onLine({4, 3}, "S0"), onLine({4, 3}, "B"), TENON_FLOAT64, policy);
    EXPECT_NE(op->describe().find(text), std::string::npos) << op->describe();
  };
  const char *staged = "through host memory", *byMpi = "by MPI";
  const std::string inPlace = ", read in place by the devices of the node)";
  const std::string shared = usesIpc() ? "shared (device memory" + inPlace
                                       : "shared (" + kHostMemory + inPlace +
                                             " (no shared device memory: -tenon_device_ipc is off)";
  expect(staged, world(), onDeviceBy(Transport::Messages));
  expect(byMpi, world(), onDeviceBy(Transport::Messages, GpuAware::On));
  expect(byMpi, communicatorWithArena(0), onDeviceBy(Transport::Auto, GpuAware::On));
  if (devicesShareMemory()) {
    expect(shared, world(), onDeviceBy(Transport::Auto));
    expect(shared, world(), onDeviceBy(Transport::Auto, GpuAware::On));
    expect(shared, world(), onDeviceBy(Transport::Shared, GpuAware::On));
  }
  if (world()->size() > 1)
    expect("through host memory (no shared device memory: -tenon_shared_memory is 0)",
           communicatorWithArena(0), onDeviceBy(Transport::Auto));
}

// Both ends of a message must divide it equally, so MPI sends device memory only if it can on all
// ranks.
TEST(DeviceConversion, IsSentByMpiFromAllRanksOrNone) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank sends no messages";
  const GpuAware said = world()->rank() == 1 ? GpuAware::Off : GpuAware::On;
  const LinearOpRef op = spread(test::ownCommunicator(), onDeviceBy(Transport::Messages, said));
  EXPECT_NE(op->describe().find("through host memory"), std::string::npos) << op->describe();
  expectSame(*op, Sense::Forward, 3, /*integers=*/false);
}

// Returns buffers that use all the memory that an arena has left.
std::vector<Buffer> restOf(const std::shared_ptr<SharedArena>& arena) {
  std::vector<Buffer> all;
  for (Index bytes = Index(1) << 21; bytes >= 64; bytes /= 2)
    do
      all.emplace_back(bytes, "all", arena);
    while (arena->contains(all.back().data<std::byte>()));
  return all;
}

TEST(DeviceConversion, IsSentAsAMessageWhereThereIsNoRoomForALane) {
  if (!devicesShareMemory())
    GTEST_SKIP() << "the devices of the node share no memory";
  const CommPtr comm = communicatorWithArena(2);
  comm->openDeviceArena();
  const bool isFull = comm->rank() % 2 == 0;
  const auto rest = isFull ? restOf(comm->arena()) : std::vector<Buffer>();
  const LinearOpRef op = makeConversion(comm, onLine({9, 3}, "S0"), onLine({9, 3}, "B"),
                                        TENON_FLOAT64, onDeviceBy(Transport::Auto));
  EXPECT_EQ(op->describe().find("not all shared") != std::string::npos, isFull) << op->describe();
  for (Sense sense : {Sense::Forward, Sense::Adjoint})
    for (std::uint64_t n = 0; n < 2; ++n)
      expectSame(*op, sense, n, /*integers=*/false);
  expectError(TENON_ERR_MEMORY, {"no room for a lane", "-tenon_shared_memory", "messages"}, [&] {
    collectively(*comm, [&] { return spread(comm, onDeviceBy(Transport::Shared)); });
  });
}

// On some machines, opening shared device memory succeeds but gives other memory; the library must
// detect this and use host memory.
TEST(DeviceConversion, TrustsNoMemoryInWhichItReadsOtherData) {
  if (!std::getenv("TENON_STANDIN") || !usesIpc() || world()->size() == 1)
    GTEST_SKIP() << "the stand-in alone can be made to do that";
  setenv("TENON_STANDIN_SHOWS_OTHER", "1", 1);
  const CommPtr comm = communicatorWithArena(2);
  const DeviceArena::Made& made = comm->openDeviceArena();
  unsetenv("TENON_STANDIN_SHOWS_OTHER");
  EXPECT_EQ(made.arena->describe(), kHostMemory);
  EXPECT_NE(made.reason.find("read other data there than that rank had written"), std::string::npos)
      << made.reason;
}

// Other ranks may still read the data of one action while this rank sends that of the next two,
TEST(DeviceConversion, RunsAheadOfItsReaders) {
  if (!devicesShareMemory())
    GTEST_SKIP() << "the devices of the node share no memory";
  const LinearOpRef op = spread(world(), onDeviceBy(Transport::Shared));
  std::vector<Ref<DTensor>> x, y;
  std::vector<std::vector<double>> want;
  for (std::uint64_t n = 0; n < 3; ++n) {
    const Ends host(*op, Sense::Forward, n);
    x.push_back(test::sameOnDevice(*host.x));
    y.push_back(test::sameOnDevice(*host.y));
    op->apply(*host.x, *host.y);
    want.push_back(test::elementsIn(*host.y));
  }
  const bool isRoot = world()->rank() == 0;
  op->apply(*x[0], *y[0]);
  if (!isRoot) // has called the kernels that read, but not waited for them
    MPI_Barrier(MPI_COMM_WORLD);
  op->apply(*x[1], *y[1]);
  op->begin(Sense::Forward, 1, *x[2], 0, *y[2]);
  if (isRoot) {
    x[0]->context().stream().synchronise();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  op->end(Sense::Forward);
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(test::elementsIn(*y[n]), want[n]) << "use " << n;
}

// or after the operator was destroyed and another one works.
TEST(DeviceConversion, KeepsWhatOthersStillRead) {
  if (!devicesShareMemory())
    GTEST_SKIP() << "the devices of the node share no memory";
  const Layout root = onLine({40}, "R"), all = onLine({40}, "B");
  const auto make = [&] {
    return makeRef<Conversion>(world(), root, all, TENON_FLOAT64,
                               onDeviceBy(Transport::Shared).carrier);
  };
  auto first = make();
  const Ends one(*first, Sense::Forward, 1), other(*first, Sense::Forward, 2);
  const auto x = test::sameOnDevice(*one.x), y = test::sameOnDevice(*one.y),
             z = test::sameOnDevice(*other.x), w = test::sameOnDevice(*other.y);
  first->apply(*one.x, *one.y);
  first->apply(*other.x, *other.y);
  first->apply(*x, *y);
  const bool isRoot = world()->rank() == 0;
  if (isRoot)
    first = {};
  const auto second = make();
  if (!isRoot)
    MPI_Barrier(MPI_COMM_WORLD);
  second->begin(Sense::Forward, 1, *z, 0, *w);
  if (isRoot) {
    z->context().stream().synchronise(); // what it sends is packed
    MPI_Barrier(MPI_COMM_WORLD);
  }
  second->end(Sense::Forward);
  EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*one.y));
  EXPECT_EQ(test::elementsIn(*w), test::elementsIn(*other.y));
}

// After end() has failed, the user can free the input, even if it was not packed yet.
TEST(DeviceConversion, ReadsItsInputNoMoreWhenItHasFailed) {
  if (!devicesShareMemory() || world()->arena()->nodeSize() < world()->size())
    GTEST_SKIP() << "the devices of the node share no memory";
  const LinearOpRef op = spread(world(), onDeviceBy(Transport::Shared));
  const Ends host(*op, Sense::Forward, 1);
  const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
  op->apply(*x, *y);
  if (world()->rank() != 0)
    MPI_Barrier(MPI_COMM_WORLD);
  op->apply(*x, *y);
  if (world()->rank() == 0) {
    auto gone = test::sameOnDevice(*host.x);
    const void* array = arrayOf(*y);
    op->begin(Sense::Forward, 1, *gone, 0, *y);
    y->endWriting(array);
    y->lendForReading();
    expectError(TENON_ERR_STATE, {"in use for reading"}, [&] { op->end(Sense::Forward); });
    y->endReading(array);
    gone = {};
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD); // all have released what they read first
  world()->advance();
  x->context().stream().synchronise();
}

TEST(DeviceConversion, FindsTheLargest) {
  const Layout from = onLine({5, 3}, "P"), to = onLine({5, 3}, "B");
  Conversion op(world(), from, to, TENON_FLOAT32, CarrierPolicy::fromOptions());
  const Ends host(op, Sense::Forward, 5);
  const auto x = test::sameOnDevice(*host.x), y = test::sameOnDevice(*host.y);
  op.applyMax(*host.x, *host.y);
  op.applyMax(*x, *y);
  EXPECT_EQ(test::elementsIn(*y), test::elementsIn(*host.y));
}

TEST(DeviceConversion, TakesIntegers) {
  const LinearOpRef op = test::conversion(onLine({7, 5}, "P"), onLine({7, 5}, "S1"), TENON_INT64);
  for (Sense sense : {Sense::Forward, Sense::Adjoint})
    expectSame(*op, sense, 3, /*integers=*/true);
}

TEST(DeviceConversion, RefusesAbsentSharedMemoryAndMixedSpaces) {
  const Layout from = onLine({4, 3}, "S0"), to = onLine({4, 3}, "B");
  const auto x = makeRef<DTensor>(world(), from, TENON_FLOAT64, Space::Device),
             y = makeRef<DTensor>(world(), to, TENON_FLOAT64, Space::Device);
  if (world()->size() > 1)
    expectError(TENON_ERR_SUPPORT,
                {"transport \"shared\"", "on the device", "-tenon_shared_memory is 0", "messages"},
                [&] {
                  makeConversion(communicatorWithArena(0), from, to, TENON_FLOAT64,
                                 onDeviceBy(Transport::Shared));
                });
  const LinearOpRef op = test::conversion(from, to, TENON_FLOAT64);
  const auto host = makeRef<DTensor>(world(), to, TENON_FLOAT64);
  expectError(TENON_ERR_SUPPORT, {"input on the device", "output on the host"},
              [&] { op->apply(*x, *host); });
  op->apply(*x, *y); // usable
}

// A stream of the program: all kernels of the communicator run on it, and messages wait for the
// work that is queued there.
class UserStream : public test::CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    MPI_Comm_dup(MPI_COMM_WORLD, &parent_);
    const int extents[] = {world()->size()};
    test::expectSuccess(TenonPartitionCreate(parent_, 1, extents, &partition_));
  }
  void TearDown() override {
    test::expectSuccess(TenonPartitionDestroy(&partition_));
    MPI_Comm_free(&parent_);
    CApi::TearDown();
  }

  MPI_Comm parent_ = MPI_COMM_NULL;
  TenonPartition partition_ = nullptr;
  Stream stream_ = Stream::make();
};

TEST_F(UserStream, IsThatOfTensorsAndMessages) {
  test::expectSuccess(TenonPartitionSetStream(partition_, stream_.handle()));
  const CommPtr comm = Communicator::of(parent_);
  const Layout from = onLine({6, 7}, "P"), to = onLine({6, 7}, "B");
  const auto host = makeRef<DTensor>(comm, from, TENON_FLOAT64),
             sum = makeRef<DTensor>(comm, to, TENON_FLOAT64);
  auto x = makeRef<DTensor>(comm, from, TENON_FLOAT64, Space::Device),
       y = makeRef<DTensor>(comm, to, TENON_FLOAT64, Space::Device);
  EXPECT_EQ(x->context().stream().handle(), stream_.handle());
  fillRaw(*host, 3, /*integers=*/false);
  copyLocal(*host, *x);
  auto op = makeConversion(comm, from, to, TENON_FLOAT64);
  op->apply(*host, *sum);
  op->apply(*x, *y);
  const auto back = makeRef<DTensor>(comm, to, TENON_FLOAT64);
  copyLocal(*y, *back);
  EXPECT_EQ(test::elementsOf(*back), test::elementsOf(*sum));
  EXPECT_EQ(TenonPartitionSetStream(partition_, nullptr), TENON_ERR_STATE);
  EXPECT_EQ(TenonPartitionResetStream(partition_), TENON_ERR_STATE);
  x = {};
  y = {};
  op = {};
  test::expectSuccess(TenonPartitionResetStream(partition_));
  x = makeRef<DTensor>(comm, from, TENON_FLOAT64, Space::Device);
  EXPECT_NE(x->context().stream().handle(), stream_.handle());
}

// A tensor of another communicator, whose kernels run on another stream, is an error.
TEST_F(UserStream, IsNotMixedWithThatOfAnotherCommunicator) {
  const CommPtr comm = Communicator::of(parent_);
  const Layout from = onLine({6, 7}, "S0"), to = onLine({6, 7}, "B");
  const auto x = makeRef<DTensor>(comm, from, TENON_FLOAT64, Space::Device),
             y = makeRef<DTensor>(world(), to, TENON_FLOAT64, Space::Device);
  expectError(TENON_ERR_SUPPORT, {"another communicator", "create them on the communicator"},
              [&] { test::conversion(from, to, TENON_FLOAT64)->apply(*x, *y); });
}

} // namespace
} // namespace tenon
