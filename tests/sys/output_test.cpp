// SPDX-License-Identifier: BSD-2-Clause
#include "sys/output.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace tenon;

TEST(Output, GoesToTheStandardStreams) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  print("to output\n");
  printError("to error\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to output\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "to error\n");
}

TEST(Output, GoesToASinkWhileOneIsSet) {
  std::string output, error;
  setOutputSink([&](std::string_view text) { output += text; });
  setErrorSink([&](std::string_view text) { error += text; });
  testing::internal::CaptureStdout();
  print("a");
  print("b");
  printError("c");
  setOutputSink({});
  setErrorSink({});
  print("d");
  EXPECT_EQ(output, "ab");
  EXPECT_EQ(error, "c");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "d");
}

} // namespace
