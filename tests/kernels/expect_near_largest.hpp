// SPDX-License-Identifier: BSD-2-Clause
// expectNearLargest(): compares results with numbers in double, within a tolerance times the
// largest of these numbers, or times 1. Sums of many terms have errors of this size.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tenon::test {

template <class T>
void expectNearLargest(const std::vector<T>& got, const std::vector<double>& want, double tolerance,
                       const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double largest = 1;
  for (const double value : want)
    largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(double(got[i]), want[i], tolerance * largest) << what << " at " << i;
}

} // namespace tenon::test
