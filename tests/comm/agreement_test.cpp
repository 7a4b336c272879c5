// SPDX-License-Identifier: BSD-2-Clause
// Tests agreements: if a collective call fails on any rank, it fails with the same code and text on
// all, and exactly one rank prints the error (commonError() checks this); and timeouts with the
// names of absent ranks. All ranks run each test, and some arrive late or not at all on purpose.
#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "support/own_communicator.hpp"
#include "support/world.hpp"
#include "sys/errors/guard.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace {

double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// During the lifetime of an OwnTime, the clock of MPI (MPI_Wtime(), replaced below) runs slower if
// this process gets hardly any processor time, because other programs use the machine. Ranks wait
// by yielding the core, and a rank on a busy machine would otherwise time out before the others
// could run. The clock advances by at most kLookTimes times the processor time of this process.
class OwnTime {
public:
  OwnTime() { first = this; }
  OwnTime(const OwnTime&) = delete;
  OwnTime& operator=(const OwnTime&) = delete;
  ~OwnTime() { first = nullptr; }
  double now() const {
    return start_ +
           std::min(PMPI_Wtime() - start_, kLookTimes * (processorSeconds() - processorStart_));
  }
  static OwnTime* first;

private:
  // On an idle machine a waiting process uses more than 1/5000 of the time, so the clock is exact.
  static constexpr double kLookTimes = 5000;
  double start_ = PMPI_Wtime(), processorStart_ = processorSeconds();
};
OwnTime* OwnTime::first = nullptr;

} // namespace

double MPI_Wtime() {
  return OwnTime::first ? OwnTime::first->now() : PMPI_Wtime();
}

namespace tenon {
namespace {

using test::world;

int lastRank() {
  return world()->size() - 1;
}

std::string textOfRank(std::string text, int rank) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, rank, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, rank, MPI_COMM_WORLD);
  return text;
}

// Runs a collective call that must fail, and returns its error once all ranks have the same.
template <class Call>
Error commonError(Call call) {
  std::optional<Error> error;
  try {
    call();
  } catch (const Error& e) {
    error = e;
  }
  if (!error) {
    ADD_FAILURE() << "rank " << world()->rank() << " got no error";
    MPI_Abort(MPI_COMM_WORLD, 1); // the others would wait in the broadcast below
  }
  int codes[2] = {error->code(), -error->code()}, speakers = error->speaks() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &speakers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(codes[0], -codes[1]);
  EXPECT_EQ(speakers, 1);
  EXPECT_TRUE(error->isAgreed());
  EXPECT_EQ(error->text(), textOfRank(error->text(), 0));
  return *error;
}

TEST(Agree, PassesWhereNobodyFails) {
  EXPECT_NO_THROW(agree(*world(), std::nullopt));
  EXPECT_EQ(collectively(*world(), [] { return 7; }), 7);
}

TEST(Agree, AnErrorOfAllRanksIsToldInItsOwnWords) {
  const Error error = commonError([] {
    collectively(*world(), []() -> int { throw Error(TENON_ERR_SHAPE, "the shape is bad"); });
  });
  EXPECT_EQ(error.code(), TENON_ERR_SHAPE);
  EXPECT_EQ(error.text(), "the shape is bad");
}

TEST(Agree, AnErrorOfOneRankIsToldByAll) {
  for (int bad = 0; bad < world()->size(); ++bad) {
    const Error error = commonError([&] {
      collectively(*world(), [&] {
        if (world()->rank() == bad)
          throw Error(TENON_ERR_ARG, fmt::format("bad number {}", bad));
        return 0;
      });
    });
    EXPECT_EQ(error.code(), TENON_ERR_ARG);
    const std::string who =
        world()->size() == 1 ? "" : fmt::format("rank {} of {}: ", bad, world()->size());
    EXPECT_EQ(error.text(), who + fmt::format("bad number {}", bad));
  }
}

TEST(Agree, TheLowestFailingRankLendsItsCodeAndWords) {
  if (world()->size() < 3)
    GTEST_SKIP() << "needs ranks 1 and 2";
  const Error error = commonError([] {
    collectively(*world(), [] {
      if (world()->rank() == 1)
        throw Error(TENON_ERR_LAYOUT, "one");
      if (world()->rank() == 2)
        throw Error(TENON_ERR_MEMORY, "two");
      return 0;
    });
  });
  EXPECT_EQ(error.code(), TENON_ERR_LAYOUT);
  EXPECT_EQ(error.text(), fmt::format("rank 1 of {}: one", world()->size()));
}

TEST(Agree, ForeignExceptionsBecomeErrorsOfAll) {
  const Error memory = commonError([] {
    collectively(*world(), []() -> int {
      if (world()->rank() == lastRank())
        throw std::bad_alloc();
      return 0;
    });
  });
  EXPECT_EQ(memory.code(), TENON_ERR_MEMORY);
  const Error other = commonError(
      [] { collectively(*world(), []() -> int { throw std::runtime_error("foreign words"); }); });
  EXPECT_EQ(other.code(), TENON_ERR_INTERNAL);
  EXPECT_EQ(other.text(), "foreign words");
}

TEST(Agree, DifferentTextsAreNamedWithTheirRanks) {
  EXPECT_NO_THROW(agreeOnText(*world(), "the seed", [] { return "7"; }));
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const Error error = commonError([] {
    agreeOnText(*world(), "the seed", [] { return world()->rank() == lastRank() ? "8" : "7"; });
  });
  EXPECT_EQ(error.code(), TENON_ERR_COLLECTIVE);
  EXPECT_EQ(error.text(), fmt::format("the seed must be the same on all ranks: on rank 0 it is 7, "
                                      "on rank {} it is 8",
                                      lastRank()));
}

TEST(Agree, OfLongTextsTheWordsThatDifferAreShown) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const Error error = commonError([] {
    agreeOnText(*world(), "the layer", [] {
      return world()->rank() == lastRank() ? "a convolution (kernel 5 stride 2), no bias"
                                           : "a convolution (kernel 3 stride 1), no bias";
    });
  });
  EXPECT_EQ(error.text(),
            fmt::format("the layer must be the same on all ranks: on rank 0 it is a convolution "
                        "(kernel 3 stride 1), no bias; on rank {} it has 'kernel 5 stride 2' in "
                        "place of 'kernel 3 stride 1'",
                        lastRank()));
}

TEST(Agree, FunctionsThatDifferAreNamed) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const bool isOther = world()->rank() == lastRank();
  const CallScope scope(isOther ? "TenonB" : "TenonA");
  const Error error = commonError(
      [&] { agreeOnText(*world(), "the layout", [&] { return isOther ? "[8]" : "[4]"; }); });
  EXPECT_EQ(error.text(), fmt::format("the layout must be the same on all ranks: on rank 0 it is "
                                      "[4], on rank {0} it is [8] (rank 0 is in TenonA, rank {0} "
                                      "in TenonB)",
                                      lastRank()));
}

TEST(Agree, RanksInDifferentCallsAreToldSo) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const Error error = commonError([] {
    if (world()->rank() == lastRank())
      agreeOnText(*world(), "the layout", [] { return "[8] as B"; });
    else
      collectively(*world(), [] { return 0; });
  });
  EXPECT_EQ(error.code(), TENON_ERR_COLLECTIVE);
  for (const char* words :
       {"different collective calls", "its outcome alone", "the layout: [8] as B"})
    EXPECT_NE(error.text().find(words), std::string::npos) << error.text();
}

TEST(Agree, OutcomeAndTextAreAgreedOnTogether) {
  const auto describe = [](int value) { return fmt::format("{}", value); };
  EXPECT_EQ(collectively(
                *world(), "the number", [] { return 3; }, describe),
            3);
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const Error error = commonError([&] {
    collectively(
        *world(), "the number", [] { return world()->rank() == 1 ? 4 : 3; }, describe);
  });
  EXPECT_EQ(error.code(), TENON_ERR_COLLECTIVE);
}

TEST(Agree, ARankThatFailsEarlyMeetsTheOthersInAnInnerAgreement) {
  const Error error = commonError([] {
    collectively(*world(), [] {
      if (world()->rank() == lastRank())
        throw Error(TENON_ERR_STATE, "too early");
      agreeOnText(*world(), "the name", [] { return "same"; });
      return 0;
    });
  });
  EXPECT_EQ(error.code(), TENON_ERR_STATE);
  EXPECT_NO_THROW(agree(*world(), std::nullopt)); // all are in step
}

// Also beyond 2^63, where some MPI libraries compare unsigned numbers as signed ones.
TEST(Agree, TheLargestNumberIsThatOfUnsignedNumbers) {
  constexpr std::uint64_t kHalf = std::uint64_t(1) << 63, kMax = ~std::uint64_t(0);
  const bool isLast = world()->rank() == world()->size() - 1;
  std::vector<std::uint64_t> numbers = {isLast ? kMax : 0, isLast ? kHalf : kHalf - 1,
                                        isLast ? 5U : 0U};
  reduceNumbers(*world(), numbers, MPI_MAX);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{kMax, kHalf, 5}));
  const auto rank = static_cast<std::uint64_t>(world()->rank());
  std::vector<std::uint64_t> sums = {rank, kHalf + 1};
  reduceNumbers(*world(), sums, MPI_SUM);
  const auto size = static_cast<std::uint64_t>(world()->size());
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{size * (size - 1) / 2, size * (kHalf + 1)}));
}

TEST(Agree, TagsAreInStepAfterAFailureBetweenThem) {
  EXPECT_THROW(collectively(*world(),
                            [] {
                              if (world()->rank() == lastRank())
                                throw Error(TENON_ERR_MEMORY, "no room");
                              return world()->nextTag();
                            }),
               Error);
  int tags[2] = {world()->nextTag(), 0};
  tags[1] = -tags[0];
  MPI_Allreduce(MPI_IN_PLACE, tags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(tags[0], -tags[1]);
}

// Each test uses a communicator of its own, which cannot be used any more after a rank was absent.
class Absence : public testing::Test {
protected:
  void SetUp() override {
    if (world()->size() == 1)
      GTEST_SKIP() << "nobody can be absent";
    MPI_Comm_dup(MPI_COMM_WORLD, &parent_);
    comm_ = Communicator::of(parent_);
    options().set("-tenon_agree_timeout", "0.3");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    if (parent_ == MPI_COMM_NULL)
      return;
    options().set("-tenon_agree_timeout", "300");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&parent_);
  }
  // All ranks except one call agreeOnText(); that one calls it after the others have timed out.
  void expectTimeout(int late, std::initializer_list<const char*> parts) {
    if (world()->rank() == late)
      MPI_Barrier(MPI_COMM_WORLD);
    expectError(TENON_ERR_TIMEOUT, parts,
                [&] { agreeOnText(*comm_, "the seed", [] { return "7"; }); });
    if (world()->rank() != late)
      MPI_Barrier(MPI_COMM_WORLD);
    expectError(TENON_ERR_STATE, {"can no longer be used"}, [&] { agree(*comm_, std::nullopt); });
  }

  MPI_Comm parent_ = MPI_COMM_NULL;
  CommPtr comm_;

private:
  OwnTime time_;
};

TEST_F(Absence, OfAnyRankIsNamedOnAllAndFailsAll) {
  const std::string named =
      fmt::format("after 0.3 s rank {} had not arrived at a collective call", lastRank());
  expectTimeout(lastRank(), {named.c_str(), "agree_timeout"});
}

TEST_F(Absence, OfOneRankAccusesNoOther) {
  expectTimeout(1, {"after 0.3 s rank 1 had not arrived"});
}

TEST_F(Absence, OfRankZeroIsNamedAndFailsRankZeroToo) {
  const std::string others = ranksText(othersOf(*comm_));
  if (world()->rank() == 0)
    expectTimeout(0,
                  {"rank 0 arrived at a collective call after", others.c_str(), "stopped waiting"});
  else
    expectTimeout(0, {"after 0.3 s rank 0 had not arrived", "agree_timeout"});
}

TEST_F(Absence, OfARankFromInnerAgreementsIsATimeoutOfTheOuterOne) {
  if (world()->rank() == lastRank())
    return;
  expectError(TENON_ERR_TIMEOUT, {"had not arrived"}, [&] {
    collectively(*comm_, [&] {
      agreeOnText(*comm_, "the name", [] { return "same"; });
      return 0;
    });
  });
}

TEST_F(Absence, FromASplitIsFoundOut) {
  if (world()->rank() == lastRank())
    return;
  expectError(TENON_ERR_TIMEOUT, {"had not arrived"}, [&] { comm_->split({.use = -9}, 0, 0); });
}

// A vote runs along a tree of ranks. If one is absent, the ranks below it in the tree are not heard
// either, but they must not be named as absent.
TEST_F(Absence, OfEachRankIsNamedAloneAndSoAreTwo) {
  const int size = world()->size();
  for (int first = 1; first < size; ++first) {
    const int second = (first + size / 2) % size;
    const std::vector<int> absent =
        second > first ? std::vector{first, second} : std::vector{first};
    const bool isLate = std::count(absent.begin(), absent.end(), world()->rank()) > 0;
    const CommPtr comm = test::ownCommunicator();
    options().set("-tenon_agree_timeout", "0.1");
    MPI_Barrier(MPI_COMM_WORLD);
    if (isLate)
      MPI_Barrier(MPI_COMM_WORLD);
    const std::string named = fmt::format("after 0.1 s {} had not arrived", ranksText(absent));
    expectError(TENON_ERR_TIMEOUT, {named.c_str()},
                [&] { agreeOnText(*comm, "the seed", [] { return "7"; }); });
    if (!isLate)
      MPI_Barrier(MPI_COMM_WORLD);
    options().set("-tenon_agree_timeout", "300");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// One rank arrives at about the moment when the others time out: earlier or later by a few percent
// of the timeout in each trial. All ranks must have the same outcome.
TEST_F(Absence, AtTheTimeoutHasOneOutcome) {
  constexpr int kTrials = 24;
  constexpr double kTimeout = 0.004;
  options().set("-tenon_agree_timeout", "300");
  std::vector<CommPtr> comms;
  for (int trial = 0; trial < kTrials; ++trial)
    comms.push_back(test::ownCommunicator());
  options().set("-tenon_agree_timeout", fmt::format("{}", kTimeout));
  for (int trial = 0; trial < kTrials; ++trial) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world()->rank() == trial % world()->size())
      for (const double end = MPI_Wtime() + kTimeout * (0.8 + 0.02 * trial); MPI_Wtime() < end;)
        ;
    int codes[2] = {TENON_SUCCESS, 0};
    try {
      agree(*comms[trial], std::nullopt);
    } catch (const Error& error) {
      codes[0] = error.code();
    }
    codes[1] = -codes[0];
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(codes[0], -codes[1]) << "trial " << trial;
  }
}

// A rank that arrives after rank 0 has called it (vote.hpp), but within the timeout, is waited for;
// and no message of its vote remains that would disturb later votes.
TEST(LateRank, IsWaitedForAndLeavesTheCommunicatorInStep) {
  const int size = world()->size();
  if (size == 1)
    GTEST_SKIP() << "nobody can be late";
  const CommPtr comm = test::ownCommunicator();
  const OwnTime time;
  options().set("-tenon_agree_timeout", "0.2");
  const auto vote = [&](int bad) {
    agreeOnText(*comm, "the seed", [&]() -> std::string {
      if (world()->rank() == bad)
        throw Error(TENON_ERR_ARG, "bad");
      return world()->rank() > bad && bad >= 0 ? "8" : "7";
    });
  };
  const auto comeLate = [&](int late) {
    for (int called = 0; world()->rank() == late && !called; sched_yield())
      MPI_Iprobe(0, Communicator::kCallTag, comm->mpi(), &called, MPI_STATUS_IGNORE);
  };
  for (const int late : {1, size / 2, size - 1}) {
    const int bad = (late + 1) % size;
    comeLate(late);
    EXPECT_NO_THROW(vote(-1)) << "late: " << late;
    EXPECT_NO_THROW(vote(-1));
    for (const bool isLate : {true, false}) {
      if (isLate)
        comeLate(late);
      const Error error = commonError([&] { vote(bad); });
      EXPECT_EQ(error.code(), TENON_ERR_ARG);
      EXPECT_EQ(error.text(), fmt::format("rank {} of {}: bad", bad, size));
    }
  }
  options().set("-tenon_agree_timeout", "300");
  int left = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->mpi(), &left, MPI_STATUS_IGNORE);
  EXPECT_EQ(left, 0);
}

} // namespace
} // namespace tenon
