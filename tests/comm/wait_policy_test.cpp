// SPDX-License-Identifier: BSD-2-Clause
// Tests waits: a rank that waits gives its core to others, prints once the call and the missing
// ranks, and ends the program after the limit. One rank arrives late on purpose.
#include "comm/agreement/wait_policy.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/exchange.hpp"
#include "support/world.hpp"
#include "sys/core_share.h"
#include "sys/errors/guard.hpp"
#include "sys/errors/object.hpp"
#include "sys/expect_error.hpp"
#include "sys/text/output.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon {
namespace {

using test::world;

// The last rank is late: it waits until rank 0 has printed its warning, which rank 0 tells it by a
// message. Only rank 0 prints a warning, after 0.1 s.
class LongWait : public testing::Test {
protected:
  void SetUp() override {
    if (world()->size() == 1)
      GTEST_SKIP() << "nobody can be late";
    setWaitTimes({.warning = rank() == 0 ? kWarning : 0, .limit = 0});
    setErrorSink([this](std::string_view text) {
      warnings_ += text;
      MPI_Send(nullptr, 0, MPI_BYTE, last(), kTag, MPI_COMM_WORLD);
    });
  }
  void TearDown() override {
    setErrorSink({});
    setWaitTimes({});
  }

  static int rank() { return world()->rank(); }
  static int last() { return world()->size() - 1; }

  // Runs the call, on the last rank after the warning, and checks the warning.
  template <class Call>
  void expectWarning(Call call) {
    if (rank() == last())
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(guard("TenonTestCall",
                    [&] {
                      noteObject(*object_);
                      call();
                    }),
              TENON_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() != 0)
      return;
    for (const std::string& part :
         {std::string("rank 0 has waited "), std::string("s in TenonTestCall of thing \"conv1\""),
          fmt::format("{}, which", last()), std::string("-tenon_wait_warning")})
      EXPECT_NE(warnings_.find(part), std::string::npos) << part << " is missing in " << warnings_;
    EXPECT_EQ(warnings_.find('\n'), warnings_.size() - 1) << "once: " << warnings_;
  }
  static constexpr int kTag = 77;
  static constexpr double kWarning = 0.1;
  struct Thing : Object {
    Thing() : Object("Thing") { setName("conv1"); }
  };
  Ref<Thing> object_ = makeRef<Thing>();
  std::string warnings_;
};

TEST_F(LongWait, InAnAgreementNamesWhoHasNotCome) {
  expectWarning([] { agree(*world(), std::nullopt); });
}

TEST_F(LongWait, InAnExchangeNamesWhoHasNotSent) {
  double sent = rank(), received = -1;
  const int tag = world()->nextTag();
  auto* out = reinterpret_cast<std::byte*>(&sent);
  auto* in = reinterpret_cast<std::byte*>(&received);
  std::vector<Message> sends, receives;
  if (rank() == last())
    sends.push_back({0, out, sizeof sent});
  if (rank() == 0)
    receives.push_back({last(), in, sizeof received});
  Exchange exchange(world(), tag, sends, receives);
  expectWarning([&] {
    exchange.startReceives();
    if (!sends.empty())
      exchange.startSend(0);
    if (!receives.empty())
      exchange.waitReceive(0, 0);
    exchange.waitSends();
  });
  if (rank() == 0) {
    EXPECT_EQ(received, last());
  }
}

TEST_F(LongWait, ForAnyOfSeveralNamesAFew) {
  EXPECT_EQ(ranksText({3}), "rank 3");
  EXPECT_EQ(ranksText({1, 3}), "ranks 1,3");
  EXPECT_EQ(someOfText({3}), "rank 3");
  EXPECT_EQ(someOfText({1, 3}), "one or more of ranks 1,3");
  EXPECT_EQ(ranksText(std::vector<int>(20, 7)),
            "ranks 7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,... (20 in all)");
}

// A yield of 50 us is a long one. Naps are in microseconds.
TEST(CoreShare, NapsAfterALongYieldAndMoreAfterTheNext) {
  TenonCoreShare share = TENON_CORE_SHARE_INIT;
  for (int yield = 0; yield < 3; ++yield) {
    EXPECT_EQ(tenonNextNap(&share, yield == 0), 0);
    tenonNoteYield(&share, 49999);
  }
  EXPECT_EQ(tenonNextNap(&share, 1), 0);
  for (int naps = 64; naps <= 8192; naps *= 2) {
    tenonNoteYield(&share, 50000);
    for (int nap = 0; nap < std::min(naps, 4096); ++nap)
      ASSERT_EQ(tenonNextNap(&share, nap == 0), 2000L << std::min(nap, 6)) << naps << " " << nap;
    ASSERT_EQ(tenonNextNap(&share, 0), 0) << naps;
  }
  tenonNoteYield(&share, 100); // nobody wants the core any more
  EXPECT_EQ(tenonNextNap(&share, 1), 0);
  tenonNoteYield(&share, 3000000);
  EXPECT_EQ(share.naps, 64);
  EXPECT_EQ(tenonNextNap(&share, 1), 2000);
  EXPECT_EQ(tenonNextNap(&share, 0), 4000);
  EXPECT_EQ(tenonNextNap(&share, 1), 2000); // another wait
  EXPECT_EQ(share.naps, 61);
}

TEST(CoreShare, LeavesTheTimersOfTheThreadAsTheyWere) {
#ifdef __linux__
  const int before = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  tenonNap(1000);
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), before);
#endif
}

// The tests run with the preload library, if there is one, and with MPI that yields, if it can.
TEST(CoreShare, IsThatOfThePreloadLibrary) {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  const bool isPreloaded = preloaded && std::strstr(preloaded, "libtenon_wait");
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "tenon_wait_core_share") != nullptr, isPreloaded);
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "sched_yield"), &info), 0);
  EXPECT_EQ(std::strstr(info.dli_fname, "libtenon_wait") != nullptr, isPreloaded);
  EXPECT_EQ(sched_yield(), 0);
  if (!isPreloaded)
    return;
  // What one of both learns the other knows.
  void* const function = dlsym(RTLD_DEFAULT, "tenon_wait_core_share");
  TenonCoreShare& share = *reinterpret_cast<TenonCoreShare* (*)()>(function)();
  tenonNoteYield(&share, 50000);
  const int naps = share.naps;
  EXPECT_GT(yieldOrNextNap(/*isNewWait=*/true), 0);
  EXPECT_EQ(sched_yield(), 0);
  EXPECT_EQ(share.naps, naps - 2);
}

#ifdef OPEN_MPI
TEST(WaitPolicy, KnowsWhetherMpiYields) {
  const char* const setting = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  if (!setting)
    GTEST_SKIP() << "MPI has decided";
  EXPECT_EQ(doesMpiYield(), std::strcmp(setting, "0") != 0);
}
#endif

TEST(WaitLimit, EndsTheProgram) {
  std::vector<TenonErrorCode> fatal;
  bool aborted = false;
  setFatalHandler([](TenonErrorCode code, int, const char*, const char*, const char*, int,
                     void* seen) { static_cast<decltype(fatal)*>(seen)->push_back(code); },
                  &fatal);
  setAbortHook([&](TenonErrorCode) { aborted = true; });
  setWaitTimes({.warning = 0, .limit = 0.05});
  WaitPolicy policy(*world());
  expectError(TENON_ERR_TIMEOUT, {"waited ", "a collective call for rank 5, which has not"}, [&] {
    for (;;)
      policy.wait([] { return ranksText({5}); });
  });
  EXPECT_EQ(fatal, std::vector{TENON_ERR_TIMEOUT});
  EXPECT_TRUE(aborted);
  setWaitTimes({});
  setAbortHook([](TenonErrorCode code) { MPI_Abort(MPI_COMM_WORLD, code); });
  setFatalHandler(nullptr, nullptr);
}

} // namespace
} // namespace tenon
