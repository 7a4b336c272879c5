// SPDX-License-Identifier: BSD-2-Clause
// Tests print() and printError(): standard streams, sinks of the program, sinks that throw, and
// control characters, which are printed as text.
#include "sys/text/output.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
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

TEST(Output, OutlivesASinkThatThrows) {
  setOutputSink([](std::string_view) { throw std::runtime_error("of the program"); });
  setErrorSink([](std::string_view) { throw 3; });
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  print("a view\n");
  printError("an error\n");
  setOutputSink({});
  setErrorSink({});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a view\n");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("text handler threw an exception"), said.npos) << said;
  EXPECT_TRUE(said.ends_with("an error\n")) << said;
}

// A terminal acts on the control characters ESC (0x1b) and U+009B, which is ESC [ as one character,
// so they are printed as text. Tab, newline and valid UTF-8 are unchanged.
TEST(Output, ShowsControlCharactersAndWhatIsNotUtf8) {
  std::string shown;
  setOutputSink([&](std::string_view text) { shown += text; });
  print("a\tb\n\x1b[2Jc\r\x7f");
  print("\u009b\u00e4\xff\xe4");
  print("");
  setOutputSink({});
  EXPECT_EQ(shown, "a\tb\n\\x1b[2Jc\\x0d\\x7f\\xc2\\x9b\u00e4\\xff\\xe4");
}

} // namespace
