// SPDX-License-Identifier: BSD-2-Clause
// Hostile sizes: calls whose cells or bytes no 64-bit integer counts are refused, on all ranks
// alike, and leave no object.
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

class Sizes : public CApi {
protected:
  void refuseShape(const std::vector<TenonInt>& shape, const char* properties) {
    TenonLayout made = nullptr;
    expectCommonCode(TENON_ERR_SHAPE,
                     TenonLayoutCreateSharded(all_, static_cast<int>(shape.size()), shape.data(),
                                              properties, &made),
                     {"more elements than"});
    EXPECT_EQ(made, nullptr);
  }
  // set(layout) specifies a halo of a layout of 8 x 8 cells.
  template <class Set>
  void refuseHalo(Set set) {
    const TenonInt shape[] = {8, 8};
    TenonLayout made = nullptr;
    expectSuccess(TenonLayoutCreate(all_, &made));
    expectSuccess(TenonLayoutSetShape(made, 2, shape));
    expectSuccess(TenonLayoutSetProperties(made, "B"));
    expectSuccess(set(made));
    expectCommonCode(TENON_ERR_SHAPE, TenonLayoutSetUp(made), {});
    expectSuccess(TenonLayoutDestroy(&made));
  }
  void refuseLayer(TenonErrorCode code, TenonLayer layer, std::initializer_list<TenonInt> shape) {
    TenonLayout input = layout(shape, "B");
    expectCommonCode(code, TenonLayerSetUp(layer, input), {});
    expectSuccess(TenonLayoutDestroy(&input));
    expectSuccess(TenonLayerDestroy(&layer));
  }
};

TEST_F(Sizes, OfShapes) {
  for (const char* properties : {"S0", "B", "P", "R"}) {
    refuseShape({3, 6148914691236517206}, properties);
    refuseShape({kMax}, properties);
    refuseShape({TenonInt(1) << 60}, properties);
    refuseShape({TenonInt(1) << 32, TenonInt(1) << 32}, properties);
    refuseShape({kMax, kMax, 0}, properties);
  }
}

TEST_F(Sizes, OfHalos) {
  const TenonBoundary zero = TENON_BOUNDARY_ZERO;
  for (const auto& [low, high] : {std::pair{kMax, TenonInt(0)},
                                  {TenonInt(0), kMax},
                                  {TenonInt(0), kMax - 7},
                                  {TenonInt(1) << 60, TenonInt(0)},
                                  {TenonInt(1) << 58, TenonInt(0)}})
    refuseHalo([&, low = low, high = high](TenonLayout made) {
      return TenonLayoutSetHalo(made, 0, low, high, zero, zero);
    });
  for (const auto& [low, high] : {std::pair{kMin, kMax}, {TenonInt(0), kMax}, {kMin, TenonInt(8)}})
    refuseHalo([&, low = low, high = high](TenonLayout made) {
      return TenonLayoutSetHaloBoxes(made, 0, 1, &low, &high, zero, zero);
    });
}

// Of the local array: 4 x 3 cells on each rank.
TEST_F(Sizes, OfBoxesOfMemoryOperators) {
  TenonLayout memory = layout({4 * worldSize(), 3}, "S0"),
              large = layout({8 * worldSize(), 3}, "S0");
  const TenonInt zero[] = {0, 0}, one[] = {1, 1}, most[] = {kMax, kMax}, least[] = {kMin, kMin},
                 far[] = {kMax - 1, 0}, below[] = {-3, -3},
                 wide[] = {TenonInt(1) << 32, TenonInt(1) << 32};
  TenonLinearOp op = nullptr;
  const auto refuse = [&](TenonErrorCode code, TenonErrorCode got) {
    expectCommonCode(code, got, {});
    EXPECT_EQ(op, nullptr);
  };
  const TenonDataType type = TENON_FLOAT64;
  const auto create = [&](const char* name, const TenonInt* low, const TenonInt* high,
                          const TenonInt* to) {
    return TenonLinearOpCreateMemory(memory, name, low, high, to, type, &op);
  };
  refuse(TENON_ERR_SHAPE, create("clear", least, most, nullptr));
  refuse(TENON_ERR_SHAPE, create("clear", zero, wide, nullptr));
  refuse(TENON_ERR_SHAPE, create("clear", zero, most, nullptr));
  refuse(TENON_ERR_ARG, create("clear", most, most, nullptr));
  refuse(TENON_ERR_ARG, create("clear", below, below, nullptr));
  for (const char* name : {"add", "copy", "move"}) {
    refuse(TENON_ERR_SHAPE, create(name, least, most, zero));
    refuse(TENON_ERR_SHAPE, create(name, zero, one, most));
    refuse(TENON_ERR_ARG, create(name, zero, one, far));
    refuse(TENON_ERR_ARG, create(name, zero, zero, most));
    refuse(TENON_ERR_ARG, create(name, zero, zero, below));
  }
  refuse(TENON_ERR_SHAPE, TenonLinearOpCreateAllocate(memory, large, most, type, &op));
  refuse(TENON_ERR_ARG, TenonLinearOpCreateAllocate(memory, large, least, type, &op));
  expectSuccess(TenonLayoutDestroy(&memory));
  expectSuccess(TenonLayoutDestroy(&large));
}

TEST_F(Sizes, OfWindows) {
  const TenonInt two[] = {2}, most[] = {kMax}, nearly[] = {kMax - 8}, large[] = {TenonInt(1) << 59};
  TenonLayer layer = nullptr;
  const auto conv = [&] {
    expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, two, &layer));
    return layer;
  };
  expectSuccess(TenonObjectSetIntegers(objectOf(conv()), "dilation", 1, most));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), most, two));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), nearly, nearly));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 8});
  expectSuccess(TenonLayerSetPadding(conv(), large, large));
  refuseLayer(TENON_ERR_SHAPE, layer, {16, 1, 8});
  // A window of 2^64 cells that the padding makes room for.
  const TenonInt kernel[] = {TenonInt(1) << 32, TenonInt(1) << 32};
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "averagepooling", &layer));
  expectSuccess(TenonObjectSetIntegers(objectOf(layer), "kernel", 2, kernel));
  expectSuccess(TenonObjectSetBool(objectOf(layer), "include_padding", TENON_TRUE));
  expectSuccess(TenonLayerSetPadding(layer, kernel, nullptr));
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 1, 1, 1});
}

TEST_F(Sizes, OfParameters) {
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

TEST_F(Sizes, OfStrides) {
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

// A box of tiles is as large as numbers count; what is held of it, and of its halo, is not.
TEST_F(Sizes, OfLinkedPatches) {
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

TEST_F(Sizes, OfLists) {
  const TenonInt ids[] = {0};
  TenonIndexMap map = nullptr;
  for (const TenonInt count : {kMax, kMax - 1, TenonInt(1) << 60})
    expectCommonCode(TENON_ERR_ARG, TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 0, count, ids, &map),
                     {"the length of ids is"});
  EXPECT_EQ(map, nullptr);
}

TEST_F(Sizes, OfChannelsWithModes) {
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

// Settings near the greatest integer that meet extents.
TEST_F(Sizes, OfSettings) {
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
  // Every so many elements of which the first is the only one.
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
  // As many elements as 8, counted with 64 bits, which is 2^64 more.
  make("reshape", {{"shape", {TenonInt(1) << 31, TenonInt(1) << 33, 1}}});
  refuseLayer(TENON_ERR_SHAPE, layer, {1, 8});
  // Without elements any extents have as many.
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

// A list for each of many channels, each named many times: the last one holds.
TEST_F(Sizes, OfListsOfModes) {
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

TEST_F(Sizes, OfPartitions) {
  const int extents[] = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
  TenonPartition made = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreate(MPI_COMM_WORLD, 4, extents, &made), {});
  EXPECT_EQ(made, nullptr);
  const TenonInt matrix[] = {kMax, kMax, kMax, kMax};
  expectCommonCode(TENON_ERR_ARG, TenonPartitionCreatePlaced(MPI_COMM_WORLD, 2, 2, matrix, &made),
                   {});
  EXPECT_EQ(made, nullptr);
}

} // namespace
} // namespace tenon::test
