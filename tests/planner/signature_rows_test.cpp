// SPDX-License-Identifier: BSD-2-Clause
// Tests the translation of parallelizations into signatures
// (planner/parallelizations/signature_rows.hpp). For all parallelizations of all layers of shipped
// networks, the signature that is read from the text of a parallelization is the one that the cost
// model has priced. Some texts are written out by hand.
#include "declaration/core/types.hpp"
#include "planner/prices/own_model.hpp"
#include "studies/named_plan.hpp"
#include "support/draws.hpp"
#include "sys/expect_error.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

// Checks all legal parallelizations of all layers, on the grid of the processes and on that of a
// field.
void expectSignatures(const DeclaredNetwork& network, const FineGrid& grid, OwnTask task) {
  const OwnModel model(network, grid, {}, std::move(task));
  int parallelizations = 0;
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    for (int parallelization = 0; parallelization < model.parallelizationCount();
         ++parallelization) {
      if (!model.fault(layer, parallelization).empty())
        continue;
      ++parallelizations;
      const std::string text = withoutBalanced(model.text(layer, parallelization));
      if (const std::string field = fieldIn(text); !field.empty())
        ASSERT_EQ(
            fieldText(field, model.signature(layer, parallelization), Grid({2, 2}, {0, 1, 2, 3})),
            text);
      else
        ASSERT_EQ(signatureOf(text, network.layers[layer], grid),
                  model.signature(layer, parallelization))
            << network.layers[layer].name << " " << text;
    }
  EXPECT_GT(parallelizations, 0);
}

DeclaredNetwork shipped(const char* name, const Shape& input) {
  return declareNetwork(
      *readNetworkSource(fmt::format(TENON_TEST_NETWORKS "/{}.json", name)).layers, input);
}

TEST(SignatureRows, SignaturesOfParallelizationsAreThoseThatWerePriced) {
  const struct {
    const char* name;
    Shape input;
  } kCases[] = {{"lenet5", {16, 1, 28, 28}},
                {"alexnet", {16, 3, 227, 227}},
                {"resnet50", {16, 3, 64, 64}},
                {"unet3d", {4, 3, 32, 32, 32}}};
  for (const auto& one : kCases) {
    const DeclaredNetwork network = shipped(one.name, one.input);
    for (const std::vector<Index>& levels :
         test::drawsAll() ? std::vector<std::vector<Index>>{{1}, {2}, {6}, {2, 8}}
                          : std::vector<std::vector<Index>>{{2, 3}}) {
      expectSignatures(network, FineGrid(levels), {});
      expectSignatures(network, FineGrid(levels).reversed(), {});
    }
    const Index rank = static_cast<Index>(one.input.size());
    const Layout field({.shape = one.input,
                        .grid = Grid::make({2, 2}),
                        .properties = {Property::shard(static_cast<int>(rank) - 2),
                                       Property::shard(static_cast<int>(rank) - 1)}});
    expectSignatures(network, FineGrid({4}), {.input = field});
  }
}

// Groups have a label of their own.
TEST(SignatureRows, NamesGroupsAndSums) {
  DeclaredNetwork network = shipped("lenet5", {8, 1, 28, 28});
  DeclaredLayer& conv = network.layers[1]; // C3
  EXPECT_EQ(signatureOf("n,o,h", conv, FineGrid({8})), "n,o,h");
  EXPECT_EQ(signatureOf("hw3-", conv, FineGrid({8})), "h-,w-,h-");
  EXPECT_EQ(signatureOf("n,i2", conv, FineGrid({8})), "n,i,i");
  EXPECT_EQ(fieldText("input", "h,w", *Grid::make({4, 2})), "input:h,w");
  EXPECT_EQ(fieldText("input", "n,o,h,w", *Grid::make({1, 1, 4, 2})), "input:h,w");
  EXPECT_EQ(fieldText("output", "n,o", *Grid::make({1, 1})), "output:all");
  EXPECT_EQ(fieldIn("input:h,w"), "input");
  EXPECT_EQ(fieldIn("n,o"), "");
  const auto grouped = std::shared_ptr<Declaration>(makeDeclaration("conv"));
  grouped->set("in_channels", conv.declaration->get("in_channels"));
  grouped->set("out_channels", conv.declaration->get("in_channels"));
  grouped->set("kernel", conv.declaration->get("kernel"));
  grouped->set("groups", conv.declaration->get("in_channels"));
  conv.declaration = grouped;
  EXPECT_EQ(signatureOf("n,g2", conv, FineGrid({8})), "n,g,g");
  expectError(TENON_ERR_OPTION, {"C3", "'n,o2'", "3 axes"},
              [&] { signatureOf("n,o2", conv, FineGrid({8})); });
}

TEST(SignatureRows, RefusesParallelizationsThatALayerCannotHave) {
  const DeclaredNetwork network = shipped("lenet5", {8, 1, 28, 28});
  const DeclaredLayer& conv = network.layers.front();
  for (const char* parallelization : {"", "x,y,z", "n4", "n,n,n", "h,n2", "n3,"})
    expectError(TENON_ERR_OPTION, {conv.name.c_str(), parallelization, "3 axes"},
                [&] { signatureOf(parallelization, conv, FineGrid({8})); });
}

} // namespace
} // namespace tenon
