// SPDX-License-Identifier: BSD-2-Clause
// Tests operators on device memory when CUDA fails on some ranks, on the stand-in for CUDA, which
// lets chosen calls fail (standin/failures.hpp). If device memory cannot be shared between
// processes, shared host memory is used, and if that is impossible, messages through the host.
// Results must be those of the host, and views must name the reason.
#include "operators.hpp"
#include "standin/failures.hpp"
#include "support/own_communicator.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::communicatorWithArena;
using test::onLine;
using test::world;

constexpr Index kMebibytes = 8;

class DeviceMemoryFails : public testing::Test {
protected:
  void TearDown() override {
    tenonStandinFail("");
    tenonStandinBytes(1ULL << 38);
    options().set("-tenon_device_ipc", "true");
    options().set("-tenon_conversion_transport", "auto");
  }

  LinearOpRef make() const {
    MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
    policy.route.mode = RouteMode::Exchange;
    return makeConversion(comm_, from_, to_, TENON_FLOAT64, policy);
  }
  void expectRight(LinearOp& op) const {
    const auto tensors = [&](Space space) {
      return std::pair(makeRef<DTensor>(comm_, from_, TENON_FLOAT64, space),
                       makeRef<DTensor>(comm_, to_, TENON_FLOAT64, space));
    };
    const auto [x, y] = tensors(Space::Host);
    const auto [dx, dy] = tensors(Space::Device);
    fillRaw(*x, 3, /*integers=*/false);
    copyLocal(*x, *dx);
    op.apply(*x, *y);
    op.apply(*dx, *dy);
    const auto back = makeRef<DTensor>(comm_, to_, TENON_FLOAT64);
    copyLocal(*dy, *back);
    EXPECT_EQ(test::elementsOf(*back), test::elementsOf(*y));
  }

  CommPtr comm_ = communicatorWithArena(kMebibytes);
  Layout from_ = onLine({6, 5}, "S0"), to_ = onLine({6, 5}, "B");
};

TEST_F(DeviceMemoryFails, ToBeShownSoThatDevicesReadThatOfTheHost) {
  for (const char* call : {"cudaIpcGetMemHandle", "cudaIpcOpenMemHandle"}) {
    comm_ = communicatorWithArena(kMebibytes);
    if (comm_->rank() == 1)
      tenonStandinFail(call);
    const LinearOpRef op = make();
    expectRight(*op);
    for (const char* word : {"shared (host memory", "(no shared device memory", call})
      EXPECT_NE(op->describe().find(word), std::string::npos) << op->describe();
    tenonStandinFail("");
  }
}

TEST_F(DeviceMemoryFails, AndThatOfTheHostIsNotReachedSoThatMessagesAreStaged) {
  options().set("-tenon_device_ipc", "off");
  for (int rank = 0; rank < 2; ++rank) {
    comm_ = communicatorWithArena(kMebibytes);
    if (comm_->rank() == rank)
      tenonStandinFail("cudaHostRegister");
    const LinearOpRef op = make();
    expectRight(*op);
    for (const char* word : {"through host memory (no shared device memory",
                             "-tenon_device_ipc is off", "cudaHostRegister"})
      EXPECT_NE(op->describe().find(word), std::string::npos) << op->describe();
    tenonStandinFail("");
  }
}

TEST_F(DeviceMemoryFails, SharedWithTheHostHasNoRoomForAllLanes) {
  options().set("-tenon_device_ipc", "off");
  constexpr Index kNarrow = 2;
  comm_ = communicatorWithArena(kNarrow);
  from_ = onLine({300'000}, "S0"), to_ = onLine({300'000}, "B");
  const LinearOpRef op = make();
  expectRight(*op);
  for (const char* word : {"shared (host memory", "not all shared", "-tenon_shared_memory"})
    EXPECT_NE(op->describe().find(word), std::string::npos) << op->describe();
}

TEST_F(DeviceMemoryFails, ToBeTakenForAnOperator) {
  options().set("-tenon_conversion_transport", "messages");
  tenonStandinBytes(1);
  expectError(TENON_ERR_MEMORY, {"cannot allocate", "on the device"}, [&] { make(); });
  tenonStandinBytes(1ULL << 38);
  expectRight(*make());
}

// Memory that other ranks could open is never freed, but used again: the smallest piece that is
// large enough, since large lanes need the large ones.
TEST(DeviceMemoryOfLanes, IsTheSmallestThatIsLargeEnough) {
  const auto makeArena = [] {
    const CommPtr comm = communicatorWithArena(kMebibytes);
    return DeviceArena::make(comm->mpi(), comm->arena(), comm->whyNoArena()).arena;
  };
  constexpr Index kLarge = Index(96) << 20, kMedium = Index(32) << 20;
  {
    const auto arena = makeArena();
    const Buffer large(kLarge, "a lane", arena), medium(kMedium, "a lane", arena);
  }
  const auto arena = makeArena();
  tenonStandinFail("cudaMalloc:*");
  const void *const medium = arena->allocate(kMedium), *const large = arena->allocate(kLarge);
  tenonStandinFail("");
  EXPECT_NE(medium, nullptr);
  EXPECT_NE(large, nullptr);
}

// Sums, gathers and scatters must not copy between device and host (cudaMemcpyAsync() fails), for
// long and short arrays, along the only axis or one of two.
TEST(WithoutCopies, ConversionsGiveOnTheDeviceWhatTheyGiveOnTheHost) {
  const int ranks = world()->size();
  const GridPtr lines = Grid::make({ranks / 2, 2});
  const auto on = [&](const Shape& shape, const char* properties) {
    return std::string(properties).find(',') == std::string::npos
               ? onLine(shape, properties)
               : test::layoutOn(lines, shape, properties);
  };
  const std::pair<const char*, const char*> kConversions[] = {
      {"P", "B"}, {"S1", "B"}, {"P", "S1"}, {"R", "B"}, {"P", "R"}, {"P,S0", "B,S1"}};
  for (const Shape& shape : {Shape{3, 30'001}, Shape{5, 2}})
    for (const auto& [from, to] : kConversions) {
      const LinearOpRef op = makeConversion(world(), on(shape, from), on(shape, to), TENON_FLOAT64,
                                            MovementPolicy::fromOptions(Space::Device));
      for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
        const test::Ends host(*op, sense, 3);
        fillRaw(*host.x, 3, /*integers=*/false);
        const auto x = makeRef<DTensor>(world(), host.x->layout(), TENON_FLOAT64, Space::Device),
                   y = makeRef<DTensor>(world(), host.y->layout(), TENON_FLOAT64, Space::Device);
        copyLocal(*host.x, *x);
        test::act(*op, sense, 1, *host.x, 0, *host.y);
        test::act(*op, sense, 1, *x, 0, *y); // opens what later actions use
        fillRaw(*y, 4, /*integers=*/false);
        tenonStandinFail("cudaMemcpyAsync:*");
        test::act(*op, sense, 1, *x, 0, *y);
        y->context().stream().synchronise();
        tenonStandinFail("");
        const auto back = makeRef<DTensor>(world(), host.y->layout(), TENON_FLOAT64);
        copyLocal(*y, *back);
        EXPECT_EQ(test::elementsOf(*back), test::elementsOf(*host.y)) << op->describe();
      }
    }
}

} // namespace
} // namespace tenon
