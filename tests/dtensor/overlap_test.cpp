// SPDX-License-Identifier: BSD-2-Clause
// Tests whether two arrays share memory against the sets of the addresses of all their bytes, for
// random strides, extents and types.
#include "dtensor/stride_sums.hpp"

#include "support/conversion_definition.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tenon {
namespace {

using test::world;

Layout single(const Shape& shape) {
  return Layout({.shape = shape,
                 .grid = Grid::make({1}, {world()->rank()}),
                 .properties = parseProperties("B")});
}

// The addresses of all bytes of the tensor's elements.
std::set<const std::byte*> bytesOf(const DTensor& x) {
  std::set<const std::byte*> bytes;
  const Index size = dataTypeSize(x.dataType());
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    Index at = 0;
    for (int d = 0; d < x.ndim(); ++d)
      at += cell[d] * x.strides()[d];
    for (Index b = 0; b < size; ++b)
      bytes.insert(static_cast<const std::byte*>(x.readAddress()) + at * size + b);
  });
  return bytes;
}

bool meet(const DTensor& x, const DTensor& y) {
  const auto inX = bytesOf(x), inY = bytesOf(y);
  return std::any_of(inX.begin(), inX.end(), [&](const auto* at) { return inY.count(at) > 0; });
}

class Draw {
public:
  Index upTo(Index n) { return std::uniform_int_distribution<Index>(0, n)(engine_); }
  Shape strides(int rank) {
    Shape strides;
    for (int d = 0; d < rank; ++d)
      strides.push_back((1 + upTo(6)) * (upTo(1) == 0 ? -1 : 1));
    return strides;
  }
  // A tensor in the middle of the memory whose elements are distinct, or null.
  Ref<DTensor> tensor(const Shape& strides, std::vector<std::byte>& memory) {
    Shape extent;
    for (std::size_t d = 0; d < strides.size(); ++d)
      extent.push_back(1 + upTo(3));
    Strides drawn{};
    std::copy(strides.begin(), strides.end(), drawn.begin());
    if (sameElement(extent, drawn))
      return {};
    const TenonDataType type = upTo(2) == 0 ? TENON_FLOAT32 : TENON_FLOAT64;
    auto made = makeRef<DTensor>(world(), single(extent), type);
    const std::vector<Index> none(strides.size(), 0);
    made->placeArray(&memory[memory.size() / 2 + 4 * upTo(60)], strides, none, none,
                     /*readOnly=*/false);
    return made;
  }

private:
  std::mt19937 engine_{3};
};

TEST(Overlap, IsExactForAnyStridesAndTypes) {
  Draw draw;
  std::vector<std::byte> memory(8000);
  int shared = 0, apart = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Shape strides = draw.strides(1 + static_cast<int>(draw.upTo(2)));
    const Shape others =
        draw.upTo(1) == 0 ? strides : draw.strides(1 + static_cast<int>(draw.upTo(2)));
    const auto x = draw.tensor(strides, memory), y = draw.tensor(others, memory);
    if (!x || !y)
      continue;
    ASSERT_EQ(shareElements(*x, *y), meet(*x, *y)) << "trial " << trial;
    ASSERT_EQ(shareElements(*y, *x), meet(*x, *y)) << "trial " << trial;
    ++(meet(*x, *y) ? shared : apart);
  }
  EXPECT_GT(shared, 200);
  EXPECT_GT(apart, 200);
}

TEST(Overlap, SeesNoneInTheLibrarysArraysAndInEmptyOnes) {
  const Layout layout = single({4});
  DTensor x(world(), layout, TENON_FLOAT64), y(world(), layout, TENON_FLOAT64);
  DTensor empty(world(), single({0}), TENON_FLOAT64);
  EXPECT_FALSE(shareElements(x, y));
  EXPECT_EQ(x.arrayBytes(), 0);
  empty.placeArray(x.mutableData<double>(), {1}, {0}, {0}, /*readOnly=*/false);
  EXPECT_FALSE(shareElements(x, empty));
  EXPECT_FALSE(shareElements(x, y));
}

TEST(Overlap, SeesALibrarysArrayThatAnotherTensorUses) {
  DTensor x(world(), single({4}), TENON_FLOAT64), y(world(), single({2}), TENON_FLOAT64);
  y.placeArray(x.mutableData<double>() + 3, {-1}, {0}, {0}, /*readOnly=*/false);
  EXPECT_TRUE(shareElements(x, y));
  EXPECT_TRUE(shareElements(y, x));
}

TEST(Overlap, TheSameCellsHaveOneArrayAndTheSameStrides) {
  std::vector<double> memory(16);
  DTensor x(world(), single({4, 1}), TENON_FLOAT64), y(world(), single({4, 1}), TENON_FLOAT64);
  const auto place = [&](DTensor& tensor, double* first, Index stride, Index ofOneCell) {
    tensor.placeArray(first, {stride, ofOneCell}, {0, 0}, {0, 0}, /*readOnly=*/false);
  };
  place(x, &memory[4], 2, 1);
  place(y, &memory[4], 2, 5);
  EXPECT_TRUE(areSameElements(x, y));
  place(y, &memory[4], 1, 1);
  EXPECT_FALSE(areSameElements(x, y));
  place(y, &memory[6], 2, 1);
  EXPECT_FALSE(areSameElements(x, y));
}

} // namespace
} // namespace tenon
