// SPDX-License-Identifier: BSD-2-Clause
// Spherical convolutions on all ranks against an independent implementation: dense matrices of both
// transforms from their definition (support/sphere_reference.hpp), and complex products in plain
// loops; output, input gradient and parameter gradients, with every label. Weights of 1 return
// fields of the band. Messages and bytes are counted. Factors of degrees are compared with their
// formulas.
#include "run_layer.hpp"
#include "sent_in.hpp"
#include "support/draws.hpp"
#include "support/sphere_reference.hpp"

#include <complex>

namespace tenon {
namespace {

using test::elementsOf;
using test::gathered;
using test::onWorld;
using test::SphereCase;
using test::world;
using Complex = std::complex<double>;

struct Convolution {
  SphereCase in, out;
  Index batch, inputs, outputs, groups = 1;
  std::string weights = "degree";
  bool bias = true;

  Index degrees() const { return in.degrees; }
  Index orders() const { return in.orders; }
  Shape field() const { return {batch, inputs, in.rows, in.columns}; }
  Shape output() const { return {batch, outputs, out.rows, out.columns}; }
  Shape weight() const {
    Shape shape = {inputs / groups, outputs};
    if (weights == "mode")
      shape.push_back(orders());
    if (weights != "shared")
      shape.push_back(degrees());
    shape.push_back(2);
    return shape;
  }
  // The number of the weight (in pairs) for a channel of a group, an output, a place and a degree.
  std::size_t weightAt(Index i, Index o, Index place, Index l) const {
    const Index channels = i * outputs + o;
    if (weights == "shared")
      return std::size_t(channels);
    return std::size_t(weights == "mode" ? (channels * orders() + place) * degrees() + l
                                         : channels * degrees() + l);
  }
  std::size_t modes() const { return std::size_t(orders() * degrees()); }

  // visit(n, i, o, place, degree, number of the weight) for each product of the definition.
  template <class Visit>
  void eachProduct(Visit visit) const {
    const Index in = inputs / groups, out = outputs / groups;
    for (Index n = 0; n < batch; ++n)
      for (Index o = 0; o < outputs; ++o)
        for (Index i = 0; i < in; ++i)
          for (Index place = 0; place < orders(); ++place)
            for (Index l = 0; l < degrees(); ++l)
              visit((n * inputs + o / out * in + i) * Index(modes()) + place * degrees() + l,
                    (n * outputs + o) * Index(modes()) + place * degrees() + l,
                    weightAt(i, o, place, l));
  }
};

std::vector<Complex> asPairs(const std::vector<double>& x) {
  std::vector<Complex> pairs;
  for (std::size_t k = 0; k < x.size(); k += 2)
    pairs.emplace_back(x[k], x[k + 1]);
  return pairs;
}
std::vector<double> asNumbers(const std::vector<Complex>& pairs) {
  std::vector<double> x;
  for (const Complex& z : pairs) {
    x.push_back(z.real());
    x.push_back(z.imag());
  }
  return x;
}

struct Results {
  std::vector<double> y, dx, dWeight, dBias;
};

Results byDefinition(const Convolution& c, const std::vector<double>& x,
                     const std::vector<double>& weight, const std::vector<double>& bias,
                     const std::vector<double>& dy) {
  const std::vector<double> A = c.in.matrix(false), S = c.out.matrix(true);
  const auto points = std::size_t(c.in.rows * c.in.columns),
             outPoints = std::size_t(c.out.rows * c.out.columns), numbers = 2 * c.modes();
  const std::vector<Complex> W = asPairs(weight),
                             X = asPairs(
                                 test::multiplied(A, /*transposed=*/false, points, numbers, x)),
                             D = asPairs(
                                 test::multiplied(S, /*transposed=*/false, outPoints, numbers, dy));
  std::vector<Complex> Y(D.size()), dX(X.size()), dW(W.size());
  c.eachProduct([&](Index i, Index o, std::size_t w) {
    Y[o] += X[i] * W[w];
    dX[i] += D[o] * std::conj(W[w]);
    dW[w] += D[o] * std::conj(X[i]);
  });
  Results r{test::multiplied(S, /*transposed=*/true, outPoints, numbers, asNumbers(Y)),
            test::multiplied(A, /*transposed=*/true, points, numbers, asNumbers(dX)), asNumbers(dW),
            std::vector<double>(std::size_t(c.outputs), 0)};
  for (std::size_t k = 0; k < r.y.size(); ++k) {
    const std::size_t channel = k / outPoints % std::size_t(c.outputs);
    if (c.bias)
      r.y[k] += bias[channel];
    r.dBias[channel] += dy[k];
  }
  return r;
}

Ref<Layer> layerOf(const Convolution& c) {
  return test::layerWith("sphericalconv",
                         {{"in_channels", c.inputs},
                          {"out_channels", c.outputs},
                          {"groups", c.groups},
                          {"degrees", c.in.degrees},
                          {"orders", c.in.orders},
                          {"grid", c.in.grid},
                          {"norm", c.in.norm},
                          {"sign", c.in.sign},
                          {"first_row", std::string(c.in.south ? "south" : "north")},
                          {"quadrature", std::string("plain")},
                          {"weights", c.weights},
                          {"bias", c.bias},
                          {"output_grid", c.out.grid},
                          {"size", std::vector<Index>{c.out.rows, c.out.columns}}});
}

void setParameter(Layer& layer, std::size_t index, const std::vector<double>& values) {
  Parameter& parameter = *layer.parameters()[index];
  test::fillFrom(parameter.value(), values);
  parameter.valueChanged();
}

void expectConvolution(const Convolution& c, const Layout& input, const std::string& labels,
                       TenonDataType type = TENON_FLOAT64) {
  const Ref<Layer> layer = layerOf(c);
  if (!labels.empty())
    layer->setText("signature", labels);
  test::Step step(layer, input, type);
  const std::vector<double> x = elementsOf(c.field()), weight = elementsOf(c.weight(), 2),
                            bias = elementsOf({c.outputs}, 4), dy = elementsOf(c.output(), 3);
  test::fillFrom(*step.x, x);
  setParameter(*layer, 0, weight);
  if (c.bias)
    setParameter(*layer, 1, bias);
  const Results want = byDefinition(c, x, weight, bias, dy);
  const double tolerance = type == TENON_FLOAT64 ? 1e-12 : 1e-5;
  const std::string what = layer->describe();
  step.apply();
  ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(*step.y), want.y, tolerance, "y of " + what));
  if (step.dy->layout().holdsPartialSums())
    return;
  test::fillFrom(*step.dy, dy);
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(
      test::expectNear(gathered(*step.dx), want.dx, tolerance, "dx of " + what));
  ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(layer->parameters()[0]->gradient()),
                                           want.dWeight, tolerance, "gradient of " + what));
  if (c.bias) {
    ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(layer->parameters()[1]->gradient()),
                                             want.dBias, tolerance, "bias of " + what));
  }
}

std::vector<Convolution> convolutions() {
  const SphereCase gauss{.rows = 6, .columns = 8, .degrees = 5, .orders = 5};
  const SphereCase poles{
      .rows = 7, .columns = 9, .degrees = 5, .orders = 4, .grid = "poles", .norm = "schmidt"};
  SphereCase cells = poles, south = gauss;
  cells.grid = "cells";
  cells.rows = 5;
  south.south = true;
  south.sign = false;
  return {{.in = gauss, .out = gauss, .batch = 2, .inputs = 3, .outputs = 2},
          {.in = poles, .out = cells, .batch = 1, .inputs = 2, .outputs = 3, .weights = "mode"},
          {.in = south, .out = south, .batch = 2, .inputs = 4, .outputs = 4, .groups = 2},
          {.in = gauss, .out = gauss, .batch = 2, .inputs = 2, .outputs = 3, .weights = "shared"},
          {.in = gauss,
           .out = gauss,
           .batch = 1,
           .inputs = 4,
           .outputs = 2,
           .groups = 2,
           .weights = "mode",
           .bias = false}};
}

TEST(SphericalConvolution, EqualsTheDefinitionInEveryLayout) {
  int number = 0;
  for (const Convolution& c : convolutions())
    for (const std::string& split : test::splitsOf(c.field()))
      ASSERT_NO_FATAL_FAILURE(expectConvolution(c, onWorld(c.field(), split), "",
                                                ++number % 4 == 0 ? TENON_FLOAT32 : TENON_FLOAT64));
}

TEST(SphericalConvolution, EqualsTheDefinitionWithEveryLabel) {
  const std::vector<std::string> labels = {"n", "c", "h", "w", "o", "i", "l", "B", "R"};
  const int size = world()->size();
  for (const char* weights : {"degree", "mode", "shared"}) {
    Convolution c = convolutions().front();
    c.weights = weights;
    for (std::size_t k = 0; k < labels.size(); ++k)
      if (size % 2 == 0) {
        ASSERT_NO_FATAL_FAILURE(expectConvolution(c, onWorld(c.field(), {2, size / 2}, "S2,S3"),
                                                  labels[k] + "," + labels[(2 * k + 1) % 9]));
      } else {
        ASSERT_NO_FATAL_FAILURE(expectConvolution(c, onWorld(c.field(), "S2"), labels[k]));
      }
  }
}

TEST(SphericalConvolution, EqualsTheDefinitionInDrawnLayouts) {
  test::LayoutDraw draw(93);
  for (int i = 0, end = test::draws(20); i < end; ++i) {
    const Convolution c = convolutions()[std::size_t(i) % 5];
    const Layout input = test::drawInput(draw, c.field());
    if (!input.holdsPartialSums()) {
      ASSERT_NO_FATAL_FAILURE(expectConvolution(c, input, ""));
    }
  }
}

// Rows to orders to degrees and back are four exchanges, in each of which a rank sends all but its
// own part to each other rank; the adjoint sends as much.
TEST(SphericalConvolution, ExchangesCoefficientsFourTimes) {
  const Index ranks = world()->size(), batch = 2, channels = 3, modes = 12;
  if (modes % ranks != 0)
    return;
  const SphereCase sphere{.rows = modes, .columns = 24, .degrees = modes, .orders = modes};
  const Convolution c{.in = sphere,
                      .out = sphere,
                      .batch = batch,
                      .inputs = channels,
                      .outputs = channels,
                      .bias = false};
  const Ref<Layer> layer = layerOf(c);
  test::Step step(layer, onWorld(c.field(), "S2"));
  test::fillFrom(*step.x, elementsOf(c.field()));
  test::fillFrom(*step.dy, elementsOf(c.output(), 3));
  const Index own = modes / ranks, complexBytes = 16;
  const test::Sent wanted = {4 * (ranks - 1),
                             4 * batch * channels * own * (modes - own) * complexBytes};
  EXPECT_EQ(test::sentIn([&] { step.apply(); }), wanted);
  EXPECT_EQ(test::sentIn([&] { step.adjoint(); }), wanted);
}

// A field of the band is returned by weights of 1: orders that are read in another order than they
// are stored in would be seen here, in contrast to comparisons of layouts.
TEST(SphericalConvolution, ReturnsAFieldForWeightsOfOne) {
  for (const char* weights : {"degree", "mode", "shared"}) {
    const SphereCase sphere{.rows = 6, .columns = 13, .degrees = 6, .orders = 6};
    const Convolution c{.in = sphere,
                        .out = sphere,
                        .batch = 1,
                        .inputs = 2,
                        .outputs = 2,
                        .weights = weights,
                        .bias = false};
    const std::vector<double> x = test::multiplied(sphere.matrix(true), /*transposed=*/true, 78, 72,
                                                   elementsOf({2, 6, 6, 2}));
    std::vector<double> weight(std::size_t(elements(c.weight())), 0);
    for (std::size_t k = 0; k < weight.size(); k += 2) {
      const std::size_t channels = k / (weight.size() / 4);
      weight[k] = channels == 0 || channels == 3 ? 1 : 0;
    }
    test::Step step(layerOf(c), onWorld(c.field(), "S3"));
    test::fillFrom(*step.x, x);
    setParameter(*step.layer, 0, weight);
    step.apply();
    test::expectNear(gathered(*step.y), x, 1e-13, weights);
  }
}

TEST(DegreeProduct, MultipliesByItsFormulas) {
  const Shape shape = {2, 2, 3, 5, 2};
  const auto expect = [&](test::Settings settings, const std::vector<double>& factors) {
    std::vector<double> want = elementsOf(shape);
    for (std::size_t k = 0; k < want.size(); ++k)
      want[k] *= factors[k / 2 % 5];
    test::expectOutput("degreeproduct", settings, shape, shape, want);
  };
  expect({{"filter", std::string("laplacian")}}, {0, -2, -6, -12, -20});
  expect({{"filter", std::string("inverse_laplacian")}}, {0, -1. / 2, -1. / 6, -1. / 12, -1. / 20});
  expect({{"filter", std::string("diffusion")}, {"rate", 0.01}, {"power", 2.0}},
         {1, std::exp(-0.04), std::exp(-0.36), std::exp(-1.44), std::exp(-4.0)});
}

} // namespace
} // namespace tenon
