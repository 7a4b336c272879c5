// SPDX-License-Identifier: BSD-2-Clause
// Whether two arrays share cells, against the addresses of all cells.
#include "dtensor/overlap.hpp"

#include "dtensor/stride_sums.hpp"
#include "support/conversion_definition.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tenon {
namespace {

using test::world;

Layout single(const Shape& shape) {
  return Layout({.shape = shape,
                 .mesh = Mesh::make({1}, {world()->rank()}),
                 .properties = parseProperties("B")});
}

std::set<const double*> addressesOf(const DTensor& x) {
  std::set<const double*> addresses;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    Index at = 0;
    for (int d = 0; d < x.rank(); ++d)
      at += cell[d] * x.strides()[d];
    addresses.insert(x.data<double>() + at);
  });
  return addresses;
}

bool meet(const DTensor& x, const DTensor& y) {
  const auto inX = addressesOf(x), inY = addressesOf(y);
  return std::any_of(inX.begin(), inX.end(), [&](const double* at) { return inY.count(at) > 0; });
}

TEST(Overlap, IsExactForArraysOfTheSameStrides) {
  std::mt19937 engine(3);
  const auto upTo = [&](Index n) { return std::uniform_int_distribution<Index>(0, n)(engine); };
  std::vector<double> memory(4000);
  int shared = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const int rank = 1 + static_cast<int>(upTo(2));
    Shape first, second, strides;
    for (int d = 0; d < rank; ++d) {
      first.push_back(1 + upTo(3));
      second.push_back(1 + upTo(3));
      strides.push_back(1 + upTo(6));
      if (upTo(1) == 0)
        strides.back() = -strides.back();
    }
    DTensor x(world(), single(first), TENON_FLOAT64), y(world(), single(second), TENON_FLOAT64);
    Strides drawn{};
    std::copy(strides.begin(), strides.end(), drawn.begin());
    if (sameElement(first, drawn) || sameElement(second, drawn))
      continue;
    const std::vector<Index> none(rank, 0);
    x.placeArray(&memory[1000 + upTo(30)], strides, none, none, false);
    y.placeArray(&memory[1000 + upTo(30)], strides, none, none, false);
    ASSERT_EQ(shareCells(x, y), meet(x, y)) << "draw " << draw;
    shared += meet(x, y);
  }
  EXPECT_GT(shared, 100);
}

TEST(Overlap, SeesNoneInTheLibrarysArraysAndInEmptyOnes) {
  const Layout layout = single({4});
  DTensor x(world(), layout, TENON_FLOAT64), y(world(), layout, TENON_FLOAT64);
  DTensor empty(world(), single({0}), TENON_FLOAT64);
  EXPECT_FALSE(shareCells(x, y));
  empty.placeArray(x.mutableData<double>(), {1}, {0}, {0}, false);
  y.placeArray(x.mutableData<double>(), {1}, {0}, {0}, false);
  EXPECT_FALSE(shareCells(y, empty));
}

} // namespace
} // namespace tenon
