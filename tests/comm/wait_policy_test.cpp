// SPDX-License-Identifier: BSD-2-Clause
// Tests long waits: a rank that waits prints once the call and the missing ranks, and ends the
// program after the limit. One rank arrives late on purpose.
#include "comm/agreement/wait_policy.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/exchange.hpp"
#include "support/world.hpp"
#include "sys/errors/guard.hpp"
#include "sys/errors/object.hpp"
#include "sys/expect_error.hpp"
#include "sys/text/output.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

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
