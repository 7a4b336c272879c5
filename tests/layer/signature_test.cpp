// SPDX-License-Identifier: BSD-2-Clause
// Signatures, the labels of a layer for each axis of the process grid: which one a layer chooses
// for an input, the layouts of parameters and output under a given one, and the messages of a
// convolution that is split in space, against numbers counted by hand.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

Properties outputOf(const Ref<Layer>& layer, const Layout& input) {
  layer->setUp(input);
  return layer->outputLayout(input).properties();
}

Ref<Layer> affineLayer() {
  return test::newAffine(world(), 6, 4);
}
Ref<Layer> convolutionLayer() {
  return test::newConv(world(), 4, 4, std::vector<Window>{{.kernel = 3}, {.kernel = 3}});
}
Ref<Layer> pooling(PoolingMode mode) {
  return test::newPooling(world(), mode, std::vector<Window>{{.kernel = 2}, {.kernel = 2}});
}

// A layer, its input shape and property, and the expected label and property of the output.
struct Choice {
  std::function<Ref<Layer>()> make;
  Shape shape;
  const char* input;
  const char* labels;
  const char* output;
};

const Shape kImage = {8, 4, 12, 12}, kMatrix = {8, 6};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = {
      {affineLayer, kMatrix, "S0", "n", "S0"},
      {affineLayer, kMatrix, "B", "o", "S1"}, // not the row B, which is after it in the table
      {affineLayer, kMatrix, "S1", "i", "P"},
      {affineLayer, kMatrix, "R", "R", "R"},
      {affineLayer, kMatrix, "P", "P", "P"},
      {convolutionLayer, kImage, "S0", "n", "S0"},
      {convolutionLayer, kImage, "S1", "i", "P"},
      {convolutionLayer, kImage, "S2", "h", "S2"},
      {convolutionLayer, kImage, "S3", "w", "S3"},
      {convolutionLayer, kImage, "B", "o", "S1"},
      {convolutionLayer, kImage, "R", "R", "R"},
      {convolutionLayer, kImage, "P", "P", "P"},
      {[] { return pooling(PoolingMode::Max); }, kImage, "S1", "c", "S1"},
      {[] { return pooling(PoolingMode::Max); }, kImage, "S3", "w", "S3"},
      {[] { return pooling(PoolingMode::Max); }, kImage, "B", "B", "B"},
      {[] { return pooling(PoolingMode::Max); }, kImage, "P", "n", "S0"}, // must be summed
      {[] { return pooling(PoolingMode::AverageIncludePad); }, kImage, "P", "P", "P"},
      {[] { return test::newPointwise(world(), "relu"); }, kImage, "S2", "S2", "S2"},
      {[] { return test::newPointwise(world(), "relu"); }, kImage, "P", "S0", "S0"},
      {[] { return test::newPointwise(world(), "scale"); }, kImage, "P", "P", "P"},
      {[] { return test::newPointwise(world(), "identity"); }, kImage, "P", "P", "P"},
      {[] { return test::newLayer(world(), "flatten"); }, kImage, "S1", "c", "S1"},
      {[] { return test::newLayer(world(), "flatten"); }, kImage, "S2", "n", "S0"},
      {[] { return test::newLayer(world(), "flatten"); }, kImage, "P", "P", "P"},
      {[] { return test::newDropout(world()); }, kImage, "S3", "S3", "S3"},
      {[] { return test::newDropout(world()); }, kImage, "P", "P", "P"},
  };
  return all;
}

TEST(Signatures, FollowTheInputByThemselves) {
  if (world()->size() == 1)
    GTEST_SKIP() << "on one process the output keeps the input's property";
  for (const Choice& c : choices()) {
    const auto layer = c.make();
    EXPECT_EQ(outputOf(layer, onWorld(c.shape, c.input)), parseProperties(c.output))
        << layer->describe();
    EXPECT_NE(layer->describe().find(std::string("signature ") + c.labels + ","), std::string::npos)
        << "expected " << c.labels << " in\n"
        << layer->describe();
  }
}

// Expects these layouts of weight, bias and output for a given label.
void expectForced(const std::function<Ref<Layer>()>& make, const Shape& shape,
                  const std::vector<std::array<const char*, 4>>& rows) {
  for (const auto& [label, weight, bias, output] : rows) {
    const auto layer = make();
    layer->setText("signature", label);
    EXPECT_EQ(outputOf(layer, onWorld(shape, "S0")), parseProperties(output)) << label;
    EXPECT_EQ(layer->parameters()[0]->storage().properties(), parseProperties(weight)) << label;
    EXPECT_EQ(layer->parameters()[1]->storage().properties(), parseProperties(bias)) << label;
  }
}

// Layouts of solvers have a grid axis for every dimension. Axes of one process do not change
// anything.
TEST(Signatures, KeepThePropertyOnAxesOfOneProcess) {
  const int n = world()->size();
  const Layout boxes = onWorld({2, 4, 3 * n, 5}, {1, 1, n, 1}, "S0,S1,S2,S3");
  for (const Ref<Layer>& layer :
       {convolutionLayer(), pooling(PoolingMode::Max), pooling(PoolingMode::AverageIncludePad)})
    EXPECT_EQ(outputOf(layer, boxes), boxes.properties()) << layer->type();
  const Layout rows = onWorld({2 * n, 6}, {n, 1}, "S0,S1");
  EXPECT_EQ(outputOf(affineLayer(), rows), rows.properties());
}

// With i and P the output has partial sums, to which one rank alone may add the bias: it is on the
// root (R).
TEST(Signatures, MayBeForced) {
  std::vector<std::array<const char*, 4>> rows = {{"n", "B", "B", "S0"}, {"o", "S0", "S0", "S1"},
                                                  {"i", "S1", "R", "P"}, {"B", "B", "B", "B"},
                                                  {"R", "R", "R", "R"},  {"P", "B", "R", "P"}};
  expectForced(affineLayer, kMatrix, rows);
  rows.push_back({"h", "B", "B", "S2"});
  rows.push_back({"w", "B", "B", "S3"});
  expectForced(convolutionLayer, kImage, rows);
}

// Sums and concatenations have a label for every property of the input.
TEST(Signatures, OfJointsAreAll) {
  for (const char* label : {"S0", "S1", "B", "R", "P"}) {
    const auto add = test::newLayer(world(), "add");
    const auto join = test::newConcatenate(world(), 1);
    for (Layer* layer : {static_cast<Layer*>(add.get()), static_cast<Layer*>(join.get())}) {
      layer->setText("signature", label);
      layer->setUp({onWorld(kMatrix, "S1"), onWorld(kMatrix, "R")});
      EXPECT_EQ(layer->outputLayout().properties(), parseProperties(label)) << layer->describe();
    }
  }
}

// Six channels in three groups: the channels are split between groups, whatever the input's split
// points are.
TEST(Signatures, SplitGroupsOfChannels) {
  const auto layer = test::newConv(world(), 6, 9, std::vector<Window>{{.kernel = 2}});
  layer->set("groups", Index(3));
  const Layout input = onWorld({2, 6, 5}, "S1");
  EXPECT_EQ(outputOf(layer, input), parseProperties("S1"));
  const Layout weight = layer->parameters()[0]->storage(), output = layer->outputLayout(input);
  EXPECT_EQ(weight.shape(), (Shape{9, 2, 2}));
  EXPECT_EQ(weight.properties(), parseProperties("S0"));
  EXPECT_EQ(layer->parameters()[1]->storage().properties(), parseProperties("S0"));
  EXPECT_EQ(output.cuts(1), weight.cuts(0));
  for (Index cut : output.cuts(1))
    EXPECT_EQ(cut % 3, 0);
}

TEST(Signatures, WantGroupsThatDivideTheChannels) {
  const auto layer = test::newConv(world(), 6, 8, {{.kernel = 2}});
  expectError(TENON_ERR_ARG, {"groups", "at least 1"}, [&] { layer->set("groups", Index(0)); });
  for (const Index groups : {3, 4}) {
    layer->set("groups", groups);
    test::expectErrorOnAll(TENON_ERR_ARG, {"groups", groups == 3 ? "8" : "6"}, [&] {
      layer->setUp(onWorld({2, 6, 5}, "B"));
    });
  }
  layer->set("groups", Index(2));
  layer->setUp(onWorld({2, 6, 5}, "B"));
}

TEST(Signatures, OfGroupsHaveNoOtherSplitOfChannels) {
  const auto layer = test::newConv(world(), 6, 9, std::vector<Window>{{.kernel = 2}});
  layer->set("groups", Index(3));
  for (const char* label : {"o", "i"}) {
    layer->setText("signature", label);
    test::expectErrorOnAll(TENON_ERR_OPTION, {label, "3 groups", "by g"}, [&] {
      layer->setUp(onWorld({2, 6, 5}, "B"));
    });
  }
  layer->setText("signature", "g");
  EXPECT_EQ(outputOf(layer, onWorld({2, 6, 5}, "B")), parseProperties("S1"));
}

TEST(Signatures, MixOnSeveralAxes) {
  const int channels = world()->size() % 2 == 0 ? 2 : 1;
  const std::vector<int> grid = {world()->size() / channels, channels};
  const auto layer = convolutionLayer();
  layer->setText("signature", "h, o"); // blanks are ignored
  const Layout input = onWorld(kImage, grid, "S0,B");
  EXPECT_EQ(outputOf(layer, input), parseProperties("S2,S1"));
  EXPECT_EQ(layer->parameters()[0]->storage().properties(), parseProperties("B,S0"));
  EXPECT_EQ(layer->parameters()[1]->storage().properties(), parseProperties("B,S0"));
}

// Hewett and Grady 2020, Table 1: the affine layers of LeNet-5 on a 2 x 2 partition of outputs and
// inputs. Positions 0 and 1 have the same outputs, each for a half of the inputs, and so have 2 and
// 3; the bias is added once, by the first of each two.
TEST(Signatures, GiveThePapersPartsOfLeNet5) {
  if (world()->size() < 4)
    GTEST_SKIP() << "needs four ranks";
  struct Row {
    Index inputs, outputs;
  };
  for (const Row& row : {Row{400, 120}, Row{120, 84}, Row{84, 10}}) {
    const auto layer = test::newAffine(world(), row.inputs, row.outputs);
    layer->setText("signature", "o,i");
    layer->setUp(Layout({.shape = {256, row.inputs},
                         .grid = Grid::make({2, 2}),
                         .properties = parseProperties("B,S1")}));
    const auto parameters = layer->parameters();
    for (int position = 0; position < 4; ++position) {
      EXPECT_EQ(extents(parameters[0]->storage().box(position)),
                (Shape{row.outputs / 2, row.inputs / 2}));
      EXPECT_EQ(extents(parameters[1]->storage().box(position)),
                (Shape{position % 2 == 0 ? row.outputs / 2 : 0}));
    }
  }
}

// Kernel 5, stride 1, padding 2: at each split point, each side needs two rows of the other, of all
// samples, channels and columns.
TEST(Signatures, SendTheHaloAndNothingElse) {
  constexpr Index kSamples = 3, kChannels = 2, kColumns = 7;
  const int ranks = world()->size(), rank = world()->rank();
  const auto layer =
      test::newConv(world(), kChannels, 4,
                    std::vector<Window>(2, Window{.kernel = 5, .padLow = 2, .padHigh = 2}));
  test::Step step(layer, onWorld({kSamples, kChannels, 4 * ranks, kColumns}, "S2"));
  step.apply();
  step.adjoint(); // parameters are converted now; later calls send the halo only
  auto counted = [](auto&& call) {
    logEnable(true);
    logReset();
    call();
    logEnable(false);
    EventRecord sum;
    for (const EventRecord& record : logSnapshot())
      if (record.event == "LayerApply" || record.event == "LayerAdjoint") {
        sum.messages += record.messages;
        sum.bytes += record.bytes;
      }
    return sum;
  };
  const Index neighbours = (rank > 0) + (rank + 1 < ranks);
  const Index bytes = neighbours * kSamples * kChannels * 2 * kColumns * Index(sizeof(double));
  const EventRecord forward = counted([&] { step.apply(); });
  EXPECT_EQ(forward.messages, neighbours);
  EXPECT_EQ(forward.bytes, bytes);
  const EventRecord backward = counted([&] { step.adjoint(); });
  EXPECT_EQ(backward.messages, neighbours);
  EXPECT_EQ(backward.bytes, bytes);
}

// Stride 2, kernel 2, no padding: blocks of even height need no element of each other.
TEST(Signatures, SendNothingWhereNoWindowCrossesACut) {
  const auto layer = test::newPooling(world(), PoolingMode::Max,
                                      std::vector<Window>(2, Window{.kernel = 2, .stride = 2}));
  layer->setUp(onWorld({2, 3, 4 * world()->size(), 6}, "S2"));
  EXPECT_EQ(layer->describe().find("used as"), std::string::npos) << layer->describe();
}

} // namespace
} // namespace tenon
