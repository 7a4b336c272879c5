// SPDX-License-Identifier: BSD-2-Clause
// Sizes near the limits of 64-bit integers: shapes, halos, boxes, windows, strides and lists whose
// number of elements or bytes overflows TenonInt. Each call must return an error, the same one on
// all ranks, and create no object. Without the checks, such a product would wrap around to a small
// number and pass.
#include "capi/expect_code.hpp"

#include <tenon/ext/linearop.h>
#include <tenon/index_map.h>
#include <tenon/links.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test {
namespace {

constexpr TenonInt kMax = INT64_MAX, kMin = INT64_MIN;

// Each refuse...() makes a call and checks its error.
class RefusedSizes : public CApi {
protected:
  void refuseShape(const std::vector<TenonInt>& shape, const char* properties) {
    TenonLayout created = nullptr;
    expectCommonCode(TENON_ERR_SHAPE,
                     TenonLayoutCreateSharded(all_, static_cast<int>(shape.size()), shape.data(),
                                              properties, &created),
                     {"more elements than"});
    EXPECT_EQ(created, nullptr);
  }
  // `set` gives a layout of 8 x 8 cells its halo, which succeeds; the set-up refuses it.
  template <class Set>
  void refuseHalo(Set set) {
    const TenonInt shape[] = {8, 8};
    TenonLayout created = nullptr;
    expectSuccess(TenonLayoutCreate(all_, &created));
    expectSuccess(TenonLayoutSetShape(created, 2, shape));
    expectSuccess(TenonLayoutSetProperties(created, "B"));
    expectSuccess(set(created));
    expectCommonCode(TENON_ERR_SHAPE, TenonLayoutSetUp(created), {});
    expectSuccess(TenonLayoutDestroy(&created));
  }
  // Sets the layer up for an input of this shape, then destroys it.
  void refuseLayer(TenonErrorCode code, TenonLayer layer, std::initializer_list<TenonInt> shape) {
    TenonLayout input = layout(shape, "B");
    expectCommonCode(code, TenonLayerSetUp(layer, input), {});
    expectSuccess(TenonLayoutDestroy(&input));
    expectSuccess(TenonLayerDestroy(&layer));
  }
};

TEST_F(RefusedSizes, OfShapes) {
  for (const char* properties : {"S0", "B", "P", "R"}) {
    refuseShape({3, 6148914691236517206}, properties); // 2^64 + 2 elements
    refuseShape({kMax}, properties);
    refuseShape({TenonInt(1) << 60}, properties); // 2^63 bytes with 8 each
    refuseShape({TenonInt(1) << 32, TenonInt(1) << 32}, properties);
    refuseShape({kMax, kMax, 0},
                properties); // no elements, but the product of the others overflows
  }
}

TEST_F(RefusedSizes, OfHalos) {
  const TenonBoundary zero = TENON_BOUNDARY_ZERO;
  for (const auto& [low, high] : {std::pair{kMax, TenonInt(0)},
                                  {TenonInt(0), kMax},
                                  {TenonInt(0), kMax - 7},
                                  {TenonInt(1) << 60, TenonInt(0)},
                                  {TenonInt(1) << 58, TenonInt(0)}})
    refuseHalo([&, low = low, high = high](TenonLayout created) {
      return TenonLayoutSetHalo(created, 0, low, high, zero, zero);
    });
  for (const auto& [low, high] : {std::pair{kMin, kMax}, {TenonInt(0), kMax}, {kMin, TenonInt(8)}})
    refuseHalo([&, low = low, high = high](TenonLayout created) {
      return TenonLayoutSetHaloBoxes(created, 0, 1, &low, &high, zero, zero);
    });
}

// Operators on boxes of the local array, which has 4 x 3 cells on each rank: "clear" sets a box to
// 0, the others have a second box with the first cell `to`.
TEST_F(RefusedSizes, OfBoxesOfMemoryOperators) {
  TenonLayout memory = layout({4 * worldSize(), 3}, "S0"),
              large = layout({8 * worldSize(), 3}, "S0");
  const TenonInt zero[] = {0, 0}, one[] = {1, 1}, largest[] = {kMax, kMax},
                 smallest[] = {kMin, kMin}, far[] = {kMax - 1, 0}, below[] = {-3, -3},
                 wide[] = {TenonInt(1) << 32, TenonInt(1) << 32};
  TenonLinearOp op = nullptr;
  const auto refuse = [&](TenonErrorCode code, TenonErrorCode returned) {
    expectCommonCode(code, returned, {});
    EXPECT_EQ(op, nullptr);
  };
  const TenonDataType type = TENON_FLOAT64;
  const auto create = [&](const char* name, const TenonInt* low, const TenonInt* high,
                          const TenonInt* to) {
    return TenonLinearOpCreateMemory(memory, name, low, high, to, type, &op);
  };
  refuse(TENON_ERR_SHAPE, create("clear", smallest, largest, nullptr));
  refuse(TENON_ERR_SHAPE, create("clear", zero, wide, nullptr));
  refuse(TENON_ERR_SHAPE, create("clear", zero, largest, nullptr));
  refuse(TENON_ERR_ARG, create("clear", largest, largest, nullptr));
  refuse(TENON_ERR_ARG, create("clear", below, below, nullptr));
  for (const char* name : {"add", "copy", "move"}) {
    refuse(TENON_ERR_SHAPE, create(name, smallest, largest, zero));
    refuse(TENON_ERR_SHAPE, create(name, zero, one, largest));
    refuse(TENON_ERR_ARG, create(name, zero, one, far));
    refuse(TENON_ERR_ARG, create(name, zero, zero, largest));
    refuse(TENON_ERR_ARG, create(name, zero, zero, below));
  }
  refuse(TENON_ERR_SHAPE, TenonLinearOpCreateAllocate(memory, large, largest, type, &op));
  refuse(TENON_ERR_ARG, TenonLinearOpCreateAllocate(memory, large, smallest, type, &op));
  expectSuccess(TenonLayoutDestroy(&memory));
  expectSuccess(TenonLayoutDestroy(&large));
}

TEST_F(RefusedSizes, OfWindows) {
  const TenonInt two[] = {2}, largest[] = {kMax}, almostLargest[] = {kMax - 8},
                 large[] = {TenonInt(1) << 59};
  TenonLayer layer = nullptr;
  const auto conv = [&] {
    expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, two, &layer));
    return layer;
  };
  expectSuccess(TenonObjectSetIntegers(objectOf(conv()), "dilation", 1, largest));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), largest, two));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), almostLargest, almostLargest));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), large, large));
  refuseLayer(TENON_ERR_SHAPE, layer, {16, 1, 8});
  // A window of 2^64 cells on one cell with as much padding.
  const TenonInt kernel[] = {TenonInt(1) << 32, TenonInt(1) << 32};
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "averagepooling", &layer));
  expectSuccess(TenonObjectSetIntegers(objectOf(layer), "kernel", 2, kernel));
  expectSuccess(TenonObjectSetBool(objectOf(layer), "include_padding", TENON_TRUE));
  expectSuccess(TenonLayerSetPadding(layer, kernel, nullptr));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 1, 1});
}

TEST_F(RefusedSizes, OfParameters) {
  const TenonInt half = TenonInt(1) << 31, one[] = {1, 1},
                 kernel[] = {TenonInt(1) << 32, TenonInt(1) << 32};
  TenonLayer layer = nullptr;
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, half, half, &layer));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, half});
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, half, half, one, &layer));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, half, 1, 1});
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 1, 1, kernel, &layer));
  expectSuccess(TenonLayerSetPadding(layer, kernel, nullptr));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 1, 1});
}

TEST_F(RefusedSizes, OfStrides) {
  TenonLayout cells = layout({2 * worldSize(), 3}, "S0");
  TenonDTensor x = tensor(cells, TENON_FLOAT64);
  double memory[6] = {};
  const TenonInt none[] = {0, 0};
  for (const auto& strides : {std::vector<TenonInt>{3, kMax},
                              {kMax, 1},
                              {kMin, 1},
                              {TenonInt(1) << 62, TenonInt(1) << 61},
                              {TenonInt(1) << 60, 1}})
    expectCode(TENON_ERR_SHAPE, TenonDTensorPlaceArray(x, memory, strides.data(), none, none, 0),
               {"strides"});
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&cells));
}

// Tiles in a box of 2^64 are refused. A box of 2^60 tiles is accepted, since a rank stores only its
// own tile; a halo that is too large for a tile is refused.
TEST_F(RefusedSizes, OfLinkedPatches) {
  const TenonBoundary periodic[] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};
  const TenonInt mine = worldRank(), side = TenonInt(1) << 30;
  const TenonInt huge[] = {TenonInt(1) << 32, TenonInt(1) << 32}, large[] = {side, side};
  TenonLinks links = nullptr;
  expectCommonCode(
      TENON_ERR_SHAPE,
      TenonLinksCreateFromTiles(MPI_COMM_WORLD, 2, huge, periodic, nullptr, 1, &mine, &links),
      {"the number of tiles is"});
  expectSuccess(
      TenonLinksCreateFromTiles(MPI_COMM_WORLD, 2, large, periodic, nullptr, 1, &mine, &links));
  const TenonInt shape[] = {0, 1, 4, 4};
  TenonLayout patches = nullptr;
  expectSuccess(TenonLinksGetLayout(links, 4, shape, &patches));
  for (const auto& [low, high] :
       {std::pair{kMax, TenonInt(2)}, {TenonInt(0), kMax}, {kMax / 2, 1}}) {
    TenonLayer layer = nullptr;
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "linkedhalo", &layer));
    expectSuccess(TenonObjectSetIntegers(objectOf(layer), "padding", 1, &low));
    expectSuccess(TenonObjectSetIntegers(objectOf(layer), "padding_high", 1, &high));
    expectSuccess(TenonLayerSetLinks(layer, links));
    expectCommonCode(TENON_ERR_SHAPE, TenonLayerSetUp(layer, patches), {});
    expectSuccess(TenonLayerDestroy(&layer));
  }
  expectSuccess(TenonLayoutDestroy(&patches));
  expectSuccess(TenonLinksDestroy(&links));
}

TEST_F(RefusedSizes, OfLists) {
  const TenonInt ids[] = {0};
  TenonIndexMap map = nullptr;
  for (const TenonInt count : {kMax, kMax - 1, TenonInt(1) << 60})
    expectCommonCode(TENON_ERR_ARG, TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 0, count, ids, &map),
                     {"the length of ids is"});
  EXPECT_EQ(map, nullptr);
}

TEST_F(RefusedSizes, OfChannelsWithModes) {
  const TenonInt kernel[] = {3, 3};
  const TenonBoundary zero[] = {TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO};
  TenonLayer layer = nullptr;
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 2, 2, kernel, &layer));
  for (const TenonInt channel : {kMax, kMax - 1, TenonInt(1) << 60})
    expectCode(TENON_ERR_ARG, TenonLayerSetChannelBoundary(layer, channel, zero, zero),
               {"names the channels"});
  for (const char* text :
       {"zero;9223372036854775807=odd", "zero;0:9223372036854775808=odd",
        "zero;9223372036854775807:-9223372036854775808=odd", "zero;1=odd;5:4=odd"})
    expectCode(TENON_ERR_ARG, TenonObjectSetText(objectOf(layer), "boundary", text),
               {"names the channels"});
  expectSuccess(TenonLayerDestroy(&layer));
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 2, 2, kernel, &layer));
  expectSuccess(TenonLayerSetChannelBoundary(layer, TenonInt(1) << 40, zero, zero));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 2, 8, 8});
}

// Integer settings of layers, in sums and products with the extents of their inputs.
TEST_F(RefusedSizes, OfSettings) {
  TenonLayer layer = nullptr;
  const auto make =
      [&](const char* type,
          std::initializer_list<std::pair<const char*, std::vector<TenonInt>>> settings) {
        expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, type, &layer));
        for (const auto& [name, values] : settings)
          expectSuccess(TenonObjectSetIntegers(
              objectOf(layer), name, static_cast<TenonInt>(values.size()), values.data()));
        return layer;
      };
  // Elements 3, 3 + kMax, ...: only the first is in the input, so this is valid.
  make("slice", {{"dim", {1}}, {"begin", {3}}, {"step", {kMax}}});
  TenonLayout input = layout({1, 8}, "B"), output = nullptr;
  expectSuccess(TenonLayerSetUp(layer, input));
  TenonDTensor y = nullptr;
  expectSuccess(TenonLayerCreateOutput(layer, 0, &y));
  expectSuccess(TenonDTensorGetLayout(y, &output));
  TenonInt shape[2] = {};
  expectSuccess(TenonLayoutGetShape(output, shape));
  EXPECT_EQ(shape[1], 1);
  expectSuccess(TenonDTensorDestroy(&y));
  for (TenonLayout* one : {&input, &output})
    expectSuccess(TenonLayoutDestroy(one));
  expectSuccess(TenonLayerDestroy(&layer));
  // 2^64 elements, which wrap around to 0 in 64 bits, for an input of 8.
  make("reshape", {{"shape", {TenonInt(1) << 31, TenonInt(1) << 33, 1}}});
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 8});
  // Valid: both shapes have 0 elements.
  make("reshape", {{"shape", {0, 7}}});
  input = layout({0, 3, 5, 4}, "B");
  expectSuccess(TenonLayerSetUp(layer, input));
  expectSuccess(TenonLayoutDestroy(&input));
  expectSuccess(TenonLayerDestroy(&layer));
  make("transposedconv", {{"in_channels", {1}},
                          {"out_channels", {1}},
                          {"kernel", {3}},
                          {"dilation", {TenonInt(1) << 61}},
                          {"stride", {(TenonInt(1) << 62) + (TenonInt(1) << 61)}},
                          {"padding", {TenonInt(1) << 61}}});
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 2});
}

// A text with 20000 overlapping ranges c:20000 of channels, of which later ones replace earlier
// ones. One entry for each channel of each range would be 2 10^8 entries.
TEST_F(RefusedSizes, OfListsOfModes) {
  constexpr TenonInt kChannels = 20000;
  const TenonInt kernel[] = {3};
  std::string text = "zero";
  for (TenonInt c = kChannels; c-- > 0;)
    text += ";" + std::to_string(c) + ":" + std::to_string(kChannels) + (c % 2 ? "=odd" : "=zero");
  TenonLayer layer = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "maxpooling", &layer));
  expectSuccess(TenonObjectSetIntegers(objectOf(layer), "kernel", 1, kernel));
  expectSuccess(TenonObjectSetText(objectOf(layer), "boundary", text.c_str()));
  expectSuccess(TenonLayerDestroy(&layer));
}

TEST_F(RefusedSizes, OfPartitions) {
  const int extents[] = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
  TenonPartition created = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreate(MPI_COMM_WORLD, 4, extents, &created), {});
  EXPECT_EQ(created, nullptr);
  const TenonInt matrix[] = {kMax, kMax, kMax, kMax};
  expectCommonCode(TENON_ERR_ARG,
                   TenonPartitionCreatePlaced(MPI_COMM_WORLD, 2, 2, matrix, &created), {});
  EXPECT_EQ(created, nullptr);
}

} // namespace
} // namespace tenon::test
