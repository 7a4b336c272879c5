// SPDX-License-Identifier: BSD-2-Clause
// Tests a tensor whose channels the user stores in separate arrays: gather and scatter must copy
// exactly the elements of the box. Ghost cells and gaps have marker values, so a wrong write is
// detected.
#include "dtensor/dtensor.hpp"
#include "dtensor/fill.hpp"
#include "support/conversion_definition.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tenon {
namespace {

using test::world;

constexpr int kChannels = 3;

// (channel, row, column), rows over all ranks, with a halo of one and two rows.
Layout field(int haloDim = 1) {
  LayoutDraft draft(Grid::make({world()->size()}));
  draft.setShape({kChannels, 2 * world()->size() + 1, 4});
  draft.setProperties(parseProperties("S1"));
  if (haloDim >= 0)
    draft.setHaloWidths(haloDim, 1, 2, Boundary::Zero, Boundary::Zero);
  return draft.build();
}

// Column-major arrays with ghosts of 2 and 3 rows and one column, all elements -1.
template <class T>
struct Arrays {
  explicit Arrays(const DTensor& x)
      : owned(x.layout().ownedBox(x.position())[1].size()), leading(owned + 5) {
    for (auto& array : memory)
      array.assign(leading * 6, T(-1));
  }
  std::vector<void*> first() {
    std::vector<void*> elements;
    for (auto& array : memory)
      elements.push_back(&array[2 + leading]);
    return elements;
  }
  void placeIn(DTensor& x, bool readOnly) {
    x.placeArrays(0, first(), {0, 1, leading}, {0, 2, 1}, {0, 3, 1}, readOnly);
  }
  // The element at a local index of the box, whose first row is one before the first owned one.
  T& at(const std::vector<Index>& cell) {
    return memory[cell[0]][1 + cell[1] + leading * (1 + cell[2])];
  }

  Index owned, leading;
  std::vector<T> memory[kChannels];
};

template <class T>
class ArrayListOf : public testing::Test {};
using Types = testing::Types<float, double, std::int64_t>;
TYPED_TEST_SUITE(ArrayListOf, Types);

TYPED_TEST(ArrayListOf, GatheringCopiesTheBox) {
  DTensor x(world(), field(), dataTypeOf<TypeParam>());
  Arrays<TypeParam> arrays(x);
  TypeParam count = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) { arrays.at(cell) = ++count; });
  arrays.placeIn(x, /*readOnly=*/false);
  EXPECT_TRUE(x.isPlaced());
  EXPECT_TRUE(x.isContiguous());
  EXPECT_EQ(*x.template data<TypeParam>(), 0); // not yet
  const auto before = x.state();
  x.gatherArrays();
  EXPECT_GT(x.state(), before);
  for (Index i = 0; i < x.localElements(); ++i) // elements are visited in row-major order
    EXPECT_EQ(x.template data<TypeParam>()[i], static_cast<TypeParam>(i + 1));
}

TYPED_TEST(ArrayListOf, ScatteringWritesTheBoxAndNoOtherCell) {
  DTensor x(world(), field(), dataTypeOf<TypeParam>());
  Arrays<TypeParam> arrays(x);
  arrays.placeIn(x, /*readOnly=*/false);
  std::iota(x.template mutableData<TypeParam>(),
            x.template mutableData<TypeParam>() + x.localElements(), TypeParam(1));
  x.scatterArrays();
  TypeParam count = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    EXPECT_EQ(arrays.at(cell), ++count);
    arrays.at(cell) = -1;
  });
  for (const auto& array : arrays.memory)
    EXPECT_EQ(std::count(array.begin(), array.end(), TypeParam(-1)),
              static_cast<Index>(array.size()));
}

// Arrays whose boxes have other strides and ghosts: u is column-major, with rows + 5 rows and 6
// columns; v is row-major [rows + 3, 4]; w is the last component of a row-major array [rows + 4, 7,
// 2]. A component is its first owned element, strides, ghosts before and after it, and the length.
TEST(ArrayList, TakesComponentsOfDifferentForms) {
  DTensor x(world(), field(), TENON_FLOAT64);
  const Index rows = x.layout().ownedBox(x.position())[1].size();
  std::vector<double> u((rows + 5) * 6, -1), v((rows + 3) * 4, -2), w((rows + 4) * 7 * 2, -3);
  // Returns the element in row i and column j of a rank's box in one of the arrays. The box begins
  // one row above the owned rows.
  const auto at = [&](Index array, Index i, Index j) -> double& {
    return array == 0   ? u[1 + i + (rows + 5) * (1 + j)]
           : array == 1 ? v[i * 4 + j]
                        : w[((i + 1) * 7 + j + 2) * 2 + 1];
  };
  x.placeComponents(0,
                    {{&at(0, 1, 0), {0, 1, rows + 5}, {0, 2, 1}, {0, 3, 1}, (rows + 5) * 6},
                     {&at(1, 1, 0), {0, 4, 1}, {0, 1, 0}, {0, 2, 0}, (rows + 3) * 4},
                     {&at(2, 1, 0), {0, 14, 2}, {0, 2, 2}, {0, 2, 1}, 0}},
                    false);
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    at(cell[0], cell[1], cell[2]) = static_cast<double>(100 * cell[0] + 10 * cell[1] + cell[2]);
  });
  x.gatherArrays();
  Index number = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    EXPECT_EQ(x.data<double>()[number],
              100.0 * static_cast<double>(cell[0]) + static_cast<double>(10 * cell[1] + cell[2]));
    x.mutableData<double>()[number] = static_cast<double>(number + 1);
    ++number;
  });
  x.scatterArrays();
  number = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    EXPECT_EQ(at(cell[0], cell[1], cell[2]), static_cast<double>(++number));
  });
  EXPECT_EQ(std::ranges::count(w, -3), static_cast<Index>(w.size()) - (rows + 3) * 4);
  const auto refused = [&](Index ghosts, Index length) {
    x.placeComponents(0,
                      {{&at(0, 1, 0), {0, 1, rows + 5}, {0, 2, 1}, {0, 3, 1}},
                       {&at(1, 1, 0), {0, 4, 1}, {0, ghosts, 0}, {0, 2, 0}, length},
                       {&at(2, 1, 0), {0, 14, 2}, {0, 2, 2}, {0, 2, 1}}},
                      false);
  };
  expectError(TENON_ERR_SHAPE, {"1 + 2 halo elements", "0 + 2 ghost cells"},
              [&] { refused(0, 0); });
  expectError(TENON_ERR_SHAPE, {std::to_string((rows + 3) * 4 - 1).c_str()},
              [&] { refused(1, (rows + 3) * 4 - 1); });
}

TEST(ArrayList, OfConstantsIsGatheredAndNeverWritten) {
  DTensor x(world(), field(), TENON_FLOAT64);
  Arrays<double> arrays(x);
  arrays.placeIn(x, /*readOnly=*/true);
  x.gatherArrays();
  EXPECT_EQ(*x.data<double>(), -1);
  expectError(TENON_ERR_STATE, {"constant"}, [&] { x.scatterArrays(); });
  expectError(TENON_ERR_STATE, {"constant"}, [&] { fillConstant(x, 1); });
}

TEST(ArrayList, MistakesAreNamedAndChangeNothing) {
  DTensor x(world(), field(), TENON_FLOAT64);
  fillConstant(x, 3);
  Arrays<double> arrays(x);
  auto first = arrays.first();
  const auto place = [&](int dim, Index ghostRows) {
    x.placeArrays(dim, first, {0, 1, arrays.leading}, {0, ghostRows, 0}, {0, 2, 0},
                  /*readOnly=*/false);
  };
  expectError(TENON_ERR_STATE, {"no list of arrays", "PlaceArrays"}, [&] { x.gatherArrays(); });
  expectError(TENON_ERR_STATE, {"no list of arrays"}, [&] { x.scatterArrays(); });
  expectError(TENON_ERR_ARG, {"dimension 3", "0 to 2"}, [&] { place(3, 1); });
  expectError(TENON_ERR_SHAPE, {"halo in dimension 1"}, [&] { place(1, 1); });
  expectError(TENON_ERR_SHAPE, {"1 + 2 halo elements", "0 + 2 ghost cells"}, [&] { place(0, 0); });
  first[1] = nullptr;
  expectError(TENON_ERR_NULL, {"array 1 is NULL"}, [&] { place(0, 1); });
  first[1] = first[0];
  expectError(TENON_ERR_ARG, {"arrays 0 and 1 are the same"}, [&] { place(0, 1); });
  first.pop_back();
  expectError(TENON_ERR_SHAPE, {"2 arrays", "dimension 0", "3 indices"}, [&] { place(0, 1); });
  EXPECT_FALSE(x.isPlaced());
  EXPECT_EQ(*x.data<double>(), x.box()[1].begin < 0 ? 0 : 3);
}

TEST(ArrayList, EndsWithAnotherArrayAndWithReset) {
  DTensor x(world(), field(-1), TENON_FLOAT64);
  Arrays<double> arrays(x);
  arrays.placeIn(x, /*readOnly=*/false);
  x.gatherArrays();
  x.resetArray();
  EXPECT_FALSE(x.isPlaced());
  EXPECT_EQ(*x.data<double>(), -1); // the value stays
  std::vector<double> memory(x.localElements(), 5);
  arrays.placeIn(x, /*readOnly=*/false);
  x.placeArray(memory.data(), {4 * arrays.owned, 4, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  expectError(TENON_ERR_STATE, {"no list of arrays"}, [&] { x.gatherArrays(); });
  arrays.placeIn(x, /*readOnly=*/false);
  EXPECT_EQ(*x.data<double>(), -1);
  x.lendForReading();
  expectError(TENON_ERR_STATE, {"in use for reading"}, [&] { x.gatherArrays(); });
  expectError(TENON_ERR_STATE, {"in use for reading"},
              [&] { arrays.placeIn(x, /*readOnly=*/false); });
  x.endReading(x.data<double>());
}

TEST(ArrayList, MayBeEmptyWhereARankHoldsNothing) {
  const Layout root(
      {.shape = {2, 5}, .grid = Grid::make({world()->size()}), .properties = parseProperties("R")});
  DTensor x(world(), root, TENON_FLOAT64);
  std::vector<double> memory[2] = {std::vector<double>(5, 1), std::vector<double>(5, 2)};
  std::vector<void*> first;
  if (world()->rank() == 0)
    first = {memory[0].data(), memory[1].data()};
  x.placeArrays(0, first, {0, 1}, {0, 0}, {0, 0}, /*readOnly=*/false);
  x.gatherArrays();
  x.scatterArrays();
  EXPECT_TRUE(x.isPlaced());
  if (world()->rank() == 0) {
    EXPECT_EQ(x.data<double>()[5], 2);
  }
}

} // namespace
} // namespace tenon
