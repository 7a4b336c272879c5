// SPDX-License-Identifier: BSD-2-Clause
// Attributes of ONNX's operators that change values. Each test imports a model of one node, written
// by hand (onnx_bytes.hpp), and compares its output with the formula of ONNX's specification, which
// is programmed here again, on all layouts of the input x.
#include "import/onnx_bytes.hpp"
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace tenon {
namespace {

using namespace test::onnx;
using test::elementsOf;
using test::forEachIndex;
using test::placeOf;
using test::world;

constexpr std::int64_t kOne = 1;

// The constant "sizes" of a Resize: int64 numbers (element type 7, field int64_data = 7).
std::string sizesOf(const std::vector<std::uint64_t>& numbers) {
  std::string list;
  for (const std::uint64_t number : numbers)
    list += field(7, number);
  return tensor("sizes", {numbers.size()}, list, 7);
}

// Expects that the network of a graph gives these values for x = elementsOf(shape).
void expectValues(const std::string& graph, const Shape& shape, const Shape& expectedShape,
                  const std::vector<double>& expected) {
  int writer = getpid(); // another run can have the same folder
  checkMpi(MPI_Bcast(&writer, 1, MPI_INT, 0, world()->mpi()), "MPI_Bcast");
  const std::string path = testing::TempDir() + "onnx_values." + std::to_string(writer) + ".onnx";
  const std::vector<std::uint64_t> extents(shape.begin(), shape.end());
  if (world()->rank() == 0)
    std::ofstream(path, std::ios::binary) << file(input("x", extents) + graph + output("y"), 25);
  checkMpi(MPI_Barrier(world()->mpi()), "MPI_Barrier");
  for (const std::string& split : test::splitsOf(shape)) {
    const auto layer = makeModel(world());
    layer->set("path", path);
    layer->setDataType(TENON_FLOAT64);
    readModel(*layer);
    test::Step step(layer, test::onWorld(shape, split), TENON_FLOAT64);
    ASSERT_EQ(step.y->layout().shape(), expectedShape) << split;
    test::fillFrom(*step.x, elementsOf(shape));
    step.apply();
    test::expectNear(test::gathered(*step.y), expected, 1e-13, split);
  }
  checkMpi(MPI_Barrier(world()->mpi()), "MPI_Barrier");
  if (world()->rank() == 0)
    std::filesystem::remove(path);
}

// Expects that a graph computes y = f(x) for each element.
void expectFunction(const std::string& graph, const std::function<double(double)>& f) {
  const Shape shape = {2, 3, 4};
  std::vector<double> expected = elementsOf(shape);
  for (double& number : expected)
    number = f(number);
  expectValues(graph, shape, shape, expected);
}

TEST(OnnxValues, SeluHasTheFilesAlphaAndGamma) {
  expectFunction(node("Selu", {"x"}, "y", attribute("alpha", 1.5F) + attribute("gamma", 2.F)),
                 [](double x) { return 2 * (x > 0 ? x : 1.5 * std::expm1(x)); });
  expectFunction(node("Selu", {"x"}, "y"), [](double x) {
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
  });
}

TEST(OnnxValues, SwishHasTheFilesAlpha) {
  for (const float alpha : {0.F, 1.F, -1.5F})
    expectFunction(node("Swish", {"x"}, "y", attribute("alpha", alpha)),
                   [&](double x) { return x / (1 + std::exp(-static_cast<double>(alpha) * x)); });
}

TEST(OnnxValues, AClipWithoutBoundsIsTheIdentity) {
  expectFunction(node("Clip", {"x"}, "a") + node("Abs", {"a"}, "y"),
                 [](double x) { return std::abs(x); });
}

// A constant of one float64 number, in the field raw_data = 9.
std::string numberOf(const std::string& name, double number) {
  return tensor(name, {}, field(9, std::string(reinterpret_cast<const char*>(&number), 8)));
}

// where(c, x, softplus(x)) is softplus only if c says that x is so large that both are equal.
TEST(OnnxValues, WhereOfXAndSoftplusKeepsItsCondition) {
  const std::string rest = node("Softplus", {"x"}, "s") + node("Where", {"c", "x", "s"}, "y");
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  expectFunction(numberOf("n", 0) + node("Less", {"x", "n"}, "c") + rest,
                 [&](double x) { return x < 0 ? x : softplus(x); });
  for (const double threshold : {0.5, 20.0})
    expectFunction(numberOf("n", threshold) + node("Greater", {"x", "n"}, "c") + rest,
                   [&](double x) { return x > threshold ? x : softplus(x); });
}

// Linear interpolation between centres of cells; positions beyond the first and last centre have
// the values there.
std::vector<double> interpolated(const Shape& from, const Shape& to) {
  const std::vector<double> x = elementsOf(from);
  std::vector<double> y;
  forEachIndex(to, [&](const Shape& index) {
    double sum = 0;
    const auto add = [&](std::size_t d, Shape place, double weight, const auto& next) -> void {
      if (d == from.size()) {
        sum += weight * x[static_cast<std::size_t>(placeOf(place, from))];
        return;
      }
      const double scale = double(from[d]) / double(to[d]),
                   at =
                       std::clamp((double(index[d]) + 0.5) * scale - 0.5, 0.0, double(from[d] - 1));
      const auto low = static_cast<Index>(at);
      const double part = at - double(low);
      place.push_back(low);
      next(d + 1, place, weight * (1 - part), next);
      place.back() = std::min(low + 1, from[d] - 1);
      next(d + 1, place, weight * part, next);
    };
    add(0, {}, 1, add);
    y.push_back(sum);
  });
  return y;
}

void expectResized(const std::string& attributes, const std::vector<std::uint64_t>& sizes,
                   const Shape& expected) {
  const Shape shape = {1, 3, 8, 6};
  expectValues(sizesOf(sizes) + node("Resize", {"x", "", "", "sizes"}, "y",
                                     attribute("mode", "linear") + attributes),
               shape, expected, interpolated(shape, expected));
}

TEST(OnnxValues, ResizeTakesItsAxesInTheirOrder) {
  expectResized(attribute("axes", std::vector<std::int64_t>{3, 2}), {12, 16}, {1, 3, 16, 12});
  expectResized(attribute("axes", std::vector<std::int64_t>{-1}), {12}, {1, 3, 8, 12});
  expectResized("", {1, 3, 16, 12}, {1, 3, 16, 12});
}

// One factor for both dimensions: 4/8 is the smaller one, and 12/6 the larger one.
TEST(OnnxValues, ResizeKeepsTheAspectRatio) {
  const std::string axes = attribute("axes", std::vector<std::int64_t>{2, 3});
  expectResized(axes + attribute("keep_aspect_ratio_policy", "not_larger"), {4, 12}, {1, 3, 4, 3});
  expectResized(axes + attribute("keep_aspect_ratio_policy", "not_smaller"), {4, 12},
                {1, 3, 16, 12});
}

// Blocks of 2 x 2 elements become channels, x[c, 2 h + i, 2 w + j] = y[k, h, w]: k = 4 c + 2 i + j
// in mode CRD, and k = (2 i + j) 3 + c in mode DCR.
TEST(OnnxValues, SpaceToDepthHasBothOrders) {
  const Shape shape = {1, 3, 4, 6}, to = {1, 12, 2, 3};
  const std::vector<double> x = elementsOf(shape);
  for (const bool isChannelFirst : {false, true}) {
    std::vector<double> expected;
    forEachIndex(to, [&](const Shape& at) {
      const Index block = isChannelFirst ? at[1] % 4 : at[1] / 3,
                  channel = isChannelFirst ? at[1] / 4 : at[1] % 3;
      expected.push_back(x[static_cast<std::size_t>(
          placeOf({0, channel, 2 * at[2] + block / 2, 2 * at[3] + block % 2}, shape))]);
    });
    expectValues(
        node("SpaceToDepth", {"x"}, "y",
             attribute("blocksize", 2 * kOne) + attribute("mode", isChannelFirst ? "CRD" : "DCR")),
        shape, to, expected);
  }
}

// A query sees its own key and the one before. The scores are bounded by 2 tanh(score / 2).
TEST(OnnxValues, AttentionHasAWindowAndABound) {
  const Shape shape = {1, 2, 5, 3};
  const std::vector<double> x = elementsOf(shape);
  const auto at = [&](Index head, Index place, Index feature) {
    return x[static_cast<std::size_t>(placeOf({0, head, place, feature}, shape))];
  };
  std::vector<double> expected;
  forEachIndex(shape, [&](const Shape& index) {
    double sum = 0, norm = 0;
    for (Index key = std::max(index[2] - 1, Index(0)); key <= index[2]; ++key) {
      double score = 0;
      for (Index f = 0; f < 3; ++f)
        score += at(index[1], index[2], f) * at(index[1], key, f) / std::sqrt(3);
      const double weight = std::exp(2 * std::tanh(score / 2));
      sum += weight * at(index[1], key, index[3]);
      norm += weight;
    }
    expected.push_back(sum / norm);
  });
  expectValues(node("Attention", {"x", "x", "x"}, "y",
                    attribute("softcap", 2.F) + attribute("left_window_size", kOne) +
                        attribute("right_window_size", 0 * kOne)),
               shape, shape, expected);
}

// The mean of -w log(softmax(x)) of the classes 2, 0 and 1, where class 1 is ignored.
TEST(OnnxValues, CrossEntropyIgnoresAClass) {
  const Shape shape = {3, 4};
  const std::vector<double> x = elementsOf(shape), weights = {0.5, 2, 1.5, 1};
  const std::vector<std::size_t> classes = {2, 0, 1};
  double loss = 0, norm = 0;
  for (std::size_t n = 0; n < 2; ++n) {
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c)
      sum += std::exp(x[4 * n + c]);
    loss += weights[classes[n]] * (std::log(sum) - x[4 * n + classes[n]]);
    norm += weights[classes[n]];
  }
  std::string list;
  for (const std::size_t number : classes)
    list += field(7, std::uint64_t(number));
  const std::string bytes(reinterpret_cast<const char*>(weights.data()), 4 * sizeof(double));
  expectValues(tensor("classes", {3}, list, 7) + tensor("weights", {4}, field(9, bytes)) +
                   node("SoftmaxCrossEntropyLoss", {"x", "classes", "weights"}, "y",
                        attribute("ignore_index", kOne)),
               shape, {1}, {loss / norm});
}

} // namespace
} // namespace tenon
