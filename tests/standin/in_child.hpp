// SPDX-License-Identifier: BSD-2-Clause
// Parts of tests that need a process of their own, since a process opens one device, and the
// stand-in reads its environment once.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tenon::test {

// The body's expectations are checked there.
template <class Body>
void inChild(Body&& body) {
  EXPECT_EXIT(
      {
        body();
        std::fflush(stdout);
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

} // namespace tenon::test
