// SPDX-License-Identifier: BSD-2-Clause
// Tests initialise and finalise of the library. The program's main has initialised MPI and opened
// one session, which these tests close and open again. All ranks run each test.
#include "comm/session/session.hpp"

#include "comm/partition.hpp"
#include "comm/session/launcher.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/environment.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"
#include "sys/threads.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tenon {
namespace {

class Session : public testing::Test {
protected:
  void SetUp() override {
    finalize();
    setErrorSink([this](std::string_view text) { errors_ += text; });
  }
  void TearDown() override {
    setErrorSink({});
    initialize(nullptr, nullptr, MPI_COMM_WORLD, "");
  }

  void start(std::vector<const char*> words, MPI_Comm comm = MPI_COMM_WORLD) {
    int argc = static_cast<int>(words.size());
    char** argv = const_cast<char**>(words.data());
    initialize(&argc, &argv, comm, "");
  }

  static int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  static int size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }

  std::string errors_;
};

TEST_F(Session, IsCounted) {
  EXPECT_FALSE(isInitialized());
  start({"program"});
  start({"program"});
  finalize();
  EXPECT_TRUE(isInitialized());
  finalize();
  EXPECT_FALSE(isInitialized());
}

TEST_F(Session, LimitsTheThreadsAsLongAsItLasts) {
  const int before = threadLimit();
  start({"program", "-tenon_threads", "3"});
  EXPECT_EQ(threadLimit(), 3);
  finalize();
  EXPECT_EQ(threadLimit(), before);
  expectError(TENON_ERR_OPTION, {"'-tenon_threads'", "'-1'", "in [0,1000000]"}, [&] {
    start({"program", "-tenon_threads", "-1"});
  });
}

TEST_F(Session, RefusesWaitsOfNegativeLength) {
  for (const char* option : {"-tenon_wait_warning", "-tenon_wait_limit"})
    expectError(TENON_ERR_OPTION, {option, "'-1'", "expected a real number"}, [&] {
      start({"program", option, "-1"});
    });
}

TEST_F(Session, EndsOnlyWhatItBegan) {
  start({"program"});
  finalize();
  int finished = 1;
  MPI_Finalized(&finished);
  EXPECT_FALSE(finished);
}

TEST_F(Session, IsNeededBeforeAnythingElse) {
  expectError(TENON_ERR_STATE, {"not initialised", "TenonInitialize"}, [] { checkInitialized(); });
  expectError(TENON_ERR_STATE, {"not initialised"}, [] { finalize(); });
}

TEST_F(Session, LivesOnTheUserCommunicator) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &half);
  if (rank() % 2 == 0) { // the other ranks know nothing of it
    start({"program"}, half);
    MPI_Comm_free(&half);
    EXPECT_TRUE(isInitialized());
    finalize();
  } else {
    MPI_Comm_free(&half);
  }
  EXPECT_FALSE(isInitialized());
}

// The attribute on MPI_COMM_WORLD outlives a session; its number must not name a later copy.
TEST_F(Session, ForgetsTheCommunicatorsOfThePreviousSession) {
  start({"program"});
  Communicator::of(MPI_COMM_WORLD);
  finalize();
  start({"program"}, MPI_COMM_SELF);
  EXPECT_EQ(Communicator::of(MPI_COMM_SELF)->size(), 1);
  EXPECT_EQ(Communicator::of(MPI_COMM_WORLD)->size(), size());
  finalize();
}

TEST_F(Session, ABadOptionOnOneRankFailsAllAndLeavesNothing) {
  const bool bad = rank() == size() - 1;
  expectError(TENON_ERR_OPTION, {"-tenon_log_veiw", "-tenon_log_view"}, [&] {
    start({"program", bad ? "-tenon_log_veiw" : "-tenon_log_view"});
  });
  EXPECT_FALSE(isInitialized());
  EXPECT_TRUE(options().values().empty());
  start({"program"});
  EXPECT_TRUE(isInitialized());
  finalize();
}

TEST_F(Session, LeavesOtherProgramsOptionsAlone) {
  start({"program", "-ksp_type", "cg", "input.txt"});
  finalize();
  EXPECT_EQ(errors_, "");
}

TEST_F(Session, ReportsOptionsThatWereNotRead) {
  start({"program", "-tenon_verbose", "1"});
  finalize();
  EXPECT_EQ(errors_.find("-tenon_verbose") != std::string::npos, rank() == 0) << errors_;
}

TEST_F(Session, SuggestsTheOptionThatAnUnusedOneCanHaveMeant) {
  start({"program", "-tenon_slover_verbose", "1"});
  options().findInt("solver_", "verbose");
  finalize();
  EXPECT_EQ(errors_.find("did you mean -tenon_solver_verbose?") != std::string::npos, rank() == 0)
      << errors_;
}

TEST_F(Session, ReportsObjectsThatNobodyDestroyed) {
  start({"program"});
  Ref<Partition> left;
  if (rank() == size() - 1) {
    left = makeRef<Partition>(Communicator::of(MPI_COMM_WORLD), Grid::make({1}));
    left->setName("forgotten");
    left->addHandle();
  } else {
    Communicator::of(MPI_COMM_WORLD);
  }
  finalize();
  const std::string expected = fmt::format("Tenon: 1 object was never destroyed on rank {}:\n"
                                           "  Partition 'forgotten', 1 reference\n",
                                           rank());
  EXPECT_EQ(errors_, rank() == size() - 1 ? expected : "");
  if (left)
    left->dropHandle();
}

// Objects without a handle of the user are not reported.
TEST_F(Session, KeepsSilentAboutItsOwnObjects) {
  start({"program"});
  const auto own = makeRef<Partition>(Communicator::of(MPI_COMM_WORLD), Grid::make({1}));
  finalize();
  EXPECT_EQ(errors_, "");
}

TEST_F(Session, LeavesABadSharedMemoryAlone) {
  for (const char* wrong : {"-2", "9223372036854775807"})
    expectError(TENON_ERR_OPTION, {"'-tenon_shared_memory'", wrong, "in [-1,1073741824]"}, [&] {
      start({"program", "-tenon_shared_memory", wrong});
    });
}

TEST(Oversubscription, IsToldWhereThreadsOutnumberTheCpus) {
  EXPECT_EQ(
      oversubscription({.ranks = 4, .threads = 8, .mostThreads = 2, .cpus = 2},
                       /*isLimited=*/false),
      "Tenon: 4 ranks with 8 OpenMP threads in all for 2 CPUs, on the node of rank 0, will be "
      "slow; set OMP_NUM_THREADS=1\n");
  EXPECT_EQ(
      oversubscription({.ranks = 2, .threads = 16, .mostThreads = 8, .cpus = 8},
                       /*isLimited=*/true),
      "Tenon: 2 ranks with 16 OpenMP threads in all for 8 CPUs, on the node of rank 0: Tenon's own "
      "loops take 4 threads a rank, but BLAS, oneDNN and the program itself will be slow; set "
      "OMP_NUM_THREADS=4\n");
  EXPECT_TRUE(isOversubscribed({.ranks = 4, .threads = 8, .mostThreads = 2, .cpus = 2}));
  EXPECT_FALSE(isOversubscribed({.ranks = 2, .threads = 8, .mostThreads = 4, .cpus = 8}));
  // More ranks than CPUs are the user's choice, and with an unknown number of CPUs (0) nothing is
  // said.
  EXPECT_FALSE(isOversubscribed({.ranks = 8, .threads = 8, .mostThreads = 1, .cpus = 2}));
  EXPECT_FALSE(isOversubscribed({.ranks = 4, .threads = 8, .mostThreads = 2, .cpus = 0}));
}

TEST_F(Session, WarnsOfMoreThreadsThanCpusAndLimitsThem) {
  auto* limit = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (!limit)
    GTEST_SKIP() << "no OpenMP is loaded";
  const int before = openMpThreads();
  const auto variable = environment("OMP_NUM_THREADS");
  const auto limitFor = [&](int threads, std::initializer_list<const char*> arguments) {
    errors_.clear();
    limit(threads);
    start(arguments);
    const int found = threadLimit();
    finalize();
    const bool isTold = errors_.find("OpenMP threads in all") != std::string::npos;
    EXPECT_EQ(isTold, threads > 1 && rank() == 0) << errors_;
    return found;
  };
  unsetenv("OMP_NUM_THREADS");
  EXPECT_GE(limitFor(1, {"program"}), 20000);
  EXPECT_LT(limitFor(20000, {"program"}), 20000);
  // A number of threads that the user has set is not changed.
  EXPECT_EQ(limitFor(20000, {"program", "-tenon_threads", "20000"}), 20000);
  setenv("OMP_NUM_THREADS", "20000", 1);
  EXPECT_GE(limitFor(20000, {"program"}), 20000);
  if (variable)
    setenv("OMP_NUM_THREADS", variable->c_str(), 1);
  else
    unsetenv("OMP_NUM_THREADS");
  limit(before);
}

} // namespace
} // namespace tenon
