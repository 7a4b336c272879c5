// SPDX-License-Identifier: BSD-2-Clause
// Layouts in the C API. A layout describes which box of a tensor's index space each rank has; it
// comes from an abbreviation ("S0": dimension 0 is split), from single settings with cuts and
// halos, or from the boxes of all ranks. The expected boxes are computed by hand from rank and
// size. Wrong arguments, also on the last rank only (isLast()), must give all ranks the same error.
#include "capi/expect_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tenon::test {
namespace {

TEST_F(CApi, LayoutFromAShorthandKnowsItsBoxes) {
  const int n = worldSize(), r = worldRank();
  TenonLayout created = layout({2 * n + 1, 5}, "S0");
  int ndim = 0;
  TenonInt shape[2] = {}, low[2] = {}, high[2] = {};
  char properties[8] = "";
  TenonBool active = TENON_FALSE;
  expectSuccess(TenonLayoutGetDim(created, &ndim));
  expectSuccess(TenonLayoutGetShape(created, shape));
  expectSuccess(TenonLayoutGetBox(created, low, high));
  expectSuccess(TenonLayoutGetProperties(created, properties, sizeof properties, nullptr));
  expectSuccess(TenonLayoutIsActive(created, &active));
  EXPECT_EQ(ndim, 2);
  EXPECT_EQ(shape[0], 2 * n + 1);
  EXPECT_EQ(shape[1], 5);
  EXPECT_EQ(low[0], r == 0 ? 0 : 2 * r + 1); // rank 0 has one row more
  EXPECT_EQ(high[0], 2 * r + 3);
  EXPECT_EQ(low[1], 0);
  EXPECT_EQ(high[1], 5);
  EXPECT_STREQ(properties, "S0");
  EXPECT_EQ(active, TENON_TRUE);
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, ASpecifiedLayoutHasCutsAndHalos) {
  const int n = worldSize(), r = worldRank();
  std::vector<TenonInt> cuts(n + 1, 7);
  cuts[0] = 0; // rank r has rows [cuts[r], cuts[r+1]): rank 0 has all, the others have none
  const TenonInt shape[2] = {7, 3}, haloLow = -1, haloHigh = 5;
  TenonLayout created = nullptr;
  expectSuccess(TenonLayoutCreate(all_, &created));
  expectSuccess(TenonLayoutSetShape(created, 2, shape));
  expectSuccess(TenonLayoutSetProperties(created, "S0"));
  const int axis = 0;
  expectSuccess(TenonLayoutSetSplitOrder(created, 0, 1, &axis));
  expectSuccess(TenonLayoutSetCuts(created, 0, n + 1, cuts.data()));
  expectSuccess(
      TenonLayoutSetHalo(created, 0, 2, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  expectSuccess(TenonLayoutSetHaloBoxes(created, 1, 1, &haloLow, &haloHigh, TENON_BOUNDARY_ZERO,
                                        TENON_BOUNDARY_REFLECT));
  expectSuccess(TenonLayoutSetUp(created));
  TenonInt low[2], high[2];
  expectSuccess(TenonLayoutGetBox(created, low, high));
  EXPECT_EQ(low[0], r == 0 ? -2 : 0);
  EXPECT_EQ(high[0], r == 0 ? 8 : 0);
  EXPECT_EQ(low[1], -1);
  EXPECT_EQ(high[1], 5);
  expectSuccess(TenonLayoutGetOwnedBox(created, low, high));
  EXPECT_EQ(high[0] - low[0], r == 0 ? 7 : 0);
  expectSuccess(TenonLayoutDestroy(&created));
}

// The dual layout is that of the tensor's cotangent: of copies ("B"), summands ("P").
TEST_F(CApi, TheDualOfTheDualIsTheLayout) {
  const TenonInt shape[2] = {8, 8};
  TenonLayout created = nullptr, dual = nullptr, again = nullptr;
  expectSuccess(TenonLayoutCreate(all_, &created));
  expectSuccess(TenonLayoutSetShape(created, 2, shape));
  expectSuccess(TenonLayoutSetProperties(created, "B"));
  expectSuccess(TenonLayoutSetHalo(created, 1, 1, 1, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO));
  expectSuccess(TenonLayoutSetUp(created));
  expectSuccess(TenonLayoutGetDual(created, &dual));
  expectSuccess(TenonLayoutGetDual(dual, &again));
  TenonBool equal = TENON_TRUE;
  expectSuccess(TenonLayoutIsEqual(created, dual, &equal));
  EXPECT_EQ(equal, TENON_FALSE);
  expectSuccess(TenonLayoutIsEqual(created, again, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  char properties[4] = "";
  expectSuccess(TenonLayoutGetProperties(dual, properties, sizeof properties, nullptr));
  EXPECT_STREQ(properties, "P");
  for (TenonLayout* one : {&created, &dual, &again})
    expectSuccess(TenonLayoutDestroy(one));
}

// Of ones, an element is the number of boxes that contain it where the halo holds partial sums.
TEST_F(CApi, AHaloOfPartialSumsIsAHaloOfADual) {
  const TenonInt shape[2] = {2 * worldSize(), 4};
  TenonLayout values = nullptr, sums = nullptr, both = nullptr;
  TenonLayout plain = layout({shape[0], shape[1]}, "S0");
  expectSuccess(TenonLayoutCreateLike(plain, &values));
  expectSuccess(TenonLayoutSetHalo(values, 0, 1, 1, TENON_BOUNDARY_NONE, TENON_BOUNDARY_NONE));
  expectSuccess(TenonLayoutSetUp(values));
  expectSuccess(TenonLayoutGetDual(values, &sums));
  expectSuccess(TenonLayoutCreateLike(sums, &both));
  expectSuccess(TenonLayoutSetHalo(both, 1, 1, 0, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_NONE));
  expectSuccess(TenonLayoutSetUp(both));
  const auto largest = [&](TenonLayout from) {
    TenonDTensor x = tensor(from, TENON_FLOAT64), y = tensor(plain, TENON_FLOAT64);
    TenonLinearOp convert = nullptr;
    double found = 0;
    void* array = nullptr;
    TenonInt elements = 0;
    expectSuccess(TenonDTensorGetLocalSize(x, &elements));
    expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
    std::fill_n(static_cast<double*>(array), elements, 1.0); // in every box, as it is
    expectSuccess(TenonDTensorRestoreArray(x, &array));
    expectSuccess(TenonLinearOpCreateConversion(from, plain, TENON_FLOAT64, &convert));
    expectSuccess(TenonLinearOpApply(convert, x, y));
    expectSuccess(TenonDTensorMaxAbs(y, &found));
    expectSuccess(TenonLinearOpDestroy(&convert));
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonDTensorDestroy(&y));
    return found;
  };
  const double neighbours = worldSize() > 1 ? 2 : 1;
  EXPECT_EQ(largest(values), 1);
  EXPECT_EQ(largest(sums), neighbours);
  EXPECT_EQ(largest(both), neighbours); // the halo of values adds nothing
  TenonBool equal = TENON_TRUE;
  TenonLayout again = nullptr;
  expectSuccess(TenonLayoutCreateLike(sums, &again));
  expectSuccess(TenonLayoutSetHalo(again, 0, 1, 1, TENON_BOUNDARY_NONE, TENON_BOUNDARY_NONE));
  expectSuccess(TenonLayoutSetUp(again));
  expectSuccess(TenonLayoutIsEqual(again, values, &equal)); // set again, it holds values
  EXPECT_EQ(equal, TENON_TRUE);
  for (TenonLayout* one : {&values, &sums, &both, &plain, &again})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(CApi, BoxesMakeALayoutAndItsPartition) {
  const TenonInt low[2] = {worldRank(), 0}, high[2] = {worldRank() + 1, 4};
  TenonLayout created = nullptr;
  expectSuccess(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, nullptr, low, high, &created));
  TenonInt shape[2] = {};
  expectSuccess(TenonLayoutGetShape(created, shape));
  EXPECT_EQ(shape[0], worldSize());
  TenonPartition partition = nullptr;
  expectSuccess(TenonLayoutGetPartition(created, &partition));
  int extents[2] = {};
  expectSuccess(TenonPartitionGetExtents(partition, extents));
  EXPECT_EQ(extents[0], worldSize());
  EXPECT_EQ(extents[1], 1);
  expectSuccess(TenonPartitionDestroy(&partition));
  expectSuccess(TenonLayoutDestroy(&created));
}

// The last rank's box ends one row before the end of the shape: the error names the missing row.
TEST_F(CApi, BoxesThatEndOneRowTooEarlyAreAnErrorIfTheShapeIsGiven) {
  const TenonInt shape[2] = {2 * worldSize(), 4}, low[2] = {2 * worldRank(), 0};
  const TenonInt high[2] = {low[0] + (isLast() ? 1 : 2), 4};
  TenonLayout created = nullptr;
  expectCommonCode(TENON_ERR_LAYOUT,
                   TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, shape, low, high, &created),
                   {fmt::format("no rank holds [{},{}) x [0,4)", shape[0] - 1, shape[0]).c_str(),
                    fmt::format("on rank {}", worldSize() - 1).c_str()});
  EXPECT_EQ(created, nullptr);
  const TenonInt negative[2] = {isLast() ? -1 : 1, 4};
  expectCommonCode(TENON_ERR_LAYOUT,
                   TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, negative, low, high, &created),
                   {"shape[0] is -1"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, isLast() ? nullptr : shape, low,
                                                high, &created),
                     {"shape"});
  expectSuccess(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, nullptr, low, high, &created));
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, BadBoxesAreTheSameErrorOnAllRanks) {
  const TenonInt low[1] = {0}, high[1] = {isLast() ? -2 : 4}, both[1] = {worldRank() + 1};
  TenonLayout created = nullptr;
  expectCommonCode(TENON_ERR_ARG,
                   TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 1, nullptr, low, high, &created),
                   {"high[0] is -2, below low[0]", "high is excluded"});
  expectCommonCode(TENON_ERR_LAYOUT,
                   TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 1, nullptr, both, both, &created),
                   {"empty"});
  expectCommonCode(TENON_ERR_ARG,
                   TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 9, nullptr, low, high, &created),
                   {"ndim is 9"});
  EXPECT_EQ(created, nullptr);
}

TEST_F(CApi, ABadLayoutOnAnyRankIsTheSameErrorOnAll) {
  const TenonInt shape[2] = {4, 4};
  TenonLayout created = nullptr;
  const auto create = [&](int ndim, const char* properties) {
    return TenonLayoutCreateSharded(all_, ndim, shape, properties, &created);
  };
  expectCommonCode(TENON_ERR_LAYOUT, create(2, "S7"), {"S7", "0 to 1"});
  expectCommonCode(TENON_ERR_LAYOUT, create(2, isLast() ? "Q" : "S0"), {"'Q'", "unknown property"});
  expectCommonCode(TENON_ERR_LAYOUT, create(2, "S0,S1"), {"1 axis", "2 properties"});
  expectCommonCode(TENON_ERR_LAYOUT, create(0, "S0"), {"1 to 8 dimensions"});
  expectCommonCode(TENON_ERR_NULL, create(2, isLast() ? nullptr : "S0"), {"properties is NULL"});
  EXPECT_EQ(created, nullptr);
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE, create(2, isLast() ? "S1" : "S0"), {"] S0", "] S1"});
  expectSuccess(create(2, "S0"));
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, AnUnfinishedLayoutSaysWhatToCall) {
  TenonLayout created = nullptr;
  expectSuccess(TenonLayoutCreate(all_, &created));
  int ndim = 0;
  TenonDTensor x = nullptr;
  TenonLinearOp op = nullptr;
  expectCode(TENON_ERR_STATE, TenonLayoutGetDim(created, &ndim), {"TenonLayoutSetShape"});
  expectCommonCode(TENON_ERR_STATE, TenonDTensorCreate(created, TENON_FLOAT32, &x),
                   {"TenonLayoutSetUp"});
  expectCommonCode(TENON_ERR_STATE,
                   TenonLinearOpCreateConversion(created, created, TENON_FLOAT32, &op),
                   {"TenonLayoutSetUp"});
  expectCommonCode(TENON_ERR_STATE, TenonLayoutSetUp(created), {"no shape"});
  const TenonInt shape[1] = {4};
  expectSuccess(TenonLayoutSetShape(created, 1, shape));
  expectSuccess(TenonLayoutGetDim(created, &ndim));
  EXPECT_EQ(ndim, 1);
  expectSuccess(TenonLayoutSetProperties(created, "S0"));
  expectSuccess(TenonLayoutSetUp(created));
  expectSuccess(TenonLayoutGetDim(created, &ndim));
  expectCode(TENON_ERR_STATE, TenonLayoutSetShape(created, 1, shape), {"is set up"});
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, AFailedSetOnOneRankFailsTheSetUpOnAll) {
  const TenonInt shape[1] = {8};
  TenonLayout created = nullptr;
  expectSuccess(TenonLayoutCreate(all_, &created));
  expectSuccess(TenonLayoutSetShape(created, 1, shape));
  expectSuccess(TenonLayoutSetProperties(created, "S0"));
  const TenonErrorCode code =
      TenonLayoutSetHalo(created, isLast() ? 4 : 0, 1, 1, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO);
  EXPECT_EQ(code, isLast() ? TENON_ERR_ARG : TENON_SUCCESS);
  expectCommonCode(TENON_ERR_ARG, TenonLayoutSetUp(created),
                   {"earlier TenonLayoutSetHalo(4) failed", "dimension 4 is out of range"});
  expectCode(
      TENON_ERR_ARG,
      TenonLayoutSetHalo(created, 0, 1, 1, static_cast<TenonBoundary>(99), TENON_BOUNDARY_ZERO),
      {"lowMode is 9"});
  expectSuccess(TenonLayoutSetHalo(created, 0, 1, 1, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO));
  expectSuccess(TenonLayoutSetUp(created));
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, ViewsAreTextFromOneRank) {
  std::string text;
  const auto append = [](const char* piece, int length, void* context) {
    static_cast<std::string*>(context)->append(piece, static_cast<std::size_t>(length));
  };
  TenonLayout created = layout({8, 3}, "S0");
  expectSuccess(TenonSetOutputHandler(append, &text));
  expectSuccess(TenonObjectView(objectOf(created)));
  expectSuccess(TenonObjectView(objectOf(all_)));
  expectSuccess(TenonSetOutputHandler(nullptr, nullptr));
  EXPECT_EQ(text.find("[8,3]") != std::string::npos, worldRank() == 0) << text;
  EXPECT_EQ(text.find("Partition: process grid") != std::string::npos, worldRank() == 0) << text;
  expectSuccess(TenonLayoutDestroy(&created));
}

TEST_F(CApi, ALayoutLikeTheSolversTakesAHalo) {
  const TenonInt last = worldSize() - 1 - worldRank(); // ranks in reverse order along dimension 0
  const TenonInt low[2] = {2 * last, 0}, high[2] = {2 * last + 2, 5};
  TenonLayout own = nullptr, wide = nullptr, copy = nullptr;
  expectSuccess(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 2, nullptr, low, high, &own));
  expectSuccess(TenonLayoutCreateLike(own, &wide));
  expectCode(TENON_ERR_STATE, TenonLayoutGetBox(wide, nullptr, nullptr), {"not set up"});
  expectCommonCode(TENON_ERR_STATE, TenonLayoutCreateLike(wide, &copy), {"not set up"});
  expectSuccess(TenonLayoutSetHalo(wide, 0, 1, 3, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO));
  expectSuccess(TenonLayoutSetUp(wide));
  TenonInt from[2], to[2];
  expectSuccess(TenonLayoutGetBox(wide, from, to));
  EXPECT_EQ(from[0], low[0] - 1);
  EXPECT_EQ(to[0], high[0] + 3);
  EXPECT_EQ(to[1], 5);
  expectSuccess(TenonLayoutDestroy(&wide));
  expectSuccess(TenonLayoutDestroy(&own));
}

} // namespace
} // namespace tenon::test
