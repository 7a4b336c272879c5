// SPDX-License-Identifier: BSD-2-Clause
// Tests the memory that the ranks of a node share: what one rank writes, others read; allocation
// and its limits (a full arena, ulimit -f, open files); and the choice of transports. All ranks run
// each test; they are on one node.
#include "comm/memory/shared_arena.hpp"

#include "comm/transport.hpp"
#include "support/own_communicator.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tenon {
namespace {

// Lowers a limit of the process during its lifetime.
class LoweredLimit {
public:
  LoweredLimit(__rlimit_resource_t resource, Index most) : resource_(resource) {
    getrlimit(resource_, &before_);
    struct rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(most);
    EXPECT_EQ(setrlimit(resource_, &lower), 0);
  }
  LoweredLimit(const LoweredLimit&) = delete;
  LoweredLimit& operator=(const LoweredLimit&) = delete;
  ~LoweredLimit() { setrlimit(resource_, &before_); }

private:
  __rlimit_resource_t resource_;
  struct rlimit before_ {};
};

using test::communicatorWithArena;
using test::world;

constexpr Index kMiB = Index(1) << 20;

class Arena : public testing::Test {
protected:
  void SetUp() override {
    if (world()->size() == 1)
      GTEST_SKIP() << "one rank has nobody to share with";
    ASSERT_TRUE(comm->arena()) << comm->whyNoArena();
  }
  CommPtr comm = communicatorWithArena(4);
  std::shared_ptr<SharedArena> arena = comm->arena();
};

TEST_F(Arena, IsSeenAlikeByAllRanks) {
  const int ranks = comm->size(), next = (comm->rank() + 1) % ranks;
  Buffer mine(1000, "test", arena);
  ASSERT_TRUE(arena->contains(mine.data<std::byte>()));
  std::fill_n(mine.data<char>(), 1000, static_cast<char>('a' + comm->rank()));
  std::vector<Index> places(ranks);
  const Index place = arena->offsetOf(mine.data<std::byte>());
  MPI_Allgather(&place, sizeof place, MPI_BYTE, places.data(), sizeof place, MPI_BYTE, comm->mpi());
  for (int r = 0; r < ranks; ++r) {
    EXPECT_TRUE(arena->isOnNode(r));
    EXPECT_EQ(static_cast<char>(*arena->at(r, places[r] + 999)), 'a' + r);
  }
  MPI_Barrier(comm->mpi());
  *arena->at(next, places[next]) = std::byte{'z'};
  MPI_Barrier(comm->mpi());
  EXPECT_EQ(mine.data<char>()[0], 'z');
}

TEST_F(Arena, LeavesNoFile) {
  MPI_Barrier(comm->mpi());
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
    EXPECT_EQ(file.path().filename().string().find(fmt::format("tenon.{}.", getpid())),
              std::string::npos);
}

TEST_F(Arena, AlignsAndTakesBack) {
  const Index before = arena->bytesTaken();
  {
    const Buffer small(1, "small", arena), large(kMiB, "large", arena);
    EXPECT_EQ(arena->offsetOf(small.data<std::byte>()) % 64, 0);
    EXPECT_EQ(arena->offsetOf(large.data<std::byte>()) % SharedSegment::pageBytes(), 0);
    EXPECT_EQ(arena->bytesTaken(), before + 64 + kMiB);
  }
  EXPECT_EQ(arena->bytesTaken(), before);
}

TEST_F(Arena, UsesTheHeapForWhatDoesNotFit) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 4; ++i)
    buffers.emplace_back(2 * kMiB, "test", arena);
  const auto inside = std::count_if(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
    return arena->contains(buffer.data<std::byte>());
  });
  EXPECT_EQ(inside, 2);
}

TEST_F(Arena, OutlivesItsCommunicatorInABuffer) {
  Buffer buffer(100, "test", arena);
  arena->close();
  arena.reset();
  std::fill_n(buffer.data<char>(), 100, 'x');
  const Buffer other(100, "other", comm->arena());
  EXPECT_FALSE(comm->arena()->contains(other.data<std::byte>()));
}

TEST(Segment, WithoutSpaceSaysSoInsteadOfFailingLater) {
  // A file may be larger than the memory behind it.
  const Index capacity = SharedSegment::capacity();
  ASSERT_GT(capacity, 0);
  const std::string name = fmt::format("tenon.test.{}", getpid());
  SharedSegment segment = SharedSegment::create(name, 2 * capacity);
  SharedSegment::unlink(name);
  EXPECT_FALSE(segment.commit(0, 2 * capacity));
  EXPECT_TRUE(segment.commit(0, 100));
  segment.data()[99] = std::byte{1};
}

TEST(Segment, NamesTheFileThatCannotBeMade) {
  expectError(TENON_ERR_MEMORY, {"/dev/shm/no/such"},
              [] { SharedSegment::create("no/such", 4096); });
}

// The system would end the process by a signal.
TEST(Segment, IsNotLargerThanTheLimitOfFileSizes) {
  const std::string name = fmt::format("tenon.test.{}", getpid());
  {
    const LoweredLimit files(RLIMIT_FSIZE, kMiB);
    expectError(TENON_ERR_MEMORY, {"cannot size", "too large"},
                [&] { SharedSegment::create(name, 2 * kMiB); });
  }
  SharedSegment segment = SharedSegment::create(name, 2 * kMiB);
  SharedSegment::unlink(name);
  const LoweredLimit files(RLIMIT_FSIZE, 4096); // too late: the file has its size
  EXPECT_TRUE(segment.commit(kMiB, kMiB));
  segment.data()[2 * kMiB - 1] = std::byte{1};
}

TEST(Segment, LeavesTheProgramSomeFilesToOpen) {
  const std::string name = fmt::format("tenon.test.{}", getpid());
  const int next = open("/dev/null", O_RDONLY);
  close(next);
  const LoweredLimit files(RLIMIT_NOFILE, next + 3);
  expectError(TENON_ERR_MEMORY, {"Too many open files"},
              [&] { SharedSegment::create(name, kMiB); });
  SharedSegment::unlink(name);
  const int programs = open("/dev/null", O_RDONLY);
  EXPECT_EQ(programs, next);
  close(programs);
}

TEST_F(Arena, IsReducedToTheLimitOfFileSizesAndSaysSo) {
  EXPECT_EQ(comm->whySmallArena(), "");
  const LoweredLimit files(RLIMIT_FSIZE, 2 * kMiB + 1);
  const CommPtr small = communicatorWithArena(4);
  ASSERT_TRUE(small->arena()) << small->whyNoArena();
  EXPECT_NE(small->whySmallArena().find("2097153 bytes at most (ulimit -f)"), std::string::npos);
  const Buffer large(2 * kMiB, "large", small->arena()), more(kMiB, "more", small->arena());
  EXPECT_TRUE(small->arena()->contains(large.data<std::byte>()));
  EXPECT_FALSE(small->arena()->contains(more.data<std::byte>()));
}

TEST_F(Arena, IsNotMadeIfTheLimitOfFileSizesIsTiny) {
  const LoweredLimit files(RLIMIT_FSIZE, 5000);
  const CommPtr none = communicatorWithArena(4);
  EXPECT_FALSE(none->arena());
  EXPECT_NE(none->whyNoArena().find("5000 bytes at most (ulimit -f)"), std::string::npos);
  Buffer(100, "test", none->arena()).setZero();
}

TEST(Transports, SharedWithoutAnArenaIsAnErrorWithTheReason) {
  const CommPtr none = communicatorWithArena(0);
  EXPECT_FALSE(none->arena());
  EXPECT_EQ(resolveTransport(Transport::Auto, *none), Transport::Messages);
  if (none->size() == 1)
    return;
  expectError(TENON_ERR_SUPPORT, {"-tenon_shared_memory is 0"},
              [&] { resolveTransport(Transport::Shared, *none); });
  // The suite also runs with -tenon_shared_memory 0.
  EXPECT_EQ(resolveTransport(Transport::Auto, *world()),
            world()->arena() ? Transport::Shared : Transport::Messages);
}

TEST(Transports, HaveNames) {
  for (Transport t : {Transport::Auto, Transport::Messages, Transport::Shared})
    EXPECT_EQ(parseTransport(transportName(t)), t);
  expectError(TENON_ERR_ARG, {"'pigeon'", "messages"}, [] { parseTransport("pigeon"); });
}

} // namespace
} // namespace tenon
