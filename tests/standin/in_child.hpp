// SPDX-License-Identifier: BSD-2-Clause
// Runs parts of tests of device code in a child process. A process opens one device, and the
// stand-in for CUDA reads most of its environment variables once, so a test that needs another
// device or other variables needs another process.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tenon::test {

// Runs body() in a forked child, and expects that no expectation fails there.
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
