// SPDX-License-Identifier: BSD-2-Clause
// For tests of checks. A check is a function with EXPECT_... in it that a test applies to right
// results; here it is applied to deliberately wrong ones, and must fail.
#pragma once

#include "support/world.hpp"

#include <gtest/gtest-spi.h>

namespace tenon::test {

// Returns, on all ranks, whether a check fails on some rank. Its failures are intercepted: they do
// not fail the test that calls this function. Collective.
template <class Check>
bool findsAFault(const Check& check) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check();
  }
  int failures = results.size();
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, world()->mpi());
  return failures > 0;
}

} // namespace tenon::test
