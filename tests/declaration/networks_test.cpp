// SPDX-License-Identifier: BSD-2-Clause
// Tests the networks in share/tenon/networks: the layers fit each other, and output shapes and
// numbers of parameters are those that the publications state. Layers are only declared, not run.
#include "declaration/core/network_file.hpp"
#include "declaration/core/types.hpp"
#include "sys/files/part_file.hpp"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

struct PublishedNetwork {
  const char* name;
  Shape input;
  Shape output;
  Index parameters;
};

// Sources: LeCun et al. 1998, all channels connected; Krizhevsky et al. 2012 with two groups;
// Simonyan and Zisserman 2015, D; He et al. 2016 as torchvision counts; Cicek et al. 2016; Li et
// al. 2021, Table 1; Rasp et al. 2018.
const PublishedNetwork kPublished[] = {
    {"lenet5", {1, 1, 28, 28}, {1, 10}, 61'706},
    {"alexnet", {1, 3, 227, 227}, {1, 1000}, 60'965'224},
    {"vgg16", {1, 3, 224, 224}, {1, 1000}, 138'357'544},
    {"resnet50", {1, 3, 224, 224}, {1, 1000}, 25'557'032},
    {"unet3d", {1, 3, 64, 64, 64}, {1, 3, 64, 64, 64}, 19'069'955},
    {"fno2d", {1, 12, 64, 64}, {1, 1, 64, 64}, 414'517},
    {"atmosphere_columns", {1, 94}, {1, 65}, 567'361}};

std::unique_ptr<Declaration> noForeignType(const std::string&) {
  return nullptr;
}

Layout alone(const Shape& shape) {
  return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

// Output shapes and parameters of a network without sub-networks, layer by layer.
class Walk {
public:
  Walk(const LayerDescription& network, const Shape& input) {
    for (const LayerDescription::Node& node : network.nodes) {
      Layouts inputs;
      for (const int from : node.reads)
        inputs.push_back(alone(from < 0 ? input : shapes_.at(from)));
      if (node.reads.empty())
        inputs.push_back(alone(shapes_.empty() ? input : shapes_.back()));
      const auto layer = makeDeclaration(node.layer.type);
      for (const auto& [name, value] : node.layer.settings)
        layer->set(name, value);
      const Form form = layer->form(inputs, {});
      for (const ParameterForm& parameter : form.parameters)
        parameters_ += elements(parameter.use.shape());
      shapes_.push_back(form.output.shape());
    }
  }
  const Shape& output() const { return shapes_.back(); }
  Index parameters() const { return parameters_; }

private:
  std::vector<Shape> shapes_;
  Index parameters_ = 0;
};

TEST(Networks, HaveThePublishedParameters) {
  for (const auto& [name, input, output, parameters] : kPublished) {
    const std::string file = std::string(TENON_TEST_NETWORKS "/") + name + ".json";
    const Walk walk(parseNetwork(readWholeFile(file, "network file"), file, noForeignType, 1),
                    input);
    EXPECT_EQ(walk.parameters(), parameters) << name;
    EXPECT_EQ(walk.output(), output) << name;
  }
}

} // namespace
} // namespace tenon::test
