// SPDX-License-Identifier: BSD-2-Clause
// Tests layouts as JSON: random layouts are written and read back, default values are omitted, and
// wrong texts are errors with the file and the byte.
#include "geometry/layout/layout_json.hpp"

#include "support/random_layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

Layout readAs(const std::string& text, const Shape& shape, const GridPtr& grid) {
  const std::string file = "layout.json";
  const JsonNode tree = parseJson(text, file);
  return layoutFrom(JsonView(tree, file), shape, grid);
}

// Uneven, empty and shared parts, split in any order, on grids of any ranks.
TEST(LayoutJson, ReadsEveryLayoutAsItWasWritten) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    test::LayoutDraw draw(seed);
    const Shape shape = draw.shape(1, 4, 9);
    const Layout layout =
        draw.layout(shape, draw.grid(12, 4), /*haloPercent=*/0, /*coveringHalos=*/true);
    const Layout read = readAs(jsonOf(layout).dump(), shape, layout.gridPtr());
    ASSERT_EQ(read, layout) << layout.describe() << "\n" << jsonOf(layout).dump();
    ASSERT_EQ(read.properties(), layout.properties());
  }
}

TEST(LayoutJson, IsShortForDefaults) {
  const Layout layout(
      {.shape = {65536, 3}, .grid = Grid::make({64, 64}), .properties = parseProperties("S0,S0")});
  EXPECT_EQ(jsonOf(layout).dump(), R"({"properties":"S0,S0"})");
  LayoutSpec turned = layout.spec();
  turned.splitAxes[0] = {1, 0};
  EXPECT_EQ(jsonOf(Layout(turned)).dump(), R"({"properties":"S0,S0","split_axes":[[1,0],[]]})");
}

TEST(LayoutJson, RefusesInvalidValues) {
  const GridPtr grid = Grid::make({2, 2});
  for (const auto& [text, why] : {std::pair{R"({"properties": "S0"})", "2 axes"},
                                  {R"({"properties": "S0,S7"})", "S7"},
                                  {R"({"properties": "S0,X"})", "X"},
                                  {R"({"properties": 3})", "expected a text"},
                                  {R"({"cuts": [[], []]})", "properties"},
                                  {R"({"properties": "S0,S1", "cuts": [[0, 9, 8], []]})", "0,9,8"},
                                  {R"({"properties": "S0,S1", "cuts": [[0, 4, 8]]})", "dimensions"},
                                  {R"({"properties": "S0,S1", "cuts": [["a"], []]})", "cuts[0][0]"},
                                  {R"({"properties": "S0,S0", "split_axes": [[0], []]})", "axes"},
                                  {R"({"properties": "S0,S0", "split_axes": [[0, 5], []]})", "5"},
                                  {R"({"properties": "S0,S0", "split_axes": [3]})", "split_axes"}})
    expectError(TENON_ERR_FORMAT, {"layout.json", "byte", why}, [&, text = text] {
      readAs(text, {8, 6}, grid);
    });
  LayoutSpec halo{.shape = {8}, .grid = grid, .properties = parseProperties("S0,B")};
  halo.halos = {Halo{.boxes = {{0, 5}, {3, 8}}}};
  expectError(TENON_ERR_SUPPORT, {"halos"}, [&] { jsonOf(Layout(halo)); });
}

} // namespace
} // namespace tenon
