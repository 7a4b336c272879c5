// SPDX-License-Identifier: BSD-2-Clause
// Tests errors at the C boundary: guard() and guardApply(), the record of the last error with its
// frames, the printed reports, pushed and fatal handlers, and failures of user functions.
#include "sys/errors/dimension_note.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tenon;

struct Seen {
  TenonErrorCode code;
  int level;
  std::string message, function, file;
  int line;
};

void remember(TenonErrorCode code, int level, const char* message, const char* function,
              const char* file, int line, void* context) {
  static_cast<std::vector<Seen>*>(context)->push_back({code, level, message, function, file, line});
}

class Handlers : public ::testing::Test {
protected:
  void SetUp() override {
    setErrorSink([this](std::string_view text) { printed_ += text; });
    clearLastError();
    setProcessRank(0);
  }
  void TearDown() override {
    setErrorSink({});
    setFatalHandler(nullptr, nullptr);
    setAbortHook({});
    setProcessRank(0);
  }
  auto lines() const { return std::count(printed_.begin(), printed_.end(), '\n'); }
  bool says(const char* part) const { return printed_.find(part) != std::string::npos; }

  std::string printed_;
};

TenonErrorCode fail(TenonErrorCode code, const char* text) {
  return guard("TenonFail", [&] { throw Error(code, text); });
}

TEST_F(Handlers, ShowsControlCharactersOfATextAsText) {
  std::vector<Seen> seen;
  pushErrorHandler(remember, &seen);
  fail(TENON_ERR_FILE, "no file '\x1b]0;x\x07'\n\tnor \xff");
  popErrorHandler();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].message, "no file '\\x1b]0;x\\x07'\n\tnor \\xff");
  EXPECT_EQ(lastError().message(), seen[0].message);
  EXPECT_EQ(guard("TenonFail", [] { throw Error(TENON_ERR_ARG, "\x1b").agreed(false); }),
            TENON_ERR_ARG);
  EXPECT_TRUE(lastError().error->isAgreed());
  EXPECT_FALSE(lastError().error->speaks());
}

TEST_F(Handlers, SuccessLeavesNoTrace) {
  EXPECT_EQ(guard("TenonNothing", [] {}), TENON_SUCCESS);
  EXPECT_EQ(lastError().code(), TENON_SUCCESS);
  EXPECT_TRUE(printed_.empty());
  EXPECT_EQ(errorReport(lastError()), "");
}

TEST_F(Handlers, GuardReturnsTheCodeAndRecordsMessageFunctionAndPlace) {
  const int line = __LINE__ + 1;
  const auto code = guard("TenonThing", [] { throw Error(TENON_ERR_SHAPE, "x has shape (4, 3)"); });
  EXPECT_EQ(code, TENON_ERR_SHAPE);
  EXPECT_EQ(lastError().code(), TENON_ERR_SHAPE);
  EXPECT_EQ(lastError().message(), "x has shape (4, 3)");
  ASSERT_EQ(lastError().frames.size(), 1U);
  EXPECT_EQ(lastError().frames[0].function, "TenonThing");
  EXPECT_NE(lastError().frames[0].file.find("handler_test.cpp"), std::string::npos);
  EXPECT_EQ(lastError().frames[0].line, line);
}

TEST_F(Handlers, EveryErrorCodePassesAndCarriesItsSentence) {
  std::set<std::string> names;
#define TENON_TRY(name, number, sentence)                                                          \
  if (TENON_##name != TENON_SUCCESS) {                                                             \
    printed_.clear();                                                                              \
    EXPECT_EQ(fail(TENON_##name, "text"), number);                                                 \
    EXPECT_TRUE(says("TENON_" #name ": " sentence)) << printed_;                                   \
    EXPECT_TRUE(names.insert(errorName(TENON_##name)).second);                                     \
  }
  TENON_ERROR_TABLE(TENON_TRY)
#undef TENON_TRY
}

TEST_F(Handlers, ForeignExceptionsBecomeMemoryOrInternal) {
  EXPECT_EQ(guard("TenonA", [] { throw std::bad_alloc(); }), TENON_ERR_MEMORY);
  EXPECT_NE(lastError().frames[0].file.find("handler_test.cpp"), std::string::npos);
  EXPECT_EQ(guard("TenonB", [] { throw std::runtime_error("odd"); }), TENON_ERR_INTERNAL);
  EXPECT_EQ(lastError().message(), "odd");
  EXPECT_EQ(guard("TenonC", [] { throw 7; }), TENON_ERR_INTERNAL);
}

TEST_F(Handlers, PrintShowsRankNameTextAndPlace) {
  setProcessRank(3);
  fail(TENON_ERR_LAYOUT, "x has layout S0; expected B");
  EXPECT_EQ(lines(), 3);
  EXPECT_TRUE(says("[3] Error TENON_ERR_LAYOUT: incompatible layouts\n")) << printed_;
  EXPECT_TRUE(says("x has layout S0; expected B\n")) << printed_;
  EXPECT_TRUE(says("in TenonFail (")) << printed_;
}

TEST_F(Handlers, UserAddFramesUpToEightLines) {
  const auto code = fail(TENON_ERR_ARG, "n is -1");
  addFrame("solve", "solver.c", 12, code);
  EXPECT_EQ(lines(), 4);
  EXPECT_TRUE(says("called from solve (solver.c:12)\n")) << printed_;
  for (int line = 0; line < 20; ++line)
    addFrame("recurse", "solver.c", line, code);
  EXPECT_EQ(lines(), kMaxReportLines);
  EXPECT_EQ(lastError().frames.size(), 22U);
  EXPECT_EQ(errorReport(lastError()), printed_);
}

TEST_F(Handlers, ANoteIsPrintedBelowErrorsAboutDimensions) {
  setDimensionNote("(x is the last)");
  fail(TENON_ERR_SHAPE, "dimension 1 has 3 elements");
  EXPECT_TRUE(says("elements\n[0]   (x is the last)\n[0]   in TenonFail (")) << printed_;
  for (int line = 0; line < 20; ++line)
    addFrame("recurse", "solver.c", line, TENON_ERR_SHAPE);
  EXPECT_EQ(lines(), kMaxReportLines);
  EXPECT_EQ(errorReport(lastError()), printed_);
  printed_.clear();
  fail(TENON_ERR_ARG, "n is -1");
  raiseAt(Error(TENON_ERR_SHAPE, "dimension 1 of Fortran"), "tenon_place", "", 0,
          Severity::Returned);
  setDimensionNote("");
  fail(TENON_ERR_SHAPE, "dimension 1 has 3 elements");
  EXPECT_FALSE(says("(x is the last)")) << printed_;
}

TEST_F(Handlers, TheNoteIsPrintedBelowErrorsAboutEntriesOfLists) {
  setDimensionNote("(counted from 0)");
  for (const char* text : {"target[0] of rank 0 is 8, a ghost", "parameter index 8 is out of range",
                           "no node or input 6; its nodes are numbered 0, 1, ..."}) {
    printed_.clear();
    fail(TENON_ERR_ARG, text);
    EXPECT_TRUE(says("\n[0]   (counted from 0)\n")) << printed_;
  }
  setDimensionNote("");
}

TEST_F(Handlers, FramesOfAnotherErrorAreNotAdded) {
  fail(TENON_ERR_ARG, "n is -1");
  addFrame("solve", "solver.c", 12, TENON_ERR_SHAPE);
  addFrame("solve", "solver.c", 12, TENON_SUCCESS);
  EXPECT_EQ(lastError().frames.size(), 1U);
}

TEST_F(Handlers, AnAgreedErrorIsPrintedByItsSpeakerOnly) {
  guard("TenonX", [] { throw Error(TENON_ERR_SHAPE, "text").agreed(false); });
  EXPECT_TRUE(printed_.empty());
  EXPECT_EQ(lastError().message(), "text");
  guard("TenonX", [] { throw Error(TENON_ERR_SHAPE, "text").agreed(true); });
  EXPECT_TRUE(says("the same on all ranks")) << printed_;
}

TEST_F(Handlers, PushedHandlerReplacesPrintingUntilPopped) {
  std::vector<Seen> seen;
  pushErrorHandler(remember, &seen);
  addFrame("main", "main.c", 5, fail(TENON_ERR_ARG, "n is -1"));
  pushErrorHandler(returnHandler, nullptr);
  fail(TENON_ERR_ARG, "silent");
  popErrorHandler();
  popErrorHandler();
  EXPECT_TRUE(printed_.empty());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].code, TENON_ERR_ARG);
  EXPECT_EQ(seen[0].level, 0);
  EXPECT_EQ(seen[0].message, "n is -1");
  EXPECT_EQ(seen[0].function, "TenonFail");
  EXPECT_EQ(seen[1].level, 1);
  EXPECT_EQ(seen[1].function, "main");
  EXPECT_EQ(seen[1].line, 5);
  fail(TENON_ERR_ARG, "loud");
  EXPECT_TRUE(says("loud"));
}

TEST_F(Handlers, PoppingTooOftenOrPushingNullIsAnError) {
  EXPECT_EQ(guard("TenonPopErrorHandler", [] { popErrorHandler(); }), TENON_ERR_STATE);
  EXPECT_EQ(guard("TenonPushErrorHandler", [] { pushErrorHandler(nullptr, nullptr); }),
            TENON_ERR_NULL);
}

void failInside(TenonErrorCode, int, const char*, const char*, const char*, int, void* context) {
  *static_cast<TenonErrorCode*>(context) = fail(TENON_ERR_FILE, "cannot write the log");
}

TEST_F(Handlers, AnErrorInsideAHandlerIsOnlyReturned) {
  TenonErrorCode inner = TENON_SUCCESS;
  pushErrorHandler(failInside, &inner);
  fail(TENON_ERR_ARG, "n is -1");
  popErrorHandler();
  EXPECT_EQ(inner, TENON_ERR_FILE);
  EXPECT_EQ(lastError().message(), "n is -1");
}

bool othersWait() {
  return false;
}

TEST_F(Handlers, AnErrorInApplyThatOthersDoNotKnowIsFatal) {
  std::vector<TenonErrorCode> aborted;
  setAbortHook([&](TenonErrorCode code) { aborted.push_back(code); });
  EXPECT_EQ(guardApply(
                "TenonApply", [] { throw Error(TENON_ERR_LIBRARY, "gemm failed"); }, othersWait),
            TENON_ERR_LIBRARY);
  EXPECT_EQ(aborted, std::vector{TENON_ERR_LIBRARY});
  EXPECT_TRUE(says("Fatal error TENON_ERR_LIBRARY")) << printed_;
  EXPECT_TRUE(says("gemm failed")) << printed_;
}

TEST_F(Handlers, AnAgreedErrorInApplyIsReturned) {
  bool aborted = false;
  setAbortHook([&](TenonErrorCode) { aborted = true; });
  EXPECT_EQ(guardApply(
                "TenonApply", [] { throw Error(TENON_ERR_SHAPE, "s").agreed(true); }, othersWait),
            TENON_ERR_SHAPE);
  EXPECT_FALSE(aborted);
}

TEST_F(Handlers, AnErrorInApplyIsReturnedWhereNobodyWaits) {
  bool aborted = false;
  setAbortHook([&](TenonErrorCode) { aborted = true; });
  const auto alone = [] { return true; };
  EXPECT_EQ(guardApply(
                "TenonApply", [] { throw Error(TENON_ERR_SHAPE, "s"); }, alone),
            TENON_ERR_SHAPE);
  EXPECT_TRUE(lastError().error->isAgreed());
  EXPECT_EQ(guardApply(
                "TenonApply", [] { throw std::bad_alloc(); }, alone),
            TENON_ERR_MEMORY);
  EXPECT_TRUE(lastError().error->isAgreed());
  EXPECT_FALSE(aborted);
}

TEST_F(Handlers, TheFatalHandlerIsReplaceable) {
  bool aborted = false;
  setAbortHook([&](TenonErrorCode) { aborted = true; });
  std::vector<Seen> seen;
  setFatalHandler(remember, &seen);
  guardApply(
      "TenonApply", [] { throw Error(TENON_ERR_MPI, "send failed"); }, othersWait);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].message, "send failed");
  EXPECT_FALSE(aborted);
  EXPECT_TRUE(printed_.empty());
}

TEST(HandlersDeathTest, WithoutAHookAFatalErrorAborts) {
  EXPECT_DEATH(guardApply(
                   "TenonApply", [] { throw Error(TENON_ERR_MPI, "send failed"); }, othersWait),
               "Fatal error TENON_ERR_MPI");
}

TEST_F(Handlers, AUsersFunctionThatFailsInTenonKeepsItsRecord) {
  const auto code = guard("TenonOuter", [] {
    callUser("the shell's apply", [] { return fail(TENON_ERR_SHAPE, "deep inside"); });
  });
  EXPECT_EQ(code, TENON_ERR_SHAPE);
  EXPECT_EQ(lastError().message(), "deep inside");
  ASSERT_EQ(lastError().frames.size(), 2U);
  EXPECT_EQ(lastError().frames[0].function, "TenonFail");
  EXPECT_EQ(lastError().frames[1].function, "TenonOuter");
  EXPECT_TRUE(says("called from TenonOuter")) << printed_;
}

TEST_F(Handlers, AUsersOwnCodeIsNamed) {
  fail(TENON_ERR_ARG, "an older error");
  guard("TenonOuter", [] { callUser("the shell's apply", [] { return TENON_ERR_ARG; }); });
  EXPECT_EQ(lastError().message(), "the shell's apply returned error TENON_ERR_ARG");
  EXPECT_EQ(lastError().frames.size(), 1U);
  EXPECT_EQ(guard("TenonOuter", [] { callUser("f", [] { return TENON_SUCCESS; }); }),
            TENON_SUCCESS);
}

TEST_F(Handlers, WhatAUsersFunctionThrowsIsNamed) {
  const auto thrown = [](auto what) {
    return guard("TenonOuter",
                 [&] { callUser("the shell's apply", [&]() -> TenonErrorCode { throw what; }); });
  };
  EXPECT_EQ(thrown(std::out_of_range("cell 9")), TENON_ERR_USER);
  EXPECT_EQ(lastError().message(), "the shell's apply threw an exception: cell 9");
  EXPECT_EQ(thrown(7), TENON_ERR_USER);
  EXPECT_EQ(lastError().message(), "the shell's apply threw an exception of unknown type");
  EXPECT_EQ(thrown(std::bad_alloc()), TENON_ERR_MEMORY);
  EXPECT_EQ(lastError().message(), "an allocation failed in the shell's apply");
}

// tenon.hpp throws a failed call's error with text around its message; the record of the first
// fail() counts, not that text.
TEST_F(Handlers, AUsersFunctionThatThrowsAnErrorOfTenonKeepsItsRecord) {
  const auto code = guard("TenonOuter", [] {
    callUser("the shell's apply", []() -> TenonErrorCode {
      fail(TENON_ERR_SHAPE, "deep inside");
      throw std::runtime_error("Error: deep inside, in TenonFail");
    });
  });
  EXPECT_EQ(code, TENON_ERR_SHAPE);
  EXPECT_EQ(lastError().message(), "deep inside");
  EXPECT_EQ(lastError().frames.size(), 2U);
}

TEST_F(Handlers, AnErrorHandlerThatThrowsEndsThere) {
  pushErrorHandler([](TenonErrorCode, int, const char*, const char*, const char*, int,
                      void*) { throw std::runtime_error("odd"); },
                   nullptr);
  EXPECT_EQ(fail(TENON_ERR_SHAPE, "first"), TENON_ERR_SHAPE);
  popErrorHandler();
  EXPECT_TRUE(says("error handler threw")) << printed_;
  EXPECT_EQ(fail(TENON_ERR_ARG, "second"), TENON_ERR_ARG);
  EXPECT_EQ(lastError().message(), "second");
}

TEST_F(Handlers, EachThreadHasItsOwnRecord) {
  fail(TENON_ERR_ARG, "mine");
  std::thread other([] {
    EXPECT_EQ(lastError().code(), TENON_SUCCESS);
    pushErrorHandler(returnHandler, nullptr);
    fail(TENON_ERR_FILE, "theirs");
    popErrorHandler();
    EXPECT_EQ(lastError().message(), "theirs");
  });
  other.join();
  EXPECT_EQ(lastError().message(), "mine");
}

} // namespace
