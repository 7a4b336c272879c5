// SPDX-License-Identifier: BSD-2-Clause
// The library's life. The program's main has started MPI and holds one session, which these tests
// close and open again.
#include "comm/session.hpp"

#include "comm/partition.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options.hpp"
#include "sys/output.hpp"
#include "sys/threads.hpp"

#include <gtest/gtest.h>

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
  expectError(TENON_ERR_OPTION, {"-tenon_threads is -1"}, [&] {
    start({"program", "-tenon_threads", "-1"});
  });
}

TEST_F(Session, RefusesWaitsOfNegativeLength) {
  for (const char* option : {"-tenon_wait_warning", "-tenon_wait_limit"})
    expectError(TENON_ERR_OPTION, {option, "is -1", "seconds"}, [&] {
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

TEST_F(Session, LivesOnTheCallersCommunicator) {
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
TEST_F(Session, ForgetsTheCommunicatorsOfTheOneBefore) {
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

TEST_F(Session, ReportsOptionsThatNobodyAskedFor) {
  start({"program", "-tenon_verbose", "1"});
  finalize();
  EXPECT_EQ(errors_.find("-tenon_verbose") != std::string::npos, rank() == 0) << errors_;
}

TEST_F(Session, NamesWhatAnUnusedOptionMayHaveMeant) {
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
    left = makeRef<Partition>(Communicator::of(MPI_COMM_WORLD), Mesh::make({1}));
    left->setName("forgotten");
  } else {
    Communicator::of(MPI_COMM_WORLD);
  }
  finalize();
  EXPECT_EQ(errors_.find("Partition 'forgotten'") != std::string::npos, rank() == size() - 1)
      << errors_;
}

} // namespace
} // namespace tenon
