// SPDX-License-Identifier: BSD-2-Clause
// Layers that cannot be set up: each case must throw on all ranks the same error, which names the
// layer, the setting or shape that does not fit, and a remedy. At least one case for every type,
// and labels and grids that a type does not support.
#include "kernels/base/backend.hpp"
#include "layer_run.hpp"

#include <set>

namespace tenon {
namespace {

using test::world;
using Numbers = std::vector<Index>;
using Settings = std::vector<std::pair<const char*, SettingValue>>;

// A layer that must be refused: type, settings, input shapes, error code, and parts of the error's
// text.
struct Refusal {
  const char* type;
  Settings settings;
  std::vector<Shape> inputs;
  TenonErrorCode code;
  std::vector<const char*> words;
};

const Numbers kThree{3, 3}, kOne{1, 1}, kTwo{2, 2};
const Shape kRefusedImage{2, 4, 6, 6};
const std::string kGauss = "gauss", kCells = "cells";

// clang-format off
const Refusal kRefusals[] = {
    {"conv", {{"in_channels", Index(4)}, {"out_channels", Index(6)}, {"kernel", kThree}, {"groups", Index(4)}},
     {kRefusedImage}, TENON_ERR_ARG, {"groups, 4,", "must divide", "4 input and 6 output"}},
    {"rows", {}, {{7}}, TENON_ERR_SHAPE, {"makes rows of a field", "[7]"}},
    {"conv", {{"in_channels", Index(3)}, {"out_channels", Index(6)}, {"kernel", kThree}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"has 4 channels", "needs 3"}},
    {"conv", {{"in_channels", Index(4)}, {"out_channels", Index(6)}, {"kernel", Numbers{9, 9}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"6", "9", "padding"}},
    {"transposedconv", {{"in_channels", Index(4)}, {"out_channels", Index(6)}, {"kernel", kThree}, {"groups", Index(4)}},
     {kRefusedImage}, TENON_ERR_ARG, {"groups, 4,", "must divide", "4 input and 6 output"}},
    {"transposedconv", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"kernel", kThree}, {"output_padding", Numbers{1}}},
     {kRefusedImage}, TENON_ERR_ARG, {"output padding", "is 1", "below the stride, 1"}},
    {"affine", {{"inputs", Index(5)}, {"outputs", Index(3)}}, {{2, 4}}, TENON_ERR_SHAPE, {"[2,4]", "5"}},
    {"prelu", {{"channels", Index(5)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[batch,5,...]"}},
    {"channelaffine", {{"channels", Index(5)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[batch,5,...]"}},
    {"spectralconv", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"modes", Numbers{4, 2}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"keeps 4 modes", "has at most 3", "set modes to fewer"}},
    {"spectralconv", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"modes", Numbers{1}}},
     {{2, 4, 0}}, TENON_ERR_SHAPE, {"keeps 1 mode in", "extent of 0 has at most 0"}},
    {"sht", {{"degrees", Index(4)}},
     {{2, 4, 6}}, TENON_ERR_SHAPE, {"[2,4,6]", "[batch, channel, rows, columns]"}},
    {"sht", {{"degrees", Index(181)}, {"orders", Index(5)}},
     {{1, 1, 180, 8}}, TENON_ERR_SHAPE, {"degrees 181 on 180 rows", "at most 180"}},
    {"sht", {{"degrees", Index(180)}, {"grid", std::string("poles")}},
     {{1, 1, 180, 360}}, TENON_ERR_SHAPE, {"degrees 180 on 180 rows", "'poles'", "at most 179"}},
    {"sht", {{"degrees", Index(6)}, {"orders", Index(5)}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"orders 5 > columns / 2 + 1 = 4", "6 columns"}},
    {"sht", {{"degrees", Index(3)}, {"orders", Index(4)}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"orders 4 > degrees 3"}},
    {"sht", {{"degrees", Index(1)}, {"grid", std::string("poles")}},
     {{1, 1, 1, 4}}, TENON_ERR_SHAPE, {"has 1 row", "at least 2 rows"}},
    {"inversesht", {{"degrees", Index(4)}, {"orders", Index(3)}, {"size", Numbers{6, 12}}},
     {{1, 1, 4, 4, 2}}, TENON_ERR_SHAPE, {"4 orders and 4 degrees", "sets 3 and 4"}},
    {"inversesht", {{"degrees", Index(4)}, {"size", Numbers{6, 12}}},
     {{1, 1, 4, 4, 3}}, TENON_ERR_SHAPE, {"[1,1,4,4,3]", "real and imaginary part last"}},
    {"inversesht", {{"degrees", Index(4)}, {"size", Numbers{6}}},
     {{1, 1, 4, 4, 2}}, TENON_ERR_ARG, {"has 1 number", "rows and columns"}},
    {"sphericalconv", {{"in_channels", Index(3)}, {"out_channels", Index(4)},
      {"degrees", Index(4)}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[batch,3,rows,columns]"}},
    {"sphericalconv", {{"in_channels", Index(4)}, {"out_channels", Index(6)},
      {"groups", Index(4)}, {"degrees", Index(4)}},
     {kRefusedImage}, TENON_ERR_ARG, {"groups, 4,", "4 input and 6 output"}},
    {"sphericalconv", {{"in_channels", Index(4)}, {"out_channels", Index(4)},
      {"degrees", Index(4)}, {"size", Numbers{3, 8}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"degrees 4 on 3 rows"}},
    {"sphericalconv", {{"in_channels", Index(4)}, {"out_channels", Index(4)},
      {"degrees", Index(4)}, {"output_grid", std::string("cubed")}},
     {kRefusedImage}, TENON_ERR_ARG, {"'cubed'", "gauss, poles or cells"}},
    {"disco", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"kernel", Numbers{3}},
      {"size", Numbers{6, 4}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"6 columns to 4", "the input's must be a multiple"}},
    {"transposeddisco", {{"in_channels", Index(4)}, {"out_channels", Index(4)},
      {"kernel", Numbers{3}}, {"size", Numbers{6, 9}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"6 columns to 9", "the output's must be a multiple"}},
    {"disco", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"kernel", Numbers{3, 2}},
      {"basis", std::string("zernike")}},
     {kRefusedImage}, TENON_ERR_ARG, {"has 2 numbers", "number of degrees"}},
    {"disco", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"kernel", Numbers{3}},
      {"cutoff", 13.0}},
     {kRefusedImage}, TENON_ERR_ARG, {"cutoff of", "is 13", "up to 4 pi"}},
    {"disco", {{"in_channels", Index(4)}, {"out_channels", Index(4)}, {"kernel", Numbers{3}},
      {"size", Numbers{1, 6}}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"one row of latitude", "set cutoff"}},
    {"crps", {{"members", Index(3)}}, {{4, 2}}, TENON_ERR_SHAPE, {"[4,2]", "has 3 members"}},
    {"crps", {{"members", Index(1)}}, {{4, 2}}, TENON_ERR_ARG, {"1 member", "set alpha to 0"}},
    {"crps", {{"members", Index(2)}, {"alpha", 1.5}},
     {{4, 2}}, TENON_ERR_ARG, {"is 1.5", "from 0 to 1"}},
    {"crossentropy", {{"area", kGauss}, {"area_dim", Index(1)}}, {kRefusedImage},
     TENON_ERR_SHAPE, {"latitudes in dimension 1", "dimension 1 counts classes", "set area_dim"}},
    {"crossentropy", {{"area", kGauss}}, {{2, 3, 4}},
     TENON_ERR_SHAPE, {"longitudes in dimension 1", "dimension 1 counts classes"}},
    {"crossentropy", {{"area", kGauss}, {"area_dim", Index(0)}}, {kRefusedImage},
     TENON_ERR_SHAPE, {"latitudes in dimension 0", "counts samples"}},
    {"crossentropy", {{"area", kGauss}}, {{2, 4}}, TENON_ERR_SHAPE, {"[2,4]", "set area_dim"}},
    {"degreeproduct", {{"filter", std::string("laplacian")}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "real and imaginary part last"}},
    {"constant", {{"shape", Numbers(9, 1)}}, {kRefusedImage}, TENON_ERR_ARG, {"the shape", "[1,1,1,1,1,1,1,1,1]", "at most 8"}},
    {"coordinates", {}, {{2, 4}}, TENON_ERR_SHAPE, {"[2,4]", "1 to 3 spatial dimensions"}},
    {"coordinates", {{"points", std::string("corners")}}, {kRefusedImage}, TENON_ERR_TYPE, {"corners", "cells", "nodes", "periodic"}},
    {"columnmlp", {{"widths", Numbers{5, 2}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"4", "5"}},
    {"attention", {}, {{2, 3, 4}, {2, 5, 3}, {2, 5, 4}}, TENON_ERR_SHAPE, {"queries [...,m,e]", "[2,3,4]", "[2,5,3]"}},
    {"matmul", {}, {{2, 3, 4}, {2, 5, 4}}, TENON_ERR_SHAPE, {"[...,m,k] and [...,k,n]", "[2,3,4]", "[2,5,4]"}},
    {"maxpooling", {{"kernel", Numbers{7, 7}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"6", "7", "padding"}},
    {"averagepooling", {{"kernel", Numbers{2, 2, 2}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "3"}},
    {"collocate", {{"faces", std::string("all,lower")}, {"boundary", std::string("none")}}, {kRefusedImage}, TENON_ERR_ARG, {"no last face in spatial dimension 1", "all,lower", "set boundary"}},
    {"collocate", {{"faces", std::string("all,all,all")}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "3"}},
    {"stagger", {{"faces", std::string("all,both")}}, {kRefusedImage}, TENON_ERR_ARG, {"all,both", "none, all, lower or upper"}},
    {"globalaveragepooling", {{"area", kGauss}, {"area_dim", Index(1)}}, {kRefusedImage},
     TENON_ERR_SHAPE, {"latitudes in dimension 1", "from 2 on"}},
    {"globalaveragepooling", {}, {{2, 4, 0, 6}}, TENON_ERR_SHAPE, {"[2,4,0,6]", "at least 1 element"}},
    {"adaptiveaveragepooling", {{"size", Numbers{2, 2, 2}}}, {kRefusedImage}, TENON_ERR_ARG, {"size", "3", "2"}},
    {"resample", {}, {kRefusedImage}, TENON_ERR_STATE, {"neither a size nor a scale_factor", "set one"}},
    {"resample", {{"size", kThree}, {"align_corners", true}}, {kRefusedImage}, TENON_ERR_ARG, {"aligns corners", "linear"}},
    {"pad", {{"padding", kOne}}, {{2, 4, 6}}, TENON_ERR_SHAPE, {"[2,4,6]", "2"}},
    {"crop", {{"offset", kThree}, {"size", Numbers{4, 4}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"4 elements from 3", "smaller size or offset"}},
    {"slice", {{"dim", Index(4)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"dimension 4", "[2,4,6,6]", "set dim"}},
    {"transpose", {{"permutation", Numbers{0, 2, 1}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "3 dimensions", "permutation"}},
    {"transpose", {{"permutation", Numbers{0, 2, 2, 1}}}, {kRefusedImage}, TENON_ERR_ARG, {"0,2,2,1", "from 0 to 3 once"}},
    {"batchnorm", {{"channels", Index(3)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[batch,3,...]"}},
    {"instancenorm", {{"channels", Index(4)}, {"area", kGauss}, {"area_dim", Index(1)}},
     {kRefusedImage}, TENON_ERR_SHAPE, {"latitudes in dimension 1", "from 2 on"}},
    {"instancenorm", {{"channels", Index(3)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[batch,3,...]"}},
    {"groupnorm", {{"channels", Index(4)}, {"groups", Index(3)}}, {kRefusedImage}, TENON_ERR_ARG, {"groups, 3,", "must divide the 4 channels"}},
    {"layernorm", {{"shape", Numbers{6, 5}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[...,6,5]"}},
    {"layernorm", {{"shape", Numbers{4, 5}}, {"dim", Index(1)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"[2,4,6,6]", "[4,5] from dimension 1 on"}},
    {"multiply", {}, {kRefusedImage, {2, 4, 6}}, TENON_ERR_SHAPE, {"equal shape", "[2,4,6,6]", "[2,4,6]"}},
    {"softmax", {{"dim", Index(4)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"dimension 4", "[2,4,6,6]", "set dim"}},
    {"concatenate", {{"dim", Index(4)}}, {kRefusedImage, kRefusedImage}, TENON_ERR_SHAPE, {"dimension 4", "[2,4,6,6]", "set dim"}},
    {"concatenate", {{"dim", Index(1)}}, {kRefusedImage, {2, 4, 6, 5}}, TENON_ERR_SHAPE, {"except in dimension 1", "[2,4,6,5]"}},
    {"add", {}, {kRefusedImage, {2, 4, 6, 5}}, TENON_ERR_SHAPE, {"equal shape", "[2,4,6,5]"}},
    {"subtract", {}, {kRefusedImage, {2, 3, 1, 1}}, TENON_ERR_SHAPE, {"equal shape", "extents of 1", "[2,3,1,1]"}},
    {"divide", {}, {kRefusedImage, {4, 6, 6}}, TENON_ERR_SHAPE, {"equal shape", "[2,4,6,6]", "[4,6,6]"}},
    {"clamp", {}, {kRefusedImage}, TENON_ERR_STATE, {"neither a low nor a high", "set one"}},
    {"reshape", {{"shape", Numbers{2, -1, 7}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"288 elements", "[2,4,6,6]", "[2,-1,7]"}},
    {"reshape", {{"shape", Numbers{-1, -1}}}, {kRefusedImage}, TENON_ERR_ARG, {"[-1,-1]", "one at most is -1"}},
    {"compare", {}, {kRefusedImage, {2, 3, 6, 6}}, TENON_ERR_SHAPE, {"equal shape", "[2,3,6,6]"}},
    {"where", {}, {kRefusedImage, kRefusedImage, {2, 4}}, TENON_ERR_SHAPE, {"equal shape", "input 2", "[2,4]"}},
    {"reduce", {{"dims", Numbers{3}}, {"area", kGauss}}, {kRefusedImage},
     TENON_ERR_ARG, {"latitudes in dimension 2", "reduces dimensions 3"}},
    {"reduce", {{"dims", Numbers{2}}, {"area", kCells}, {"method", std::string("max")}},
     {kRefusedImage}, TENON_ERR_ARG, {"maximum", "area to none"}},
    {"reduce", {{"dims", Numbers{2}}, {"area", kCells}, {"area_dim", Index(7)}}, {kRefusedImage},
     TENON_ERR_SHAPE, {"latitudes in dimension 7", "[2,4,6,6]", "set area_dim"}},
    {"reduce", {{"dims", Numbers{1, 4}}}, {kRefusedImage}, TENON_ERR_SHAPE, {"dimension 4", "[2,4,6,6]", "set dims"}},
    {"reduce", {{"dims", Numbers{1}}}, {{2, 0, 4}}, TENON_ERR_SHAPE, {"[2,0,4]", "at least 1 element in dimension 1"}},
    {"reduce", {{"dims", Numbers{1, 1}}}, {kRefusedImage}, TENON_ERR_ARG, {"[1,1]", "each once"}},
    {"reduce",
     {{"dims", Numbers{1}}, {"method", std::string("max")}, {"ties", std::string("first")}},
     {{1, Index(1) << 25}}, TENON_ERR_SUPPORT, {"33554432 elements", "16777216", "set ties to"}},
    {"pixelshuffle", {{"upscale", Index(3)}}, {kRefusedImage}, TENON_ERR_SHAPE, {"one channel of 9", "[2,4,6,6]", "has 4"}},
    {"crossentropy", {}, {{4}}, TENON_ERR_SHAPE, {"[4]", "[samples,classes,space...]"}},
    {"meansquarederror", {}, {{0, 4}}, TENON_ERR_SHAPE, {"[0,4]", "at least 1 element"}},
    {"meanabsoluteerror", {}, {{0, 4}}, TENON_ERR_SHAPE, {"[0,4]", "at least 1 element"}},
    {"huber", {}, {{0, 4}}, TENON_ERR_SHAPE, {"[0,4]", "at least 1 element"}},
    {"relativel2", {}, {{0, 4}}, TENON_ERR_SHAPE, {"[0,4]", "at least 1 element"}},
    {"gradientpenalty", {}, {{2, 4}}, TENON_ERR_SHAPE, {"[2,4]", "1 to 3 spatial dimensions"}},
    {"gradientpenalty", {{"spacing", std::string("0.1,0.2,0.3")}}, {kRefusedImage}, TENON_ERR_ARG, {"3 numbers", "2 spatial dimensions", "one each"}},
};
// clang-format on

Layouts onWorld(const std::vector<Shape>& shapes) {
  Layouts layouts;
  for (const Shape& shape : shapes)
    layouts.push_back(test::onWorld(shape, "B"));
  return layouts;
}

// The error of a set-up, which must be the same on all ranks.
Error errorOf(Layer& layer, const Layouts& inputs) {
  try {
    layer.setUp(inputs);
  } catch (const Error& error) {
    EXPECT_TRUE(error.isAgreed() || world()->size() == 1) << error.text();
    return error;
  }
  return Error(TENON_SUCCESS, "no error");
}

// Expects an error with this code and these parts in its text when the layer is set up.
void expectRefused(Layer& layer, const Layouts& inputs, TenonErrorCode code,
                   const std::vector<const char*>& words) {
  const Error error = errorOf(layer, inputs);
  EXPECT_EQ(error.code(), code) << layer.type() << ": " << error.text();
  EXPECT_NE(error.text().find("asked"), std::string::npos)
      << layer.type() << " is not named: " << error.text();
  for (const char* word : words)
    EXPECT_NE(error.text().find(word), std::string::npos)
        << layer.type() << ": '" << word << "' is missing in: " << error.text();
  EXPECT_FALSE(layer.isSetUp());
}

// Creates a layer with these settings. Some errors are thrown when a setting is set that
// contradicts earlier ones, others in SetUp.
Ref<Layer> named(const std::string& type, const Settings& settings) {
  const auto layer = test::newLayer(world(), type);
  layer->setName("asked");
  for (const auto& [name, value] : settings)
    try {
      layer->specify(name, [&, name = name, value = value] { layer->set(name, value); });
    } catch (const Error&) {
    }
  return layer;
}

TEST(Refusals, NameLayerAndRemedy) {
  for (const Refusal& r : kRefusals)
    expectRefused(*named(r.type, r.settings), onWorld(r.inputs), r.code, r.words);
}

TEST(Refusals, CoverEveryType) {
  // Types with lists of a mesh are tested in mesh_faults_test.cpp.
  std::set<std::string> covered = {"dropout",       "flatten",  "repartition", "sequential",
                                   "graph",         "gather",   "segmentsum",  "sparsematrix",
                                   "edgeattention", "indexmap", "linkedhalo",  "stopgradient"};
  for (const Refusal& r : kRefusals)
    covered.insert(r.type);
  for (const std::string& name : pointwiseNames()) // they accept any shape
    covered.insert(name);
  for (const std::string& name : declarationNames())
    EXPECT_TRUE(covered.count(name)) << name << " has no refusal here";
}

// A label that the type does not have, and one label too many, for an example of each type with
// labels.
TEST(Refusals, OfLabelsNameThoseThatThereAre) {
  if (world()->size() > 3)
    GTEST_SKIP() << "many set-ups, which are as on fewer ranks";
  for (const std::string& name : declarationNames()) {
    if (name == "repartition" || name == "rows" || makeDeclaration(name)->takesLists())
      continue;
    ExampleDraw draw(17);
    const auto declared = makeDeclaration(name);
    const Example example = declared->example(draw);
    for (const auto& [setting, value] : example.settings)
      declared->set(setting, value);
    const std::string label = declared->rows(example.inputs).front().label;
    for (const auto& [labels, words] :
         {std::pair<const char*, std::vector<const char*>>("q", {"'q'", label.c_str()}),
          {"B,B", {"2 labels", "1 axis", "one label per grid axis"}}}) {
      const auto layer = named(name, example.settings);
      layer->setText("signature", labels);
      expectRefused(*layer, onWorld(example.inputs), TENON_ERR_OPTION, words);
    }
  }
}

TEST(Refusals, OfUnnamedLayersOfANetworkSayWhichOne) {
  const auto network = named("sequential", {});
  const auto inner = test::newLayer(world(), "sequential");
  const auto conv =
      named("conv", {{"in_channels", Index(3)}, {"out_channels", Index(6)}, {"kernel", kThree}});
  conv->setName("");
  appendLayer(*network, test::newLayer(world(), "relu"));
  appendLayer(*network, inner);
  appendLayer(*inner, conv);
  expectRefused(*network, onWorld({kRefusedImage}), TENON_ERR_SHAPE,
                {"but layer 0 (conv) of layer 1 (sequential) of layer \"asked\" needs 3"});
}

TEST(Refusals, OfBackendsNameOthers) {
  const auto layer = named("spectralconv", {{"in_channels", Index(4)},
                                            {"out_channels", Index(4)},
                                            {"modes", kTwo},
                                            {"backend", std::string("onednn")}});
  layer->setDataType(TENON_FLOAT64);
  expectRefused(*layer, onWorld({kRefusedImage}), TENON_ERR_SUPPORT, {"onednn", "blas"});
  if (hasFftw())
    return;
  const auto other = named("spectralconv", {{"in_channels", Index(4)},
                                            {"out_channels", Index(4)},
                                            {"modes", kTwo},
                                            {"backend", std::string("fftw")}});
  expectRefused(*other, onWorld({kRefusedImage}), TENON_ERR_SUPPORT,
                {"fftw", "blas", "TENON_FFTW"});
}

} // namespace
} // namespace tenon
