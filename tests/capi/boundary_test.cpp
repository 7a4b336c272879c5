// SPDX-License-Identifier: BSD-2-Clause
// Boundary modes of convolutions, set through the C API. The layer sums three neighbouring cells:
// window 3, all weights 1, padding 1. The input is the line x[i] = i + 1, i = 0 ... 7, split over
// the ranks, so the expected output is
//
//   y[i] = x[i-1] + x[i] + x[i+1]     with x[-1] and x[8] as the boundary mode defines them:
//
//   reflect     x[-1] = x[1] = 2        replicate   x[8] = x[7] = 8
//   periodic    x[-1] = x[7] = 8, x[8] = x[0] = 1
//   values      x[-1], x[8] = a constant, or the values of a second input
#include "capi/expect_code.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace tenon::test {
namespace {

constexpr TenonInt kCells = 8;
constexpr TenonInt kThree[] = {3}, kOne[] = {1};

class BoundaryCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    line_ = layout({1, 1, kCells}, "S2");
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
    expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, kThree, &sum_));
    expectSuccess(TenonLayerSetDataType(sum_, TENON_FLOAT64));
    expectSuccess(TenonLayerSetPadding(sum_, kOne, nullptr));
    expectSuccess(TenonObjectSetBool(objectOf(sum_), "bias", TENON_FALSE));
  }
  void TearDown() override {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    expectSuccess(TenonLayerDestroy(&sum_));
    expectSuccess(TenonLayoutDestroy(&line_));
    CApi::TearDown();
  }

  void setBoundary(TenonBoundary low, TenonBoundary high) {
    expectSuccess(TenonLayerSetBoundary(sum_, &low, &high));
  }
  // A tensor of this layout with value(i) in cell i, set in the cells that this rank has. With a
  // halo these include cells -1 and 8.
  TenonDTensor onLine(TenonLayout layout, const std::function<double(TenonInt)>& value) {
    TenonDTensor x = tensor(layout, TENON_FLOAT64);
    TenonInt low[3], high[3];
    void* array = nullptr;
    expectSuccess(TenonDTensorGetBox(x, low, high));
    expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
    for (TenonInt i = low[2]; i < high[2]; ++i)
      static_cast<double*>(array)[i - low[2]] = value(i);
    expectSuccess(TenonDTensorRestoreArray(x, &array));
    return x;
  }
  static std::string boundaryOf(TenonLayer layer) {
    char text[200];
    TenonInt needed = 0;
    expectSuccess(TenonObjectGetText(objectOf(layer), "boundary", text, sizeof text, &needed));
    return text;
  }
  static void expectOnLine(TenonDTensor x, const std::function<double(TenonInt)>& value) {
    TenonInt low[3], high[3];
    const void* array = nullptr;
    expectSuccess(TenonDTensorGetBox(x, low, high));
    expectSuccess(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &array));
    for (TenonInt i = low[2]; i < high[2]; ++i)
      EXPECT_EQ(static_cast<const double*>(array)[i - low[2]], value(i)) << "cell " << i;
    expectSuccess(TenonDTensorRestoreArrayRead(x, &array));
  }
  void setWeightsToOne() {
    TenonDTensor weight = nullptr;
    expectSuccess(TenonLayerGetParameter(sum_, 0, &weight));
    expectSuccess(TenonDTensorFillConstant(weight, 1));
    expectSuccess(TenonDTensorDestroy(&weight));
  }
  // The expected output y[i] if x[-1] is `low` and x[8] is `high`.
  static std::function<double(TenonInt)> sums(double low, double high) {
    const auto cell = [=](TenonInt i) { return i < 0 ? low : i >= kCells ? high : i + 1.0; };
    return [=](TenonInt i) { return cell(i - 1) + cell(i) + cell(i + 1); };
  }
  // Sets the layer up, applies it to the line and compares with sums(low, high).
  void expectSums(double low, double high) {
    expectSuccess(TenonLayerSetUp(sum_, line_));
    setWeightsToOne();
    TenonDTensor x = onLine(line_, [](TenonInt i) { return i + 1.0; }), y = nullptr;
    expectSuccess(TenonLayerCreateOutput(sum_, 0, &y));
    expectSuccess(TenonLayerApply(sum_, x, y));
    expectOnLine(y, sums(low, high));
    destroy({x, y});
  }
  static void destroy(std::initializer_list<TenonDTensor> tensors) {
    for (TenonDTensor t : tensors)
      expectSuccess(TenonDTensorDestroy(&t));
  }

  TenonLayout line_ = nullptr;
  TenonLayer sum_ = nullptr;
};

TEST_F(BoundaryCApi, EachSideHasItsMode) {
  setBoundary(TENON_BOUNDARY_REFLECT, TENON_BOUNDARY_REPLICATE);
  expectSums(2, 8);
}

// The same on a line that every rank has as a whole ("B").
TEST_F(BoundaryCApi, ARingClosesWithoutASplitToo) {
  expectSuccess(TenonLayoutDestroy(&line_));
  line_ = layout({1, 1, kCells}, "B");
  TenonBoundary ring = TENON_BOUNDARY_PERIODIC;
  expectSuccess(TenonLayerSetBoundary(sum_, &ring, nullptr));
  expectSuccess(TenonLayerSetSignature(sum_, "B"));
  expectSums(8, 1);
}

TEST_F(BoundaryCApi, OptionsSetModesAndConstant) {
  expectSuccess(TenonObjectSetOptionsPrefix(objectOf(sum_), "wall_"));
  expectSuccess(TenonOptionsSet("-tenon_wall_boundary", "values/periodic"));
  expectSuccess(TenonOptionsSet("-tenon_wall_boundary_constant", "-3"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(sum_)));
  expectSums(-3, 1);
}

TEST_F(BoundaryCApi, BadOptionsAreNamed) {
  expectSuccess(TenonObjectSetOptionsPrefix(objectOf(sum_), "odd_"));
  // The dimensions of space may still change before the set-up.
  expectSuccess(TenonOptionsSet("-tenon_odd_boundary", "periodic,zero"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(sum_)));
  expectCommonCode(TENON_ERR_ARG, TenonLayerSetUp(sum_, line_), {"2 modes"});
  for (auto [text, part] :
       {std::pair("mirror", "unknown boundary mode 'mirror'"),
        std::pair("linked/zero", "on one side"), std::pair("zero/zero/zero", "low/high")}) {
    expectSuccess(TenonOptionsSet("-tenon_odd_boundary", text));
    expectCode(TENON_ERR_OPTION, TenonObjectSetFromOptions(objectOf(sum_)), {text, part});
  }
  expectCommonCode(TENON_ERR_OPTION, TenonLayerSetUp(sum_, line_), {"boundary"});
}

// A globe of 2 x 4: beyond the poles are the rows of the opposite meridian, with the other sign for
// the components of a vector, and columns follow the rows.
TEST_F(BoundaryCApi, AHaloContinuesBeyondThePoles) {
  constexpr TenonBoundary kModes[] = {TENON_BOUNDARY_POLE, TENON_BOUNDARY_POLE_VECTOR,
                                      TENON_BOUNDARY_POLE_POINT, TENON_BOUNDARY_POLE_POINT_VECTOR};
  constexpr TenonInt kRows = 2, kColumns = 4;
  for (const TenonBoundary mode : kModes) {
    TenonLayout plain = layout({kRows, kColumns}, "S1"), wide = nullptr;
    TenonLinearOp halo = nullptr;
    expectSuccess(TenonLayoutCreateLike(plain, &wide));
    expectSuccess(TenonLayoutSetHalo(wide, 0, 1, 1, mode, mode));
    expectSuccess(TenonLayoutSetHalo(wide, 1, 1, 0, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_ZERO));
    expectCommonCode(TENON_ERR_LAYOUT, TenonLayoutSetUp(wide), {"periodic longitudes", "zero"});
    expectSuccess(
        TenonLayoutSetHalo(wide, 1, 1, 0, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
    expectSuccess(TenonLayoutSetUp(wide));
    expectSuccess(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &halo));
    TenonDTensor x = tensor(plain, TENON_FLOAT64), y = tensor(wide, TENON_FLOAT64);
    TenonInt low[2], high[2];
    void* values = nullptr;
    const auto cell = [](TenonInt row, TenonInt column) {
      return double(kColumns * row + (column + 2 * kColumns) % kColumns + 1);
    };
    expectSuccess(TenonDTensorGetBox(x, low, high));
    expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &values));
    auto* out = static_cast<double*>(values);
    for (TenonInt row = low[0]; row < high[0]; ++row)
      for (TenonInt column = low[1]; column < high[1]; ++column)
        *out++ = cell(row, column);
    expectSuccess(TenonDTensorRestoreArray(x, &values));
    expectSuccess(TenonLinearOpApply(halo, x, y));
    const bool isOn = mode == TENON_BOUNDARY_POLE_POINT || mode == TENON_BOUNDARY_POLE_POINT_VECTOR;
    const bool isVector =
        mode == TENON_BOUNDARY_POLE_VECTOR || mode == TENON_BOUNDARY_POLE_POINT_VECTOR;
    const void* got = nullptr;
    expectSuccess(TenonDTensorGetBox(y, low, high));
    expectSuccess(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &got));
    const auto* in = static_cast<const double*>(got);
    for (TenonInt row = low[0]; row < high[0]; ++row)
      for (TenonInt column = low[1]; column < high[1]; ++column) {
        const TenonInt beyond = row < 0 ? (isOn ? 1 : 0) : isOn ? 0 : 1;
        EXPECT_EQ(*in++, row < 0 || row >= kRows
                             ? (isVector ? -1 : 1) * cell(beyond, column + kColumns / 2)
                             : cell(row, column));
      }
    expectSuccess(TenonDTensorRestoreArrayRead(y, &got));
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonDTensorDestroy(&y));
    expectSuccess(TenonLinearOpDestroy(&halo));
    expectSuccess(TenonLayoutDestroy(&wide));
    expectSuccess(TenonLayoutDestroy(&plain));
  }
}

// The periodic line is cut into four tiles of two cells, and tile t belongs to rank t mod size. The
// links between the tiles make the layer's output the same as on the periodic line.
TEST_F(BoundaryCApi, ALineInLinkedTilesIsTheLine) {
  constexpr TenonInt kTiles[] = {4}, kEach = kCells / 4, kShape[] = {0, 1, kEach};
  constexpr TenonBoundary kPeriodic[] = {TENON_BOUNDARY_PERIODIC};
  std::vector<TenonInt> places; // the tiles of this rank
  for (TenonInt tile = worldRank(); tile < 4; tile += worldSize())
    places.push_back(tile);
  const auto count = static_cast<TenonInt>(places.size());
  TenonLinks links = nullptr;
  TenonLayout tiles = nullptr;
  expectSuccess(TenonLinksCreateFromTiles(MPI_COMM_WORLD, 1, kTiles, kPeriodic, nullptr, count,
                                          places.data(), &links));
  expectSuccess(TenonLinksGetLayout(links, 3, kShape, &tiles));
  setBoundary(TENON_BOUNDARY_LINKED, TENON_BOUNDARY_LINKED);
  expectCommonCode(TENON_ERR_STATE, TenonLayerSetUp(sum_, tiles), {"no links"});
  expectSuccess(TenonLayerSetLinks(sum_, links));
  expectSuccess(TenonLayerSetUp(sum_, tiles));
  setWeightsToOne();
  TenonDTensor x = tensor(tiles, TENON_FLOAT64), y = nullptr;
  expectSuccess(TenonLayerCreateOutput(sum_, 0, &y));
  void* array = nullptr;
  expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
  for (TenonInt i = 0; i < count * kEach; ++i)
    static_cast<double*>(array)[i] = double(places[i / kEach] * kEach + i % kEach + 1);
  expectSuccess(TenonDTensorRestoreArray(x, &array));
  expectSuccess(TenonLayerApply(sum_, x, y));
  const void* sums = nullptr;
  expectSuccess(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &sums));
  for (TenonInt i = 0; i < count * kEach; ++i) {
    const TenonInt cell = places[i / kEach] * kEach + i % kEach; // on the line
    EXPECT_EQ(static_cast<const double*>(sums)[i],
              double((cell + kCells - 1) % kCells + cell + (cell + 1) % kCells + 3));
  }
  expectSuccess(TenonDTensorRestoreArrayRead(y, &sums));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonDTensorDestroy(&y));
  expectSuccess(TenonLayoutDestroy(&tiles));
  expectSuccess(TenonLinksDestroy(&links));
}

TEST_F(BoundaryCApi, BadLinksAreNamed) {
  constexpr TenonInt kTiles[] = {2}, kPlaces[] = {5}, kShape[] = {3, 1, 2}, kPatches[] = {0, 0};
  constexpr TenonBoundary kZero[] = {TENON_BOUNDARY_ZERO}, kNone[] = {TENON_BOUNDARY_NONE};
  constexpr int kSides[] = {1, 0}, kBad[] = {1, 1};
  TenonLinks links = nullptr;
  TenonLayout layout = nullptr;
  const auto tiles = [&](int ndim, const TenonInt* shape, const TenonBoundary* mode,
                         TenonInt count) {
    return TenonLinksCreateFromTiles(MPI_COMM_WORLD, ndim, shape, mode, nullptr, count, kPlaces,
                                     &links);
  };
  expectCommonCode(TENON_ERR_ARG, tiles(4, kTiles, kZero, 0), {"ndim is 4"});
  expectCommonCode(TENON_ERR_ARG, tiles(1, kTiles, kZero, 1), {"place 5 of 2 tiles"});
  expectCommonCode(TENON_ERR_ARG, tiles(1, kTiles, kNone, 0), {"end of the box is none"});
  expectCommonCode(TENON_ERR_NULL, tiles(1, nullptr, kZero, 0), {"tiles is NULL"});
  const TenonInt here = worldRank() == 0 ? 2 : 0;
  const auto sides = [&](TenonInt count, const int* side) {
    return TenonLinksCreateFromSides(MPI_COMM_WORLD, 1, count, kPatches, side, nullptr, &links);
  };
  expectCommonCode(TENON_ERR_ARG, sides(1, kSides), {"no multiple of 2"});
  expectCommonCode(TENON_ERR_ARG, sides(here, kBad), {"side 0 of patch 0", "side 1 of patch 0"});
  expectSuccess(sides(here, kSides));
  expectCommonCode(TENON_ERR_SHAPE, TenonLinksGetLayout(links, 3, kShape, &layout),
                   {"[3,1,2]", "number of patches"});
  expectSuccess(TenonLinksDestroy(&links));
}

// Mode "values" with a second input v, once in the layout of line and halo (100 in cell -1, 200 in
// cell 8), once as one number for both ends (50). The cotangent of the output is 1 everywhere: then
// that of x[i] is the number of sums that contain x[i], and that of v pairs with v to the sum of
// its values.
TEST_F(BoundaryCApi, TheUserValuesAreASecondInputWithACotangent) {
  setBoundary(TENON_BOUNDARY_VALUES, TENON_BOUNDARY_VALUES);
  TenonLayout wide = nullptr, number = layout({1}, "B");
  expectSuccess(TenonLayerGetBoundaryLayout(sum_, line_, &wide));
  for (const TenonLayout& given : {wide, number}) {
    const bool isNumber = given == number;
    const TenonLayout inputs[] = {line_, given};
    expectSuccess(TenonLayerSetUpMany(sum_, 2, inputs));
    setWeightsToOne();
    TenonDTensor x = onLine(line_, [](TenonInt i) { return i + 1.0; });
    TenonDTensor v = isNumber ? tensor(number, TENON_FLOAT64)
                              : onLine(wide, [](TenonInt i) { return i < 0 ? 100 : 200; });
    if (isNumber)
      expectSuccess(TenonDTensorFillConstant(v, 50));
    TenonDTensor y = nullptr, dy = nullptr, dx = nullptr, dv = nullptr;
    expectSuccess(TenonLayerCreateOutput(sum_, 0, &y));
    const TenonDTensor operands[] = {x, v};
    expectSuccess(TenonLayerApplyMany(sum_, 2, operands, 1, &y));
    expectOnLine(y, isNumber ? sums(50, 50) : sums(100, 200));
    expectSuccess(TenonLayerCreateOutputCotangent(sum_, 0, &dy));
    expectSuccess(TenonLayerCreateInputCotangent(sum_, 0, &dx));
    expectSuccess(TenonLayerCreateInputCotangent(sum_, 1, &dv));
    expectSuccess(TenonDTensorFillConstant(dy, 1));
    const TenonDTensor cotangents[] = {dx, dv};
    expectSuccess(TenonLayerApplyAdjointMany(sum_, 1, &dy, 2, cotangents));
    expectOnLine(dx, [](TenonInt i) { return i == 0 || i == kCells - 1 ? 2 : 3; });
    double pairing = 0;
    expectSuccess(TenonDTensorPairing(v, dv, &pairing));
    EXPECT_EQ(pairing, isNumber ? 2 * 50 : 100 + 200);
    destroy({x, v, y, dy, dx, dv});
  }
  expectSuccess(TenonLayoutDestroy(&wide));
  expectSuccess(TenonLayoutDestroy(&number));
}

TEST_F(BoundaryCApi, ErrorsNameWhatIsMissingOnAllRanks) {
  TenonLayout wide = nullptr, number = layout({1}, "B");
  expectCode(TENON_ERR_STATE, TenonLayerGetBoundaryLayout(sum_, line_, &wide),
             {"does not have a second input"});
  const TenonLayout withNumber[] = {line_, number}, withLine[] = {line_, line_};
  expectCommonCode(TENON_ERR_ARG, TenonLayerSetUpMany(sum_, 2, withNumber), {"1 input"});
  setBoundary(TENON_BOUNDARY_VALUES, TENON_BOUNDARY_ZERO);
  expectCommonCode(TENON_ERR_ARG, TenonLayerSetUp(sum_, line_),
                   {"second input", "boundary_constant", "1 layout"});
  expectCommonCode(TENON_ERR_LAYOUT, TenonLayerSetUpMany(sum_, 2, withLine),
                   {"GetBoundaryLayout", "shape [1]"});
  expectSuccess(TenonObjectSetReal(objectOf(sum_), "boundary_constant", 5));
  expectCommonCode(TENON_ERR_ARG, TenonLayerSetUpMany(sum_, 2, withNumber),
                   {"a boundary constant"});
  expectCode(TENON_ERR_STATE, TenonLayerGetBoundaryLayout(sum_, line_, &wide), {"constant"});
  expectSums(5, 0);
  expectCode(TENON_ERR_STATE, TenonObjectSetReal(objectOf(sum_), "boundary_constant", 1),
             {"set up"});
  expectSuccess(TenonLayoutDestroy(&number));
}

TEST_F(BoundaryCApi, SettersRefuseInvalidModesAndNumbers) {
  TenonBoundary bad = static_cast<TenonBoundary>(99);
  TenonLayer affine = nullptr;
  expectCode(TENON_ERR_ARG, TenonLayerSetBoundary(sum_, &bad, nullptr), {"low[0] is 9"});
  expectCode(TENON_ERR_NULL, TenonLayerSetBoundary(sum_, nullptr, &bad), {"low is NULL"});
  expectCode(TENON_ERR_ARG, TenonObjectSetReal(objectOf(sum_), "boundary_constant", std::nan("")),
             {"nan", "finite"});
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 2, 2, &affine));
  expectCode(TENON_ERR_TYPE, TenonLayerSetBoundary(affine, &bad, nullptr), {"affine", "boundary"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetReal(objectOf(affine), "boundary_constant", 1),
             {"affine", "boundary_constant"});
  expectSuccess(TenonLayerDestroy(&affine));
  if (worldSize() == 1)
    return;
  TenonLayer fresh = nullptr;
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, kThree, &fresh));
  TenonBoundary mine = isLast() ? TENON_BOUNDARY_ZERO : TENON_BOUNDARY_PERIODIC;
  expectSuccess(TenonLayerSetBoundary(fresh, &mine, nullptr));
  expectCommonCode(TENON_ERR_COLLECTIVE, TenonLayerSetUp(fresh, line_), {"boundary periodic"});
  expectSuccess(TenonLayerDestroy(&fresh));
}

// Channel 0 has the mode of the layer, channel 1 is odd on both sides, channel 2 odd on the low
// side.
TEST_F(BoundaryCApi, ChannelsCanHaveDifferentModes) {
  TenonLayer conv = nullptr;
  const TenonBoundary odd = TENON_BOUNDARY_ODD, even = TENON_BOUNDARY_SYMMETRIC,
                      none = TENON_BOUNDARY_NONE;
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 3, 1, kThree, &conv));
  expectSuccess(TenonLayerSetBoundary(conv, &even, nullptr));
  expectSuccess(TenonLayerSetChannelBoundary(conv, 1, &odd, nullptr));
  expectSuccess(TenonLayerSetChannelBoundary(conv, 2, &odd, &none));
  EXPECT_EQ(boundaryOf(conv), "symmetric/symmetric;1=odd/odd;2=odd/none");
  expectCode(TENON_ERR_ARG, TenonLayerSetChannelBoundary(conv, -1, &odd, nullptr),
             {"channel is -1"});
  expectCode(TENON_ERR_NULL, TenonLayerSetChannelBoundary(conv, 0, nullptr, nullptr),
             {"low is NULL"});
  expectSuccess(TenonLayerSetBoundary(conv, &even, nullptr));
  EXPECT_EQ(boundaryOf(conv), "symmetric/symmetric");
  expectSuccess(TenonLayerDestroy(&conv));
}

// A line of 8 cells has 9 faces. A rank has the low faces of its cells, and the last rank also the
// face at the end. Means of neighbouring faces are again in the layout of the cells.
TEST_F(BoundaryCApi, StaggeredFieldsFollowThePartsOfTheCells) {
  TenonLayout faces = nullptr, cells = nullptr;
  TenonInt shape[3], low[3], high[3], own[3], ownHigh[3];
  const TenonInt facesAlong[] = {0, 0, 1}, wrong[] = {0, 2, 0}; // 1: one more than cells
  expectSuccess(TenonLayoutCreateStaggered(line_, facesAlong, &faces));
  expectSuccess(TenonLayoutGetShape(faces, shape));
  EXPECT_EQ(shape[2], kCells + 1);
  expectSuccess(TenonLayoutGetOwnedBox(line_, own, ownHigh));
  expectSuccess(TenonLayoutGetOwnedBox(faces, low, high));
  EXPECT_EQ(low[2], own[2]);
  EXPECT_EQ(high[2], ownHigh[2] == kCells ? kCells + 1 : ownHigh[2]);
  TenonLayer mean = nullptr;
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "averagepooling", &mean));
  const TenonInt two = 2, one = 1;
  expectSuccess(TenonObjectSetIntegers(objectOf(mean), "kernel", 1, &two));
  expectSuccess(TenonObjectSetIntegers(objectOf(mean), "stride", 1, &one));
  expectSuccess(TenonLayerSetUp(mean, faces));
  expectSuccess(TenonLayerGetOutputLayout(mean, 0, &cells));
  expectSuccess(TenonLayoutIsEqual(cells, line_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  expectCommonCode(TENON_ERR_ARG, TenonLayoutCreateStaggered(line_, wrong, &cells),
                   {"faces[1] is 2"});
  expectSuccess(TenonLayerDestroy(&mean));
  expectSuccess(TenonLayoutDestroy(&cells));
  expectSuccess(TenonLayoutDestroy(&faces));
}

// A halo exchange leaves cell -1, whose mode is "values", to a second operator: it adds 7, as a
// tensor or as a constant. Cell 8 is periodic: x[8] = x[0].
TEST_F(BoundaryCApi, OperatorsCompleteAHaloExchange) {
  TenonLayout wide = nullptr;
  expectSuccess(TenonLayoutCreateLike(line_, &wide));
  expectSuccess(TenonLayoutSetHalo(wide, 2, 1, 1, TENON_BOUNDARY_VALUES, TENON_BOUNDARY_PERIODIC));
  expectSuccess(TenonLayoutSetUp(wide));
  TenonLinearOp halo = nullptr, values = nullptr, constant = nullptr;
  expectSuccess(TenonLinearOpCreateHalo(line_, wide, TENON_FLOAT64, &halo));
  expectSuccess(TenonLinearOpCreateBoundaryValues(wide, TENON_FLOAT64, TENON_FALSE, &values));
  expectSuccess(TenonLinearOpCreateBoundaryValues(wide, TENON_FLOAT64, TENON_TRUE, &constant));
  TenonLayout number = nullptr;
  expectSuccess(TenonLinearOpGetDomain(constant, &number));
  TenonDTensor x = onLine(line_, [](TenonInt i) { return i + 1.0; });
  TenonDTensor v = onLine(wide, [](TenonInt) { return 7; });
  TenonDTensor c = tensor(number, TENON_FLOAT64), g = tensor(wide, TENON_FLOAT64);
  expectSuccess(TenonDTensorFillConstant(c, 7));
  for (auto [op, supplied] : {std::pair(values, v), std::pair(constant, c)}) {
    expectSuccess(TenonLinearOpApply(halo, x, g));
    expectSuccess(TenonLinearOpApplyAdd(op, 1, supplied, 1, g));
    expectOnLine(g, [](TenonInt i) { return i < 0 ? 7 : i % kCells + 1.0; });
  }
  TenonLinearOp none = nullptr;
  for (const TenonBool one : {TENON_FALSE, TENON_TRUE})
    expectCommonCode(TENON_ERR_LAYOUT,
                     TenonLinearOpCreateBoundaryValues(line_, TENON_FLOAT64, one, &none),
                     {"no side"});
  TenonLayout sums = nullptr;
  expectSuccess(TenonLayoutGetDual(wide, &sums));
  expectCommonCode(TENON_ERR_LAYOUT,
                   TenonLinearOpCreateBoundaryValues(sums, TENON_FLOAT64, TENON_TRUE, &none),
                   {"partial sums"});
  expectSuccess(TenonLinearOpCreateBoundaryValues(sums, TENON_FLOAT64, TENON_FALSE, &none));
  expectSuccess(TenonLinearOpDestroy(&none));
  expectSuccess(TenonLayoutDestroy(&sums));
  destroy({x, v, c, g});
  for (TenonLinearOp* op : {&halo, &values, &constant})
    expectSuccess(TenonLinearOpDestroy(op));
  expectSuccess(TenonLayoutDestroy(&wide));
  expectSuccess(TenonLayoutDestroy(&number));
}

} // namespace
} // namespace tenon::test
