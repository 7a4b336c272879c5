// SPDX-License-Identifier: BSD-2-Clause
// For tests that expect the stand-in for CUDA to end the program, because the program used CUDA
// wrongly: EXPECT_EXIT(statement, refusedByStandin, "part of the message").
#pragma once

#include <gtest/gtest.h>

namespace tenon::test {

// The exit code of refuse() in memory.cpp.
inline const ::testing::ExitedWithCode refusedByStandin{86};

} // namespace tenon::test
