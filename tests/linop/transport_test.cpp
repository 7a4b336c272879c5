// SPDX-License-Identifier: BSD-2-Clause
// Tests the transports of conversions, MPI messages and shared memory of a node: both must give the
// same bits, for arrays of the library and of the user, with strides, in both directions, and for
// parts that are larger than a lane (the buffer in shared memory by which one rank sends to
// another). Also tested: ranks without shared memory or without room for lanes, which send messages
// instead; the ways to store received data; and user arrays in shared memory, which are read in
// place. The properties of all operators on each transport are tested by running the whole test
// program with the option.
#include "operators.hpp"
#include "support/own_communicator.hpp"
#include "sys/expect_error.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenon {
namespace {

using test::communicatorWithArena;
using test::world;

Layout line(const Shape& shape, const char* properties) {
  return test::onLine(shape, properties);
}

// A conversion to test.
struct Route {
  const char* name;
  Layout from, to;
};

// With parts that are sent in many chunks, in one, or empty.
std::vector<Route> routes() {
  const int ranks = world()->size();
  const Layout rows = line({33, 40 * ranks, 37}, "S0");
  const Layout plain = line({2 * ranks + 1, 5000}, "S0");
  return {
      {"transpose", rows, line(rows.shape(), "S1")},
      {"transpose of the innermost", rows, line(rows.shape(), "S2")},
      {"sum", line({70001}, "P"), line({70001}, "B")},
      {"sum of few", line({3}, "P"), line({3}, "B")},
      {"reduce-scatter", line({90, 1001}, "P"), line({90, 1001}, "S0")},
      {"all-gather", line({90, 1001}, "S0"), line({90, 1001}, "B")},
      {"gather of empty parts", line({1, 9000}, "S0"), line({1, 9000}, "R")},
      {"reflection", plain, test::withHalo(plain, 2, Boundary::Reflect)},
      {"period", plain, test::withHalo(plain, 2, Boundary::Periodic)},
  };
}

// A user array for a tensor, in column-major order with a ghost cell on each side; private, or
// shared with the ranks of the node.
class Columns {
public:
  explicit Columns(DTensor& tensor, std::shared_ptr<SharedArena> arena = nullptr)
      : tensor_(tensor), arena_(std::move(arena)) {
    std::vector<Index> strides, ghosts(tensor.ndim(), 1), high(tensor.ndim(), 1);
    const Box owned = tensor.layout().ownedBox(tensor.position());
    Index stride = 1, first = 0;
    for (int d = 0; d < tensor.ndim(); ++d) {
      if (tensor.localElements() > 0) {
        ghosts[d] += std::max<Index>(0, owned[d].begin - tensor.box()[d].begin);
        high[d] += std::max<Index>(0, tensor.box()[d].end - owned[d].end);
      }
      strides.push_back(stride);
      first += ghosts[d] * stride;
      stride *= owned[d].size() + ghosts[d] + high[d];
    }
    memory_.assign(stride, -1);
    tensor.placeArray(memory_.data() + first, strides, ghosts, high, /*readOnly=*/false);
    if (arena_)
      arena_->share(memory_.data(), static_cast<Index>(memory_.size() * sizeof(double)));
  }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  ~Columns() {
    if (arena_)
      arena_->unshare(memory_.data());
  }

  std::vector<double> elements() const {
    DTensor copy(tensor_.comm(), tensor_.layout(), TENON_FLOAT64);
    axpby(1, tensor_, 0, copy);
    return test::elementsOf(copy);
  }

private:
  // Allocates whole pages: memory is shared page by page, and small vectors can be on the same
  // page.
  template <class T>
  struct PageAllocator {
    using value_type = T;
    T* allocate(std::size_t count) {
      const std::size_t page = SharedSegment::pageBytes();
      return static_cast<T*>(
          std::aligned_alloc(page, (count * sizeof(T) + page - 1) / page * page));
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    bool operator==(const PageAllocator&) const = default;
  };

  DTensor& tensor_;
  std::shared_ptr<SharedArena> arena_;
  std::vector<double, PageAllocator<double>> memory_;
};

// Whether the ranks cannot share memory because there is one rank, or the program was run with
// -tenon_shared_memory 0. Any other reason is a failure of the tests that share.
bool isWithoutSharing() {
  return world()->size() == 1 || world()->whyNoArena() == "-tenon_shared_memory is 0";
}

class Transports : public testing::TestWithParam<Transport> {
protected:
  void SetUp() override {
    if (GetParam() == Transport::Shared && world()->size() > 1 && isWithoutSharing())
      GTEST_SKIP() << world()->whyNoArena();
  }
};

// The same action four times: by messages, which is the expected one; and by the transport under
// test with arrays of the library, of the user, and of the user in shared memory.
TEST_P(Transports, GiveTheSameBits) {
  if (GetParam() == Transport::Shared && world()->size() > 1) {
    ASSERT_TRUE(world()->arena()) << world()->whyNoArena();
  }
  for (const Route& route : routes()) {
    SCOPED_TRACE(route.name);
    Conversion expected(world(), route.from, route.to, TENON_FLOAT64,
                        test::by(Transport::Messages));
    Conversion op(world(), route.from, route.to, TENON_FLOAT64, test::by(GetParam()));
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const test::Ends messages(expected, sense, 1), library(op, sense, 1), callers(op, sense, 1),
          shared(op, sense, 1);
      const Columns x(*callers.x), y(*callers.y), sharedX(*shared.x, world()->arena()),
          sharedY(*shared.y, world()->arena());
      for (std::uint64_t round = 0; round < 3; ++round) {
        fillRaw(*messages.x, round, /*integers=*/false);
        fillRaw(*library.x, round, /*integers=*/false);
        axpby(1, *library.x, 0, *callers.x);
        axpby(1, *library.x, 0, *shared.x);
        test::act(expected, sense, 1, *messages.x, 0, *messages.y);
        test::act(op, sense, 1, *library.x, 0, *library.y);
        test::act(op, sense, 1, *callers.x, 0, *callers.y);
        test::act(op, sense, 1, *shared.x, 0, *shared.y);
        ASSERT_EQ(test::elementsOf(*library.y), test::elementsOf(*messages.y));
        ASSERT_EQ(y.elements(), test::elementsOf(*messages.y));
        ASSERT_EQ(sharedY.elements(), test::elementsOf(*messages.y));
        test::act(expected, sense, 2, *messages.x, -1, *messages.y);
        test::act(op, sense, 2, *library.x, -1, *library.y);
        ASSERT_EQ(test::elementsOf(*library.y), test::elementsOf(*messages.y));
      }
    }
  }
}

TEST_P(Transports, CarrySeveralConversionsAtOnce) {
  const Layout s = line({50, 40, 30}, "S0"), t = line({50, 40, 30}, "S1");
  Conversion one(world(), s, t, TENON_FLOAT64, test::by(GetParam())),
      two(world(), t, s, TENON_FLOAT64, test::by(GetParam()));
  const test::Ends a(one, Sense::Forward, 3), b(two, Sense::Forward, 5);
  for (int round = 0; round < 3; ++round) {
    one.begin(Sense::Forward, 1, *a.x, 0, *a.y);
    two.begin(Sense::Forward, 1, *b.x, 0, *b.y);
    one.end(Sense::Forward);
    two.end(Sense::Forward);
  }
  const std::vector<double> first = test::elementsOf(*a.y), second = test::elementsOf(*b.y);
  one.apply(*a.x, *a.y);
  two.apply(*b.x, *b.y);
  EXPECT_EQ(test::elementsOf(*a.y), first);
  EXPECT_EQ(test::elementsOf(*b.y), second);
}

// The maximum of a single contribution is that contribution, even if y has a larger value before.
TEST_P(Transports, FindThatTheLargestOfOneValueIsIt) {
  const Index length = 3 * world()->size();
  Conversion op(world(), line({length}, "S0"), line({length}, "B"), TENON_FLOAT64,
                test::by(GetParam()));
  const test::Ends ends(op, Sense::Forward, 1);
  op.apply(*ends.x, *ends.y);
  const std::vector<double> expected = test::elementsOf(*ends.y);
  test::setCells(*ends.y, std::vector<double>(length, 1e9));
  op.applyMax(*ends.x, *ends.y);
  EXPECT_EQ(test::elementsOf(*ends.y), expected);
}

TEST_P(Transports, AreNamedInTheView) {
  Conversion op(world(), line({8}, "S0"), line({8}, "B"), TENON_FLOAT64, test::by(GetParam()));
  EXPECT_NE(op.describe().find(std::string("transport ") + transportName(GetParam())),
            std::string::npos)
      << op.describe();
}

INSTANTIATE_TEST_SUITE_P(Linop, Transports, testing::Values(Transport::Messages, Transport::Shared),
                         [](const auto& info) { return transportName(info.param); });

// Compares conversions on this communicator with conversions by messages on the world.
void expectRightOn(const CommPtr& comm, Transport transport) {
  for (const Route& route : routes()) {
    SCOPED_TRACE(route.name);
    Conversion expected(world(), route.from, route.to, TENON_FLOAT64,
                        test::by(Transport::Messages));
    Conversion op(comm, route.from, route.to, TENON_FLOAT64, test::by(transport));
    const test::Ends there(expected, Sense::Forward, 1), here(op, Sense::Forward, 1);
    for (int round = 0; round < 3; ++round) {
      expected.apply(*there.x, *there.y);
      op.apply(*here.x, *here.y);
      ASSERT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y));
    }
  }
}

TEST(NoSharedMemory, FallsToMessagesAndSaysWhy) {
  const CommPtr comm = communicatorWithArena(0);
  expectRightOn(comm, Transport::Auto);
  if (comm->size() == 1)
    return;
  const Conversion automatic(comm, line({8}, "S0"), line({8}, "B"), TENON_FLOAT64,
                             test::by(Transport::Auto));
  EXPECT_NE(automatic.describe().find("messages (no shared memory: -tenon_shared_memory is 0)"),
            std::string::npos)
      << automatic.describe();
  expectError(TENON_ERR_SUPPORT, {"shared", "-tenon_shared_memory is 0"}, [&] {
    Conversion(comm, line({8}, "S0"), line({8}, "B"), TENON_FLOAT64, test::by(Transport::Shared));
  });
}

// The sizes of these arenas are in MiB.
TEST(NoSharedMemory, ASmallArenaHoldsWhatItCan) {
  const CommPtr comm = communicatorWithArena(1);
  expectRightOn(comm, Transport::Shared);
}

// On every second rank the arena (the memory that the node shares) is full, so it has no lanes.
TEST(NoSharedMemory, ASenderWithoutALaneSendsMessages) {
  const CommPtr comm = communicatorWithArena(2);
  std::vector<Buffer> all;
  if (comm->arena() && comm->rank() % 2 == 0)
    for (Index bytes = Index(1) << 21; bytes >= 64; bytes /= 2)
      do
        all.emplace_back(bytes, "all", comm->arena());
      while (comm->arena()->contains(all.back().data<std::byte>()));
  expectRightOn(comm, Transport::Auto);
}

TEST(Stores, GiveTheSameBitsEachWay) {
  for (const char* way : {"cached", "streaming", "auto"}) {
    SCOPED_TRACE(way);
    options().set("-tenon_conversion_stores", way);
    expectRightOn(world(), Transport::Auto);
  }
}

// Finds out whether elements were packed or read in place, by a change of the sender's array
// between Begin and End, which programs must not do: returns 1, the value at Begin, if they were
// packed, and 2, the value at End, if the receiver has read them in place.
double foundAfterAChange(bool isShared) {
  const CommPtr comm = world();
  const Index elements = 4096;
  Conversion op(comm, line({elements * comm->size()}, "S0"), line({elements * comm->size()}, "B"),
                TENON_FLOAT64, test::by(Transport::Shared));
  const test::Ends ends(op, Sense::Forward, 1);
  const Columns x(*ends.x, isShared ? comm->arena() : nullptr);
  double* array = ends.x->mutableData<double>();
  std::fill_n(array, elements, 1);
  op.begin(Sense::Forward, 1, *ends.x, 0, *ends.y);
  std::fill_n(array, elements, 2);
  MPI_Barrier(comm->mpi());
  op.end(Sense::Forward);
  const int next = (comm->rank() + 1) % comm->size();
  return ends.y->data<double>()[elements * next];
}

TEST(SharedByTheCaller, IsReadWhereItLies) {
  if (isWithoutSharing())
    GTEST_SKIP() << "one rank, or -tenon_shared_memory 0";
  EXPECT_EQ(foundAfterAChange(false), 1);
  EXPECT_EQ(foundAfterAChange(true), 2);
}

TEST(SharedByTheCaller, IsPackedUpToTheLimit) {
  if (isWithoutSharing())
    GTEST_SKIP() << "one rank, or -tenon_shared_memory 0";
  const auto limit = [](const char* bytes) {
    options().set("-tenon_conversion_pack_limit", bytes);
  };
  limit("32768"); // the bytes of a part
  EXPECT_EQ(foundAfterAChange(true), 1);
  limit("32767");
  EXPECT_EQ(foundAfterAChange(true), 2);
  expectError(TENON_ERR_OPTION, {"'-tenon_conversion_pack_limit'", "'-1'"}, [&] { limit("-1"); });
  limit("8192"); // the default
}

// Input and output are in one array, and parts are larger than a lane.
TEST(InPlaceShared, WideHalosAreFilledAndFolded) {
  const Index width = 40000, elements = 50000;
  const Layout plain = line({elements * world()->size()}, "S0");
  const Layout halos = test::withHalo(plain, width, Boundary::Periodic);
  Conversion op(world(), plain, halos, TENON_FLOAT64, CarrierPolicy::fromOptions());
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends apart(op, sense, 3), together(op, sense, 3);
    std::vector<double> memory(elements + 2 * width);
    for (const Ref<DTensor>& tensor : {together.x, together.y})
      tensor->placeArray(&memory[width], {1}, {width}, {width}, /*readOnly=*/false);
    for (std::uint64_t round = 0; round < 2; ++round) {
      fillRaw(*apart.x, round, /*integers=*/true);
      fillRaw(*together.x, round, /*integers=*/true);
      test::act(op, sense, 1, *apart.x, 0, *apart.y);
      test::act(op, sense, 1, *together.x, 0, *together.y);
      ASSERT_EQ(test::elementsOf(*together.y), test::elementsOf(*apart.y));
    }
  }
}

} // namespace
} // namespace tenon
