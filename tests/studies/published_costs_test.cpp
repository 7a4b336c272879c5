// SPDX-License-Identifier: BSD-2-Clause
// Tests the cost equations of two papers for AlexNet. Expected seconds of an epoch of 1.2 million
// images were computed by an independent program and agree with the figures of the papers; other
// tests check relations between the equations, and small layers by hand.
#include "studies/published_costs.hpp"
#include "sys/expect_error.hpp"

#include <cmath>
#include <map>

namespace tenon {
namespace {

// The rates of the papers: seconds, and seconds for each byte.
constexpr T1Link kCori = {2e-6, 1.0 / 6e9};

NetworkTable alexNet() {
  return readNetworkTable(TENON_TEST_TABLES "/alexnet.json");
}

double epoch(double iteration, Index batch) {
  return iteration * 1.2e6 / double(batch);
}

// 001, Figure 6 (the same grid for all layers) and Figure 7 (batch alone for convolutions), P =
// 512.
TEST(PublishedCosts, Eq8OnAllGrids) {
  // Tolerances are half a unit of the last digit.
  const struct {
    Index rows;
    double uniform, convolutionsByBatch;
  } kRows[] = {{1, 47.697, 47.697}, {2, 25.737, 24.870}, {4, 17.527, 13.561}, {8, 18.958, 8.115},
               {16, 30.740, 5.806}, {32, 58.763, 5.479}, {64, 117.0, 6.967},  {512, 942.5, 37.157}};
  for (const auto& row : kRows) {
    const PaperGrid grid{row.rows, 512 / row.rows};
    EXPECT_NEAR(epoch(publishedCost("eq8", alexNet(), 2048, grid, grid, kCori), 2048), row.uniform,
                row.uniform > 100 ? 0.05 : 5e-4);
    EXPECT_NEAR(epoch(publishedCost("eq8", alexNet(), 2048, grid, {1, 512}, kCori), 2048),
                row.convolutionsByBatch, 5e-4);
  }
}

// 001, Figure 10: beyond the batch of 512.
TEST(PublishedCosts, Eq9AgainstEq8BeyondTheBatch) {
  const std::map<Index, std::pair<double, double>> kRows = {
      {2, {99.63, 96.76}}, {4, {54.03, 49.79}}, {8, {31.27, 26.36}}};
  for (const auto& [rows, seconds] : kRows) {
    const PaperGrid grid{rows, 512};
    EXPECT_NEAR(epoch(publishedCost("eq9", alexNet(), 512, grid, grid, kCori), 512), seconds.first,
                5e-3);
    EXPECT_NEAR(epoch(publishedCost("eq8", alexNet(), 512, grid, grid, kCori), 512), seconds.second,
                5e-3);
  }
}

// 003, Figure 5: the best grid of 512 processes is 4 x 128, 2.24 times as fast as batch alone.
TEST(PublishedCosts, Eq4Of003IsBestOn4By128) {
  std::map<double, Index> byTime;
  for (Index rows = 1; rows <= 512; rows *= 2)
    byTime[eq4Of003(alexNet().layers, 2048, {rows, 512 / rows}, kCori)] = rows;
  EXPECT_EQ(byTime.begin()->second, 4);
  EXPECT_NEAR(eq4Of003(alexNet().layers, 2048, {1, 512}, kCori) / byTime.begin()->first, 2.24,
              5e-3);
}

// Eq. 8 on 1 x P is Eq. 4, on P x 1 Eq. 3; Eq. 9 of no convolution is Eq. 8 with all terms of the
// first layer.
TEST(PublishedCosts, Eq8ContainsEq3AndEq4) {
  const TableLayers layers = alexNet().layers;
  const auto grids = [&](const PaperGrid& grid) {
    return std::vector<PaperGrid>(layers.size(), grid);
  };
  for (Index p : {1, 2, 6, 512}) {
    EXPECT_DOUBLE_EQ(eq8(layers, 2048, grids({1, p}), kCori), eq4(layers, p, kCori));
    EXPECT_DOUBLE_EQ(eq8(layers, 2048, grids({p, 1}), kCori), eq3(layers, 2048, p, kCori));
  }
  const TableLayers affine(layers.begin() + 5, layers.end());
  const PaperGrid grid{4, 128};
  EXPECT_NEAR(eq9(affine, 2048, grid, kCori) - eq8(affine, 2048, {grid, grid, grid}, kCori),
              2 * (2e-6 * 2 + 4.0 / 6e9 * 2048 / 128 * 0.75 * 9216), 1e-15);
}

// The batch below which model parallelism moves less: 9.09 for conv3 and 6.82 for conv4 of AlexNet.
TEST(PublishedCosts, Eq5IsTheRatioOfVolumes) {
  const TableLayers layers = alexNet().layers;
  EXPECT_NEAR(eq5(layers[2], 1), 9.09, 5e-3);
  EXPECT_NEAR(eq5(layers[3], 1), 6.82, 5e-3);
  EXPECT_DOUBLE_EQ(eq5(layers[2], 10), eq5(layers[2], 1) / 10);
  TableLayer whole = layers[3]; // without groups
  whole.weights *= 2;
  EXPECT_NEAR(eq5(whole, 1), 2 * 9 * 384 / 507.0, 1e-9); // 13.6
}

TEST(PublishedCosts, Eq6AndEq7ByHand) {
  TableLayer layer{.name = "c",
                   .kernel = 5,
                   .input = {6, 10},
                   .output = {3, 5},
                   .inChannels = 2,
                   .outChannels = 7,
                   .weights = 350};
  const T1Link link{1.0, 0.25}; // 1 s for an element
  EXPECT_DOUBLE_EQ(eq6(layer, 4, 3, link), 2 + 4.0 * 2 / 3 * 105);
  // Halos of two rows: 4 (10 x 2) 2 and 4 (5 x 7) 2 elements; sums of 350 weights among 4.
  EXPECT_DOUBLE_EQ(eq7({layer}, 4, 4, link), (1 + 160) + (1 + 280) + 2 * (2 + 0.75 * 350));
}

// The forward pass on 2 x 4: an all-gather of Y; with W of 6 x 8 stationary, and with Y.
TEST(PublishedCosts, TheForwardPassIsNeverFasterInTwoDimensions) {
  TableLayer layer{.name = "f",
                   .kind = TableLayer::Kind::Affine,
                   .input = {},
                   .output = {},
                   .inChannels = 8,
                   .outChannels = 6,
                   .weights = 48};
  const T1Link link{0.0, 0.25}; // 1 s for an element
  const PaperGrid grid{2, 4};
  EXPECT_DOUBLE_EQ(forward15d({layer}, 40, grid, link), 0.5 * 40 * 6 / 4.0);
  EXPECT_DOUBLE_EQ(forward2d({layer}, 40, grid, link), 0.75 * 48 / 2 + 0.5 * 40 * 8 / 4.0);
  EXPECT_DOUBLE_EQ(forward2d({layer}, 2, grid, link), 2 * 0.75 * 2 * 8 / 2 + 0.5 * 2 * 6 / 4.0);
  // Where d_i = d_(i-1), as the paper assumes, and on all grids of 512.
  layer.outChannels = 8;
  layer.weights = 64;
  for (Index batch : {1, 8, 64, 4096})
    for (Index rows = 1; rows <= 512; rows *= 2)
      EXPECT_LE(forward15d({layer}, batch, {rows, 512 / rows}, link),
                forward2d({layer}, batch, {rows, 512 / rows}, link));
}

TEST(PublishedCosts, RefusesOtherNamesAndGrids) {
  const auto refused = [](const char* name, const PaperGrid& grid, const char* part) {
    expectError(TENON_ERR_ARG, {part},
                [&] { publishedCost(name, alexNet(), 8, grid, grid, kCori); });
  };
  refused("eq1", {1, 8}, "known are: eq3, eq4, eq7, eq8, eq9, eq4_003, forward_1.5d, forward_2d");
  refused("eq8", {0, 8}, "both must be >= 1");
  refused("eq4", {2, 4}, "one extent must be 1");
  EXPECT_DOUBLE_EQ(publishedCost("eq4", alexNet(), 8, {8, 1}, {8, 1}, kCori),
                   eq4(alexNet().layers, 8, kCori));
}

} // namespace
} // namespace tenon
