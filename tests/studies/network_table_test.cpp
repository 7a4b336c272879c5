// SPDX-License-Identifier: BSD-2-Clause
// Tests networks as tables of sizes (studies/network_table.hpp): the tables of the library
// against published numbers of weights, their consistency, and errors in damaged tables.
#include "studies/network_table.hpp"
#include "sys/expect_error.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

NetworkTable shipped(const std::string& name) {
  return readNetworkTable(TENON_TEST_TABLES "/" + name + ".json");
}

Index weightsIn(const NetworkTable& table) {
  Index sum = 0;
  for (const TableLayer& layer : table.layers)
    sum += layer.weights;
  return sum;
}

// The published numbers of parameters (Krizhevsky 2012, Simonyan 2015, He 2016, Cicek 2016),
// without biases and batch normalisation.
TEST(NetworkTable, ShippedTablesHaveThePublishedWeights) {
  EXPECT_EQ(weightsIn(shipped("alexnet")), 60'954'656);
  EXPECT_EQ(weightsIn(shipped("vgg16")), 138'344'128);
  EXPECT_EQ(weightsIn(shipped("resnet50")), 25'502'912);
  EXPECT_EQ(weightsIn(shipped("unet3d_256")), 22'571'968);
}

// A convolution in two groups has half of the weights; an edge between two layers
// moves at most the elements that the first one writes and the second one reads.
TEST(NetworkTable, ShippedTablesAreConsistent) {
  for (const char* name : {"alexnet", "vgg16", "resnet50", "unet3d_256"}) {
    const NetworkTable table = shipped(name);
    EXPECT_EQ(table.name, name);
    for (const TableLayer& layer : table.layers) {
      if (layer.kind == TableLayer::Kind::Add)
        continue;
      Index dense = layer.inChannels * layer.outChannels;
      for (std::size_t d = 0; d < layer.input.size(); ++d)
        dense *= layer.kernel;
      EXPECT_TRUE(dense == layer.weights || dense == 2 * layer.weights) << layer.name;
    }
    for (const TableEdge& edge : table.edges) {
      const TableLayer &from = table.layers[edge.from], &to = table.layers[edge.to];
      EXPECT_LE(edge.elements, to.inputElements()) << from.name << to.name;
      EXPECT_LE(edge.elements, from.outputElements()) << from.name << to.name;
    }
  }
}

// Convolutions have halos of half a kernel, and fully connected layers cannot be split in space.
TEST(NetworkTable, KindDecidesHaloAndSplitSpace) {
  const NetworkTable unet = shipped("unet3d_256");
  for (const TableLayer& layer : unet.layers)
    EXPECT_EQ(layer.halo(), layer.kernel == 3 ? 1 : 0) << layer.name;
  const NetworkTable resnet = shipped("resnet50");
  EXPECT_FALSE(resnet.layers.back().splitSpace);
  EXPECT_EQ(resnet.layers.front().halo(), 3);
}

std::string tableText(const std::string& layer, const std::string& edges = "") {
  return fmt::format("{{\"format\": \"tenon-network-table-1\", \"name\": \"x\", \"about\": \"y\", "
                     "\"split_dims\": 1, \"layers\": [{{\"name\": \"a\", \"kind\": \"conv\", "
                     "\"kernel\": 3, \"input\": [8], \"output\": [8], \"in_channels\": 1, "
                     "\"out_channels\": 2}}{}], \"edges\": [{}]}}",
                     layer, edges);
}

TEST(NetworkTable, DamagedTablesAreRefused) {
  const auto refused = [](std::initializer_list<const char*> parts, const std::string& text) {
    expectError(TENON_ERR_FORMAT, parts, [&] { parseNetworkTable(text, "net.json"); });
  };
  EXPECT_EQ(parseNetworkTable(tableText(""), "net.json").layers.size(), 1u);
  refused({"net.json", "format"}, "{\"format\": \"tenon-network-1\"}");
  refused({"net.json"}, tableText("").substr(0, 90));
  const std::string fc = ", {\"name\": \"b\", \"kind\": \"fc\", \"input\": [], \"output\": [], "
                         "\"in_channels\": 16, \"out_channels\": 2";
  EXPECT_EQ(parseNetworkTable(tableText(fc + "}"), "net.json").layers.size(), 2u);
  refused({"kernel"}, tableText(fc + ", \"kernel\": 3}"));
  refused({"unknown", "colour"}, tableText(fc + ", \"colour\": 3}"));
  refused({"weights", "-1"}, tableText(fc + ", \"weights\": -1}"));
  refused({"there is no layer 'c'"},
          tableText(fc + "}", "{\"from\": \"a\", \"to\": \"c\", \"elements\": 16}"));
  refused({"before its source"},
          tableText(fc + "}", "{\"from\": \"b\", \"to\": \"a\", \"elements\": 16}"));
  refused({"a layer 'a' already"},
          tableText(", {\"name\": \"a\", \"kind\": \"fc\", \"input\": [], \"output\": [], "
                    "\"in_channels\": 16, \"out_channels\": 2}"));
  refused({"expected one of conv, upconv, fc, add"},
          tableText(", {\"name\": \"b\", \"kind\": \"pool\"}"));
}

} // namespace
} // namespace tenon
