// SPDX-License-Identifier: BSD-2-Clause
// Tests of checks: whether one finds what is wrong.
#pragma once

#include "support/world.hpp"

#include <gtest/gtest-spi.h>

namespace tenon::test {

// Whether a check fails on some rank. Its failures are no failures of the test that calls this.
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
