// SPDX-License-Identifier: BSD-2-Clause
// Layers that sum over dimensions, or normalise along one: reduce, with and without weights by
// area, and softmax. The expected outputs are their definitions, as loops over global indices.
// expectOutput() (run_layer.hpp) sets up a layer of a type with these settings, applies it to
// elementsOf(shape of the input) in all layouts with one split, and compares the output on all
// ranks with the given numbers.
#include "layer/derivatives/derivative_check.hpp"
#include "run_layer.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::expectOutput;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;

using Indices = std::vector<Index>;

TEST(Softmax, SumsToOneAlongItsDimension) {
  for (const auto& [in, dim] : std::vector<std::pair<Shape, Index>>{
           {{3, 5, 4}, 0}, {{3, 5, 4}, 1}, {{3, 5, 4}, 2}, {{7}, 0}}) {
    const std::vector<double> x = elementsOf(in);
    std::vector<double> wanted;
    forEachIndex(in, [&, &in = in, &dim = dim](const Shape& index) {
      double sum = 0;
      Shape other = index;
      for (other[dim] = 0; other[dim] < in[dim]; ++other[dim])
        sum += std::exp(x[placeOf(other, in)]);
      wanted.push_back(std::exp(x[placeOf(index, in)]) / sum);
    });
    expectOutput("softmax", {{"dim", dim}}, in, in, wanted);
  }
}

// The exponentials of these numbers overflow in double precision.
TEST(Softmax, StaysFiniteForLargeNumbers) {
  test::Step step(test::layerWith("softmax", {{"dim", Index(0)}}), onWorld({6}, "S0"));
  test::fillFrom(*step.x, {1000, 999, -4000, 1000, 1001, 0});
  step.apply();
  const double sum = 2 * std::exp(-1) + std::exp(-2) + 1;
  test::expectNear(test::gathered(*step.y),
                   {std::exp(-1) / sum, std::exp(-2) / sum, 0, std::exp(-1) / sum, 1 / sum, 0},
                   1e-15, "softmax");
}

// Means, sums and maxima against loops. The cotangent of a maximum is divided equally among all
// elements that have the maximal value, or is that of the first of them in row-major order (ties is
// "first"), also if they are on different ranks.
TEST(Reduce, IsItsDefinition) {
  const struct {
    Shape in;
    Indices dims;
  } cases[] = {
      {{3, 4, 5}, {1}}, {{3, 4, 5}, {0, 2}}, {{2, 3, 4, 5}, {3, 2}}, {{7}, {0}}, {{2, 6}, {0, 1}}};
  for (const auto& [in, dims] : cases)
    for (const auto& [method, tied] :
         {std::pair("mean", "shared"), {"sum", "shared"}, {"max", "shared"}, {"max", "first"}})
      for (const bool keeps : {false, true})
        for (const std::string& split : test::splitsOf(in)) {
          const auto layer = test::layerWith("reduce", {{"method", std::string(method)},
                                                        {"dims", dims},
                                                        {"keep_dims", keeps},
                                                        {"ties", std::string(tied)}});
          test::Step step(layer, onWorld(in, split));
          std::vector<double> x = elementsOf(in);
          for (double& value : x)
            value = std::floor(2 * value); // ties
          Shape out;
          double count = 1;
          const auto isReduced = [&, &dims = dims](Index d) {
            return std::ranges::count(dims, d) > 0;
          };
          for (Index d = 0; d < static_cast<Index>(in.size()); ++d)
            if (isReduced(d)) {
              count *= double(in[d]);
              if (keeps)
                out.push_back(1);
            } else
              out.push_back(in[d]);
          if (out.empty())
            out = {1};
          ASSERT_EQ(step.y->layout().shape(), out);
          const auto place = [&, &in = in](const Shape& index) {
            Index at = 0;
            for (Index d = 0; d < static_cast<Index>(in.size()); ++d)
              if (!isReduced(d))
                at = at * in[d] + index[d];
            return at;
          };
          const bool isMaximum = std::string(method) == "max";
          std::vector<double> y(elements(out), isMaximum ? -1e30 : 0), ties(elements(out), 0);
          std::vector<bool> isFound(elements(out)); // the first, if it has all of the cotangent
          forEachIndex(in, [&, &in = in](const Shape& i) {
            const double value = x[placeOf(i, in)];
            double& at = y[place(i)];
            at = isMaximum ? std::max(at, value)
                           : at + value / (method == std::string("mean") ? count : 1);
          });
          forEachIndex(in, [&, &in = in](const Shape& i) {
            ties[place(i)] += x[placeOf(i, in)] == y[place(i)];
          });
          test::fillFrom(*step.x, x);
          test::fillValid(*step.dy, 3);
          const std::vector<double> seed = test::gathered(*step.dy);
          std::vector<double> dx;
          forEachIndex(in, [&, &in = in](const Shape& i) {
            const Index at = place(i);
            const bool hasShare = x[placeOf(i, in)] == y[at] && !isFound[at];
            isFound[at] = tied == std::string("first") && (isFound[at] || hasShare);
            const double shares = tied == std::string("first") ? 1 : ties[at];
            dx.push_back(isMaximum ? (hasShare ? seed[at] / shares : 0)
                                   : seed[at] / (method == std::string("mean") ? count : 1));
          });
          step.apply();
          step.adjoint();
          const std::string what = std::string(method) + " of " + split + ", " + tied;
          test::expectNear(test::gathered(*step.y), y, isMaximum ? 0 : 1e-14, what);
          test::expectNear(test::gathered(*step.dx), dx, 1e-14, what);
          test::fillFrom(*step.x, elementsOf(in));
          EXPECT_LE(checkLayerAdjoint(*layer, step.x.get(), 2).relativeError, 1e-13) << what;
        }
}

// Means and sums over a globe of 4 Gauss rows and 3 longitudes, in dimensions 1 and 2 or 2 and 1,
// and their adjoints, against loops with the quadrature weights. The weights of sums are those
// divided by twice the longitudes: the sum of ones over the globe is 1.
TEST(Reduce, WeightsElementsByArea) {
  constexpr double kRows[] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614,
                              0.34785484513745386};
  for (const Index latitudes : {1, 2})
    for (const char* method : {"mean", "sum"})
      for (const Indices& dims : {Indices{1, 2}, Indices{latitudes}, Indices{0, latitudes}}) {
        const Shape in = latitudes == 1 ? Shape{2, 4, 3} : Shape{2, 3, 4};
        const auto isReduced = [&](Index d) { return std::ranges::count(dims, d) > 0; };
        const bool isMean = method == std::string("mean");
        const auto share = [&](const Shape& i) {
          double share = kRows[i[latitudes]] / 2 / (isMean ? 1 : 3);
          for (const Index d : dims)
            share /= isMean && d != latitudes ? double(in[d]) : 1;
          return share;
        };
        for (const std::string& split : test::splitsOf(in)) {
          const auto layer = test::layerWith("reduce", {{"method", std::string(method)},
                                                        {"dims", dims},
                                                        {"keep_dims", true},
                                                        {"area", std::string("gauss")},
                                                        {"area_dim", latitudes}});
          test::Step step(layer, onWorld(in, split));
          Shape out = in;
          for (const Index d : dims)
            out[d] = 1;
          const std::vector<double> x = elementsOf(in);
          std::vector<double> y(elements(out), 0), dx;
          test::fillFrom(*step.x, x);
          test::fillValid(*step.dy, 3);
          const std::vector<double> dy = test::gathered(*step.dy);
          forEachIndex(in, [&](const Shape& i) {
            Shape at = i;
            for (Index d = 0; d < 3; ++d)
              at[d] = isReduced(d) ? 0 : i[d];
            y[placeOf(at, out)] += share(i) * x[placeOf(i, in)];
            dx.push_back(share(i) * dy[placeOf(at, out)]);
          });
          step.apply();
          step.adjoint();
          const std::string what = std::string(method) + " of " + split;
          test::expectNear(test::gathered(*step.y), y, 1e-14, what);
          test::expectNear(test::gathered(*step.dx), dx, 1e-14, what);
        }
      }
}

} // namespace
} // namespace tenon
