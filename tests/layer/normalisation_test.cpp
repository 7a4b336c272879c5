// SPDX-License-Identifier: BSD-2-Clause
// Batch, instance, group and layer normalisation against their definitions, as loops with two
// passes over all elements of a group; running statistics against PyTorch's formula; and the visits
// of these by checkpoints.
#include "layer/networks/state.hpp"
#include "run_layer.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;
using test::world;

using Indices = std::vector<Index>;
using Group = std::function<Index(const Shape& index)>;

// Mean, variance and number of elements of each group.
struct Statistics {
  std::vector<double> mean, variance, count;
};

// What an element counts in its statistics.
using Share = std::function<double(const Shape& index)>;
double equally(const Shape&) {
  return 1;
}
// By the area of row i[2] of 4 rows of Gauss: their quadrature weights.
double byArea(const Shape& i) {
  return i[2] == 0 || i[2] == 3 ? 0.34785484513745386 : 0.65214515486254614;
}

// The statistics of all groups by two passes over the whole array; groupOf(index) is the group of
// an element.
Statistics statisticsOf(const std::vector<double>& x, const Shape& shape, Index groups,
                        const Group& groupOf, const Share& share = equally) {
  Statistics s{std::vector<double>(groups), std::vector<double>(groups),
               std::vector<double>(groups)};
  const auto each = [&](auto visit) {
    forEachIndex(shape, [&](const Shape& i) { visit(groupOf(i), x[placeOf(i, shape)], share(i)); });
  };
  each([&](Index g, double value, double weight) {
    s.mean[g] += weight * value;
    s.count[g] += weight;
  });
  for (Index g = 0; g < groups; ++g)
    s.mean[g] /= s.count[g];
  each([&](Index g, double value, double weight) {
    s.variance[g] += weight * (value - s.mean[g]) * (value - s.mean[g]) / s.count[g];
  });
  return s;
}

// A normalisation with the group of each element and the weight that applies to it. For example,
// batchnorm of [4, 3, 5, 2] has 3 groups, the channels, of 4 x 5 x 2 elements each; instancenorm of
// the same has 4 x 3 groups of 5 x 2 elements, and the 3 weights of the channels.
struct NormCase {
  std::string type;
  test::Settings settings;
  Shape shape;   // of the input
  Index groups;  // number of groups, whose elements have a common mean and variance
  Group groupOf; // number of an element's group
  Shape weight;  // shape of weight and bias
  std::function<Index(const Shape& index)> weightOf; // place of an element's weight
  Share share = equally;
};

std::vector<NormCase> normCases() {
  const auto channel = [](const Shape& i) { return i[1]; };
  const auto channelOfSample = [](const Shape& i) { return i[0] * 3 + i[1]; };
  return {{.type = "batchnorm",
           .settings = {{"channels", Index(3)}},
           .shape = {4, 3, 5, 2},
           .groups = 3,
           .groupOf = channel,
           .weight = {3},
           .weightOf = channel},
          {.type = "batchnorm",
           .settings = {{"channels", Index(6)}},
           .shape = {9, 6},
           .groups = 6,
           .groupOf = channel,
           .weight = {6},
           .weightOf = channel},
          {.type = "instancenorm",
           .settings = {{"channels", Index(3)}, {"affine", true}},
           .shape = {2, 3, 7, 2},
           .groups = 2 * 3,
           .groupOf = channelOfSample,
           .weight = {3},
           .weightOf = channel},
          {.type = "instancenorm",
           .settings = {{"channels", Index(3)}, {"affine", true}, {"area", std::string("gauss")}},
           .shape = {2, 3, 4, 5},
           .groups = 2 * 3,
           .groupOf = channelOfSample,
           .weight = {3},
           .weightOf = channel,
           .share = byArea},
          {.type = "groupnorm",
           .settings = {{"channels", Index(6)}, {"groups", Index(2)}},
           .shape = {2, 6, 5},
           .groups = 2 * 2,
           .groupOf = [](const Shape& i) { return i[0] * 2 + i[1] / 3; },
           .weight = {6},
           .weightOf = channel},
          {.type = "layernorm",
           .settings = {{"shape", Indices{4, 6}}},
           .shape = {5, 4, 6},
           .groups = 5,
           .groupOf = [](const Shape& i) { return i[0]; },
           .weight = {4, 6},
           .weightOf = [](const Shape& i) { return i[1] * 6 + i[2]; }},
          {.type = "layernorm",
           .settings = {{"shape", Indices{4, 6}}},
           .shape = {4, 6},
           .groups = 1,
           .groupOf = [](const Shape&) { return Index(0); },
           .weight = {4, 6},
           .weightOf = [](const Shape& i) { return i[0] * 6 + i[1]; }},
          {.type = "layernorm", // dim: the first normalised dimension; default: the last ones
           .settings = {{"shape", Indices{4}}, {"dim", Index(1)}},
           .shape = {3, 4, 5, 2},
           .groups = 3 * 5 * 2,
           .groupOf = [](const Shape& i) { return (i[0] * 5 + i[2]) * 2 + i[3]; },
           .weight = {4},
           .weightOf = [](const Shape& i) { return i[1]; }},
          {.type = "layernorm",
           .settings = {{"shape", Indices{3, 4}}, {"dim", Index(0)}},
           .shape = {3, 4, 5},
           .groups = 5,
           .groupOf = [](const Shape& i) { return i[2]; },
           .weight = {3, 4},
           .weightOf = [](const Shape& i) { return i[0] * 4 + i[1]; }},
          {.type = "layernorm", // rows longer than a block of their sums (512 numbers in float64)
           .settings = {{"shape", Indices{700}}},
           .shape = {3, 700},
           .groups = 3,
           .groupOf = [](const Shape& i) { return i[0]; },
           .weight = {700},
           .weightOf = [](const Shape& i) { return i[1]; }}};
}

constexpr double kEpsilon = 1e-5; // the default of all types

// The expected output: (x - mean) / sqrt(variance + epsilon) weight + bias.
std::vector<double> normalised(const NormCase& c, const std::vector<double>& x,
                               const Statistics& s) {
  const std::vector<double> weight = elementsOf(c.weight, 1), bias = elementsOf(c.weight, 2);
  std::vector<double> y;
  forEachIndex(c.shape, [&](const Shape& i) {
    const Index g = c.groupOf(i), w = c.weightOf(i);
    y.push_back((x[placeOf(i, c.shape)] - s.mean[g]) / std::sqrt(s.variance[g] + kEpsilon) *
                    weight[w] +
                bias[w]);
  });
  return y;
}

// The layer, set up for this input, with fixed weights and biases.
Ref<Layer> setUpNorm(const NormCase& c, const Layout& input, TenonDataType type) {
  const Ref<Layer> layer = test::layerWith(c.type, c.settings);
  layer->setDataType(type);
  layer->setUp(input);
  for (const auto& p : layer->parameters()) {
    test::fillFrom(p->value(), elementsOf(c.weight, p->name() == "bias" ? 2 : 1));
    p->valueChanged();
  }
  return layer;
}

TEST(Normalisation, IsThatOfAllElementsOfAGroup) {
  for (const NormCase& c : normCases())
    for (const std::string& split : test::splitsOf(c.shape))
      for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
        const Layout input = onWorld(c.shape, split);
        test::Step step(setUpNorm(c, input, type), input, type);
        const std::vector<double> x = elementsOf(c.shape);
        test::fillFrom(*step.x, x);
        step.apply();
        const Statistics s = statisticsOf(x, c.shape, c.groups, c.groupOf, c.share);
        ASSERT_NO_FATAL_FAILURE(test::expectNear(test::gathered(*step.y), normalised(c, x, s),
                                                 type == TENON_FLOAT64 ? 1e-13 : 1e-5,
                                                 c.type + " of " + split));
      }
}

// The mean is 1e8, where a variance as the difference of two sums of squares would have no correct
// digits: squares are near 1e16, where neighbouring numbers differ by 2. Elements are multiples of
// 1 / 1024, which 1e8 + element represents exactly.
TEST(Normalisation, KeepsItsDigitsFarFromZero) {
  const NormCase c = normCases().front();
  for (const char* split : {"S0", "S2"}) {
    const Layout input = onWorld(c.shape, split);
    test::Step step(setUpNorm(c, input, TENON_FLOAT64), input);
    std::vector<double> x = elementsOf(c.shape);
    for (double& value : x)
      value = 1e8 + std::round(value * 1024) / 1024;
    test::fillFrom(*step.x, x);
    step.apply();
    test::expectNear(test::gathered(*step.y),
                     normalised(c, x, statisticsOf(x, c.shape, c.groups, c.groupOf)), 1e-6, split);
  }
}

// Collects the running statistics by their path.
struct StateNames : StateVisitor {
  void tensor(const std::string& path, DTensor& value) override {
    if (path.find("running") != std::string::npos)
      values[path] = test::gathered(value);
  }
  void number(const std::string&, std::uint64_t&) override {}
  std::map<std::string, std::vector<double>> values;
};

std::map<std::string, std::vector<double>> runningOf(Layer& layer) {
  StateNames names;
  visitState(layer, "norm", names);
  return names.values;
}

// The mean of one element is the element, whatever it is: the terms of the derivative, which are
// multiplied by 1 / sqrt(epsilon), cancel without a rest.
TEST(LayerNorm, OfSingleElementsHasNoDerivative) {
  const auto layer = test::layerWith("layernorm", {{"shape", Indices{1}}, {"dim", Index(1)}});
  layer->setDataType(TENON_FLOAT32);
  const Layout input = onWorld({6, 1, 5}, "S0");
  layer->setUp(input);
  test::fillParameters(*layer);
  const auto x = test::tensor(input, TENON_FLOAT32), y = test::tensor(input, TENON_FLOAT32),
             dx = test::tensor(input.dual(), TENON_FLOAT32),
             dy = test::tensor(input.dual(), TENON_FLOAT32);
  test::fillValid(*x, 1);
  test::fillValid(*dy, 2);
  layer->apply(*x, *y);
  layer->applyAdjoint(*dy, dx.get());
  EXPECT_EQ(test::gathered(*dx), std::vector<double>(30));
}

// PyTorch's formula: running <- 0.9 running + 0.1 batch, from mean 0 and variance 1, with the
// variance divided by n - 1. Batches of two sizes in two layouts, so the layer converts the
// statistics; then inference, which uses them alone.
TEST(BatchNorm, FollowsMeanAndUnbiasedVariance) {
  const NormCase c = normCases().front();
  const Layout layouts[] = {onWorld(c.shape, "S1"), onWorld({7, 3, 5, 2}, "S0")};
  const Ref<Layer> layer = test::layerWith(c.type, c.settings);
  layer->set("stack_depth", Index(4));
  std::vector<test::Step> steps;
  for (int k = 0; k < 4; ++k)
    steps.emplace_back(layer, layouts[k % 2]);
  Statistics running{{0, 0, 0}, {1, 1, 1}, {}};
  for (int k = 0; k < 4; ++k) {
    const Shape shape = layouts[k % 2].shape();
    const std::vector<double> x = elementsOf(shape, k);
    test::fillFrom(*steps[k].x, x);
    steps[k].apply();
    const Statistics batch = statisticsOf(x, shape, c.groups, c.groupOf);
    for (std::size_t g = 0; g < 3; ++g) {
      running.mean[g] += 0.1 * (batch.mean[g] - running.mean[g]);
      running.variance[g] +=
          0.1 * (batch.variance[g] * batch.count[g] / (batch.count[g] - 1) - running.variance[g]);
    }
  }
  auto state = runningOf(*layer);
  test::expectNear(state["norm/running_mean"], running.mean, 1e-14, "running mean");
  test::expectNear(state["norm/running_var"], running.variance, 1e-14, "running variance");

  // Each adjoint uses the statistics of its own batch, as that of a layer for this batch alone.
  for (int k = 3; k >= 0; --k) {
    test::fillFrom(*steps[k].dy, elementsOf(layouts[k % 2].shape(), 9));
    steps[k].adjoint();
    test::Step alone(test::layerWith(c.type, c.settings), layouts[k % 2]);
    test::fillFrom(*alone.x, elementsOf(layouts[k % 2].shape(), k));
    copyLocal(*steps[k].dy, *alone.dy);
    alone.apply();
    alone.adjoint();
    EXPECT_EQ(test::localCells(*steps[k].dx), test::localCells(*alone.dx)) << k;
  }

  layer->setTraining(false);
  const auto weight = layer->parameters()[0], bias = layer->parameters()[1];
  for (const auto& p : {weight, bias}) {
    test::fillFrom(p->value(), elementsOf(c.weight, p.get() == bias.get() ? 2 : 1));
    p->valueChanged();
  }
  for (const int k : {0, 1}) {
    steps[k].apply();
    NormCase sized = c;
    sized.shape = layouts[k].shape();
    test::expectNear(test::gathered(*steps[k].y),
                     normalised(sized, elementsOf(sized.shape, k), running), 1e-13, "inference");
  }
  EXPECT_EQ(runningOf(*layer), state) << "inference changed what training has left";
}

// A visitor that writes the running statistics changes them for all set-ups.
TEST(BatchNorm, TakesRunningMomentsFromAVisitor) {
  struct Writer : StateVisitor {
    void tensor(const std::string& path, DTensor& value) override {
      if (path == "running_mean")
        fillConstant(value, 3);
      if (path == "running_var")
        fillConstant(value, 4 - kEpsilon); // the standard deviation is 2, so y = (7 - 3) / 2
    }
    void number(const std::string&, std::uint64_t&) override {}
  } writer;
  const auto layer = test::layerWith("batchnorm", {{"channels", Index(2)}});
  test::Step one(layer, onWorld({3, 2, 4}, "S2")), other(layer, onWorld({3, 2, 4}, "S1"));
  layer->setTraining(false);
  visitState(*layer, "", writer);
  for (test::Step* step : {&one, &other}) {
    fillConstant(*step->x, 7);
    step->apply();
    test::expectNear(test::gathered(*step->y), std::vector<double>(24, 2.0), 1e-14, "output");
  }
}

// With fixed statistics the layer is affine in x: y = s (x - mean) w + b with s = 1 / sqrt(variance
// + epsilon), so dx = s w dy, dw = sum of dy s (x - mean), db = sum of dy. Training does not change
// the statistics, and a change of them after Apply does not affect its adjoint.
TEST(BatchNorm, WithFixedStatisticsIsAffine) {
  struct Writer : StateVisitor {
    std::vector<double> mean, variance;
    void tensor(const std::string& path, DTensor& value) override {
      if (path == "running_mean")
        test::fillFrom(value, mean);
      if (path == "running_var")
        test::fillFrom(value, variance);
    }
    void number(const std::string&, std::uint64_t&) override {}
  };
  NormCase c = normCases().front();
  c.settings.emplace_back("statistics", std::string("running"));
  const Statistics fixed{{0.5, -1, 2}, {0.25, 3, 1.5}, {}};
  Writer writer, later;
  writer.mean = fixed.mean;
  writer.variance = fixed.variance;
  later.mean = later.variance = {7, 8, 9};
  const std::vector<double> x = elementsOf(c.shape), v = elementsOf(c.shape, 4),
                            dy = elementsOf(c.shape, 9), weight = elementsOf(c.weight, 1);
  std::vector<double> dx, tangent, dWeight(3, 0), dBias(3, 0);
  forEachIndex(c.shape, [&](const Shape& i) {
    const Index g = i[1], at = placeOf(i, c.shape);
    const double scale = 1 / std::sqrt(fixed.variance[g] + kEpsilon);
    dx.push_back(scale * weight[g] * dy[at]);
    tangent.push_back(scale * weight[g] * v[at]);
    dWeight[g] += dy[at] * scale * (x[at] - fixed.mean[g]);
    dBias[g] += dy[at];
  });
  for (const std::string& split : test::splitsOf(c.shape))
    for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
      const double tolerance = type == TENON_FLOAT64 ? 1e-13 : 2e-6;
      const Layout input = onWorld(c.shape, split);
      test::Step step(setUpNorm(c, input, type), input, type);
      visitState(*step.layer, "", writer);
      test::fillFrom(*step.x, x);
      test::fillFrom(*step.dy, dy);
      step.apply();
      test::expectNear(test::gathered(*step.y), normalised(c, x, fixed), tolerance, split);
      EXPECT_EQ(runningOf(*step.layer)["norm/running_mean"], fixed.mean);
      visitState(*step.layer, "", later);
      const Ref<DTensor> dIn = test::tensor(input, type),
                         dOut = test::tensor(step.y->layout(), type);
      test::fillFrom(*dIn, v);
      step.layer->applyTangent(dIn.get(), *dOut);
      test::expectNear(test::gathered(*dOut), tangent, tolerance, "tangent of " + split);
      step.adjoint();
      test::expectNear(test::gathered(*step.dx), dx, tolerance, "dx of " + split);
      for (const auto& p : step.layer->parameters())
        test::expectNear(test::gathered(p->gradient()), p->name() == "bias" ? dBias : dWeight,
                         10 * tolerance, p->name() + " of " + split);
      visitState(*step.layer, "", writer);
      step.layer->setTraining(false);
      step.apply();
      test::expectNear(test::gathered(*step.y), normalised(c, x, fixed), tolerance, "inference");
    }
}

// Moments are communicated only if a group is split: then there are two operators, for the mean
// over all ranks and for the moments relative to it. Both moments travel in one message.
TEST(Normalisation, SumsMomentsTwiceWhereGroupsAreSplit) {
  const auto operators = [](const std::string& type, const test::Settings& settings,
                            const std::string& split) {
    const auto declaration = makeDeclaration(type);
    for (const auto& [name, value] : settings)
      declaration->set(name, value);
    const Layout input(
        {.shape = {4, 6, 8}, .grid = Grid::make({3}), .properties = parseProperties(split)});
    const Form form = declaration->form({input}, {});
    return declaration->maps(form, declaration->storageLayouts(form)).operators().size();
  };
  const test::Settings channels = {{"channels", Index(6)}};
  const test::Settings groups = {{"channels", Index(6)}, {"groups", Index(3)}};
  EXPECT_EQ(operators("batchnorm", channels, "S0"), 2U);
  EXPECT_EQ(operators("batchnorm", channels, "S1"), 0U);
  EXPECT_EQ(operators("instancenorm", channels, "S0"), 0U);
  EXPECT_EQ(operators("instancenorm", channels, "S2"), 2U);
  EXPECT_EQ(operators("groupnorm", groups, "S1"), 0U);
  EXPECT_EQ(operators("groupnorm", {{"channels", Index(6)}, {"groups", Index(2)}}, "S1"), 2U);
  EXPECT_EQ(operators("layernorm", {{"shape", Indices{8}}}, "S1"), 0U);
  EXPECT_EQ(operators("layernorm", {{"shape", Indices{6}}, {"dim", Index(1)}}, "S2"), 0U);
  EXPECT_EQ(operators("layernorm", {{"shape", Indices{6}}, {"dim", Index(1)}}, "S1"), 2U);
  EXPECT_EQ(operators("batchnorm", {{"channels", Index(6)}, {"statistics", std::string("running")}},
                      "S0"),
            0U);
}

TEST(Normalisation, RefusesShapesThatDoNotMatch) {
  test::expectErrorOnAll(TENON_ERR_ARG, {"groups, 4", "6 channels"}, [] {
    test::layerWith("groupnorm", {{"channels", Index(6)}, {"groups", Index(4)}})
        ->setUp(onWorld({4, 6, 3}, "B"));
  });
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[4,5,3]", "[batch,6,...]"}, [] {
    test::layerWith("batchnorm", {{"channels", Index(6)}})->setUp(onWorld({4, 5, 3}, "B"));
  });
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[4,5,3]", "[...,5,4]"}, [] {
    test::layerWith("layernorm", {{"shape", Indices{5, 4}}})->setUp(onWorld({4, 5, 3}, "B"));
  });
  const auto summed = test::layerWith("batchnorm", {{"channels", Index(5)}});
  summed->setText("signature", "P");
  test::expectErrorOnAll(TENON_ERR_OPTION, {"no index label 'P'", "use one of n, c, S2, B, R"},
                         [&] {
                           summed->setUp(onWorld({4, 5, 3}, "B"));
                         });
}

} // namespace
} // namespace tenon
