// SPDX-License-Identifier: BSD-2-Clause
// Tests the local array of a tensor: the library's, a user's with any strides and ghost cells, and
// the locks while the user has its address. Expected addresses and values are computed from the
// strides.
#include "dtensor/dtensor.hpp"
#include "dtensor/fill.hpp"
#include "support/conversion_definition.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>
#include <tenon_features.hpp>

#include <algorithm>

namespace tenon {
namespace {

using test::world;

// Rows over all ranks, with a halo of one and two zero elements around them where asked for.
Layout rows(bool halo) {
  LayoutDraft draft(Grid::make({world()->size()}));
  draft.setShape({2 * world()->size() + 1, 4});
  draft.setProperties(parseProperties("S0"));
  if (halo)
    draft.setHaloWidths(0, 1, 2, Boundary::Zero, Boundary::Zero);
  return draft.build();
}

TEST(DTensorArray, IsZeroedRowMajorMemoryOfTheBox) {
  DTensor x(world(), rows(true), TENON_FLOAT32);
  EXPECT_EQ(x.extent()[0], x.layout().ownedBox(x.position())[0].size() + 3);
  EXPECT_TRUE(x.isContiguous());
  EXPECT_EQ(x.strides()[0], 4);
  EXPECT_EQ(x.strides()[1], 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data<float>()) % kAlignment, 0U);
  EXPECT_TRUE(std::all_of(x.data<float>(), x.data<float>() + x.localElements(),
                          [](float value) { return value == 0; }));
}

TEST(DTensorArray, HasAnElementTypeThatIsChecked) {
  DTensor x(world(), rows(false), TENON_FLOAT32);
  expectError(TENON_ERR_DATATYPE, {"float32", "float64"}, [&] { x.data<double>(); });
  expectError(TENON_ERR_DATATYPE, {"unknown data type 77"},
              [] { DTensor(world(), rows(false), static_cast<TenonDataType>(77)); });
}

// The user's array is column-major, with more ghosts than the halo needs. The arguments of
// placeArray() are: first owned element, strides, low ghosts, high ghosts, readOnly, length.
TEST(DTensorArray, OfTheCallerIsUsedInPlace) {
  DTensor x(world(), rows(true), TENON_FLOAT64);
  const Index owned = x.extent()[0] - 3, leading = owned + 2 + 3;
  std::vector<double> memory(leading * 6, -1);
  x.placeArray(&memory[2 + leading], {1, leading}, {2, 1}, {3, 1}, /*readOnly=*/false);
  EXPECT_TRUE(x.isPlaced());
  EXPECT_FALSE(x.isContiguous());
  EXPECT_EQ(x.data<double>(), &memory[1 + leading]); // the box begins one row before the part
  fillByIndex(x, [](Index i) { return static_cast<double>(i); });
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    const Index row = x.box()[0].begin + cell[0];
    const bool inside = row >= 0 && row < x.layout().shape()[0];
    EXPECT_EQ(memory[1 + cell[0] + leading * (1 + cell[1])], inside ? 4 * row + cell[1] : 0);
  });
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0),
            static_cast<Index>(memory.size()) - x.localElements());
}

TEST(DTensorArray, OfTheLibraryKeepsItsValueMeanwhile) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  fillConstant(x, 3);
  std::vector<double> memory(x.localElements(), 5);
  x.placeArray(memory.data(), {4, 1}, {0, 0}, {0, 0}, /*readOnly=*/false);
  EXPECT_EQ(*x.data<double>(), 5);
  x.resetArray();
  EXPECT_FALSE(x.isPlaced());
  EXPECT_EQ(*x.data<double>(), 3);
}

TEST(DTensorArray, NarrowerThanTheHaloIsRefusedAndChangesNothing) {
  DTensor x(world(), rows(true), TENON_FLOAT64);
  fillConstant(x, 3);
  std::vector<double> memory(100, 0);
  expectError(TENON_ERR_SHAPE, {"dimension 0", "1 + 2 halo elements", "1 + 1 ghost cells"}, [&] {
    x.placeArray(memory.data(), {4, 1}, {1, 0}, {1, 0}, /*readOnly=*/false);
  });
  expectError(TENON_ERR_NULL, {"firstOwned is NULL"}, [&] {
    x.placeArray(nullptr, {4, 1}, {1, 0}, {2, 0}, /*readOnly=*/false);
  });
  expectError(TENON_ERR_ARG, {"1 strides", "2 dimensions"}, [&] {
    x.placeArray(memory.data(), {4}, {1, 0}, {2, 0}, /*readOnly=*/false);
  });
  expectError(TENON_ERR_ARG, {"dimension 1", "4 elements", "stride of 0"}, [&] {
    x.placeArray(memory.data(), {4, 0}, {1, 0}, {2, 0}, /*readOnly=*/false);
  });
  expectError(TENON_ERR_ARG, {"the same element"}, [&] {
    x.placeArray(memory.data(), {1, 1}, {1, 0}, {2, 0}, /*readOnly=*/false);
  });
  expectError(TENON_ERR_SHAPE, {"length of 3"}, [&] {
    x.placeArray(memory.data(), {4, 1}, {1, 0}, {2, 0}, /*readOnly=*/false, 3);
  });
  EXPECT_FALSE(x.isPlaced());
  EXPECT_EQ(x.data<double>()[4], 3);
}

// Ghosts that the layout has no halo for may be shared, as the last of a row and the first of the
// next.
TEST(DTensorArray, GhostCellsOutsideItsHaloCanCoincide) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  const Index length = 5 * x.extent()[0] + 1;
  std::vector<double> memory(length, 0);
  x.placeArray(&memory[1], {5, 1}, {0, 1}, {0, 1}, /*readOnly=*/false, length);
  fillConstant(x, 1);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 1.0), x.localElements());
}

TEST(DTensorArray, MayRepeatACellIfItIsConstant) {
  const Layout one({.shape = {3, 2},
                    .grid = Grid::make({1}, {world()->rank()}),
                    .properties = parseProperties("B")});
  DTensor x(world(), one, TENON_FLOAT64);
  double value = 5;
  x.placeArray(&value, {0, 0}, {0, 0}, {0, 0}, /*readOnly=*/true);
  EXPECT_EQ(x.data<double>(), &value);
}

TEST(DTensorArray, MayBeNullWhereARankHoldsNothing) {
  const Layout first(
      {.shape = {5}, .grid = Grid::make({world()->size()}), .properties = parseProperties("R")});
  DTensor x(world(), first, TENON_FLOAT64);
  std::vector<double> memory(5, 1);
  x.placeArray(world()->rank() == 0 ? memory.data() : nullptr, {1}, {0}, {0}, /*readOnly=*/false);
  EXPECT_TRUE(x.isPlaced());
  EXPECT_EQ(x.data<double>(), world()->rank() == 0 ? memory.data() : nullptr);
}

TEST(DTensorArray, OfConstantsIsReadAndNeverWritten) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  const std::vector<double> memory(x.localElements(), 5);
  x.placeArray(const_cast<double*>(memory.data()), {4, 1}, {0, 0}, {0, 0}, /*readOnly=*/true);
  EXPECT_EQ(*x.data<double>(), 5);
  expectError(TENON_ERR_STATE, {"constant"}, [&] { x.mutableData<double>(); });
  expectError(TENON_ERR_STATE, {"constant"}, [&] { fillConstant(x, 1); });
  expectError(TENON_ERR_STATE, {"constant"}, [&] { x.lendForWriting(); });
}

TEST(DTensorLoan, ForWritingExcludesAllElse) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  double* array = x.mutableData<double>();
  x.lendForWriting();
  expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { x.data<double>(); });
  expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { x.mutableData<double>(); });
  expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { x.lendForReading(); });
  expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { x.resetArray(); });
  expectError(TENON_ERR_ARG, {"not the one"}, [&] { x.endWriting(&x); });
  const auto before = x.state();
  x.endWriting(array);
  EXPECT_GT(x.state(), before);
  EXPECT_NO_THROW(x.data<double>());
  expectError(TENON_ERR_STATE, {"not in use for writing"}, [&] { x.endWriting(array); });
}

TEST(DTensorLoan, ForReadingExcludesWritingUntilTheLastEnds) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  const double* array = x.data<double>();
  x.lendForReading();
  x.lendForReading();
  EXPECT_EQ(x.data<double>(), array);
  expectError(TENON_ERR_STATE, {"in use for reading (2 times)"}, [&] { x.mutableData<double>(); });
  x.endReading(array);
  expectError(TENON_ERR_STATE, {"in use for reading"}, [&] { x.lendForWriting(); });
  x.endReading(array);
  EXPECT_NO_THROW(x.mutableData<double>());
  expectError(TENON_ERR_STATE, {"not in use for reading"}, [&] { x.endReading(array); });
}

TEST(CheckTensor, SaysWhatIsExpectedAndWhatWasPassed) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  x.setName("field");
  EXPECT_NO_THROW(checkTensor(x, rows(false), TENON_FLOAT64, "op", "input"));
  expectError(TENON_ERR_DATATYPE, {"input \"field\" is float64", "op needs float32"},
              [&] { checkTensor(x, rows(false), TENON_FLOAT32, "op", "input"); });
  expectError(TENON_ERR_LAYOUT, {"input \"field\" has layout", "halo", "op needs"},
              [&] { checkTensor(x, rows(true), TENON_FLOAT64, "op", "input"); });
  LayoutDraft other(Grid::make({world()->size()}));
  other.setShape({3, 3});
  other.setProperties(parseProperties("B"));
  expectError(TENON_ERR_SHAPE, {"[3,3]"},
              [&] { checkTensor(x, other.build(), TENON_FLOAT64, "op", "input"); });
}

// Without a GPU, as where tests usually run, the reason is named, and the tensor stays on the host.
TEST(DTensorArray, IsOnADeviceOnlyWhereThereIsOne) {
  DTensor x(world(), rows(false), TENON_FLOAT64);
  try {
    x.setSpace(Space::Device);
    EXPECT_EQ(x.space(), Space::Device);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_SUPPORT);
    EXPECT_EQ(error.text().find("there is no device: "), 0U) << error.text();
    const char* reason =
        kHasDevice ? "Tenon was built with CUDA " : "built without CUDA; configure it with";
    EXPECT_NE(error.text().find(reason), std::string::npos) << error.text();
    EXPECT_NE(error.text().find("space host"), std::string::npos) << error.text();
    EXPECT_EQ(x.space(), Space::Host);
    EXPECT_NO_THROW(fillConstant(x, 1));
  }
}

} // namespace
} // namespace tenon
