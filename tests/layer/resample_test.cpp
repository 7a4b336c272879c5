// SPDX-License-Identifier: BSD-2-Clause
// Means over windows of any size (adaptive and global pooling) and interpolation, against their
// definitions in loops. Positions are computed here in floating-point numbers, in the library with
// integers.
#include "run_layer.hpp"

#include <algorithm>

namespace tenon {
namespace {

using test::elementsOf;
using test::expectOutput;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;

using Indices = std::vector<Index>;

// y[n,c,o] = sum over the corners i of weight(d, o_d, i_d) in each dimension times x[n,c,i].
template <class Weight>
std::vector<double> separable(const Shape& in, const Shape& out, Weight weight) {
  const std::vector<double> x = elementsOf(in);
  std::vector<double> y;
  forEachIndex(out, [&](const Shape& o) {
    double sum = 0;
    forEachIndex(in, [&](const Shape& i) {
      double product = i[0] == o[0] && i[1] == o[1] ? 1 : 0;
      for (std::size_t d = 2; product != 0 && d < in.size(); ++d)
        product *= weight(d, o[d], i[d]);
      if (product != 0)
        sum += product * x[placeOf(i, in)];
    });
    y.push_back(sum);
  });
  return y;
}

TEST(AdaptiveAveragePooling, TakesTheMeansOfPyTorchsWindows) {
  const Shape in = {2, 3, 7, 5}, out = {2, 3, 3, 4};
  const auto weight = [&](std::size_t d, Index o, Index i) {
    const double step = double(in[d]) / double(out[d]);
    const double begin = std::floor(double(o) * step), end = std::ceil(double(o + 1) * step);
    return double(i) >= begin && double(i) < end ? 1 / (end - begin) : 0;
  };
  expectOutput("adaptiveaveragepooling", {{"size", Indices{3, 4}}}, in, out,
               separable(in, out, weight));
}

TEST(GlobalAveragePooling, IsTheMeanOfSpace) {
  const Shape in = {2, 3, 4, 5, 3}, out = {2, 3, 1, 1, 1};
  expectOutput("globalaveragepooling", {}, in, out,
               separable(in, out, [&](std::size_t d, Index, Index) { return 1 / double(in[d]); }));
  // By the area of the 4 rows of Clenshaw and Curtis, both poles included: their quadrature weights
  // 1/9, 8/9, 8/9, 1/9, divided by their sum 2.
  constexpr double kRows[] = {1.0 / 18, 4.0 / 9, 4.0 / 9, 1.0 / 18};
  expectOutput("globalaveragepooling", {{"area", std::string("poles")}}, in, out,
               separable(in, out, [&](std::size_t d, Index, Index i) {
                 return d == 2 ? kRows[i] : 1 / double(in[d]);
               }));
  const auto layer = test::newLayer(test::world(), "globalaveragepooling");
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[4,3]", "1 to 3 spatial"}, [&] {
    layer->setUp(onWorld({4, 3}, "B"));
  });
}

// If space is split, the layer leaves partial sums in its output and moves no data.
TEST(GlobalAveragePooling, LeavesContributionsOfSplitSpace) {
  const auto layer = test::newLayer(test::world(), "globalaveragepooling");
  layer->setUp(onWorld({2, 3, 8}, "S2"));
  EXPECT_EQ(layer->outputLayout().properties(), parseProperties("P"));
}

TEST(Resample, TakesTheNearest) {
  const Shape in = {2, 1, 4, 5};
  const auto to = [&](const Shape& out) {
    return separable(in, out, [&, out](std::size_t d, Index o, Index i) {
      return i == o * in[d] / out[d] ? 1 : 0;
    });
  };
  expectOutput("resample", {{"scale_factor", Indices{3, 2}}}, in, {2, 1, 12, 10},
               to({2, 1, 12, 10}));
  expectOutput("resample", {{"size", Indices{7, 3}}}, in, {2, 1, 7, 3}, to({2, 1, 7, 3}));
}

// The weight of element i in a linear interpolation at a point: a hat function. Beyond the ends the
// value at the end is used.
double hat(double point, Index i, Index extent) {
  const double inside = std::clamp(point, 0.0, double(extent - 1));
  return std::max(0.0, 1 - std::abs(inside - double(i)));
}

TEST(Resample, InterpolatesWithBothConventionsOfCorners) {
  for (const auto& [in, out] :
       std::vector<std::pair<Shape, Shape>>{{{2, 3, 5}, {2, 3, 9}},
                                            {{1, 2, 6, 5}, {1, 2, 4, 11}},
                                            {{1, 1, 2, 3, 4}, {1, 1, 5, 3, 1}}}) {
    const Indices size(out.begin() + 2, out.end());
    const auto half = [&, in = in, out = out](std::size_t d, Index o, Index i) {
      return hat((double(o) + 0.5) * double(in[d]) / double(out[d]) - 0.5, i, in[d]);
    };
    const auto corners = [&, in = in, out = out](std::size_t d, Index o, Index i) {
      const double step = out[d] > 1 ? double(in[d] - 1) / double(out[d] - 1) : 0;
      return hat(double(o) * step, i, in[d]);
    };
    const SettingValue linear = std::string("linear");
    expectOutput("resample", {{"size", size}, {"method", linear}}, in, out,
                 separable(in, out, half));
    expectOutput("resample", {{"size", size}, {"method", linear}, {"align_corners", true}}, in, out,
                 separable(in, out, corners));
  }
}

TEST(Resample, RefusesInvalidSizes) {
  const auto setUp = [](const test::Settings& settings, const Shape& shape) {
    test::layerWith("resample", settings)->setUp(onWorld(shape, "B"));
  };
  test::expectErrorOnAll(TENON_ERR_STATE, {"neither a size nor a scale_factor"}, [&] {
    setUp({}, {2, 3, 4});
  });
  test::expectErrorOnAll(TENON_ERR_ARG, {"size", "2 numbers", "3 spatial dimensions"}, [&] {
    setUp({{"size", Indices{2, 3}}}, {2, 3, 4, 4, 4});
  });
  test::expectErrorOnAll(TENON_ERR_ARG, {"aligns corners", "\"linear\""}, [&] {
    setUp({{"size", Indices{2}}, {"align_corners", true}}, {2, 3, 4});
  });
  test::expectErrorOnAll(TENON_ERR_ARG, {"only one"}, [&] {
    setUp({{"size", Indices{2}}, {"scale_factor", Indices{2}}}, {2, 3, 4});
  });
}

} // namespace
} // namespace tenon
