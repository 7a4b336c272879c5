// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

namespace tenon::test {

// How the stand-in ends a program that it refuses.
inline const ::testing::ExitedWithCode refusedByStandin{86};

} // namespace tenon::test
