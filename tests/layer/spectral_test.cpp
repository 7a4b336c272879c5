// SPDX-License-Identifier: BSD-2-Clause
// The spectral convolution against discrete Fourier transforms by their definition, in the
// convention of PyTorch implementations of Fourier neural operators: the real transform of the
// field, products for the low modes, zero for all others, and the inverse real transform.
#include "kernels/base/backend.hpp"
#include "layer_run.hpp"

#include <complex>

namespace tenon {
namespace {

using test::world;
using Complex = std::complex<double>;

// The shapes of a spectral convolution.
struct Case {
  Shape field; // [batch, in, space...]
  Index out;
  std::vector<Index> modes;
};

double fieldAt(Index i) {
  return std::sin(0.7 * static_cast<double>(i)) + 0.1 * static_cast<double>(i % 5);
}
double weightAt(Index i) {
  return std::cos(1.3 * static_cast<double>(i));
}

Index product(const Shape& shape, std::size_t first) {
  Index all = 1;
  for (std::size_t d = first; d < shape.size(); ++d)
    all *= shape[d];
  return all;
}

Shape indexOf(Index flat, const Shape& extents) {
  Shape index(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; flat /= extents[d])
    index[d] = flat % extents[d];
  return index;
}

// exp(sign 2 pi i sum over d of k_d j_d / n_d) for the mode k at the element j.
Complex wave(const Shape& k, const Shape& j, const Shape& extents, double sign) {
  double angle = 0;
  for (std::size_t d = 0; d < k.size(); ++d)
    angle +=
        2 * std::acos(-1.0) * static_cast<double>(k[d] * j[d]) / static_cast<double>(extents[d]);
  return std::polar(1.0, sign * angle);
}

// The reference: sums over all elements for each mode, and over all modes for each element.
std::vector<double> transformed(const Case& c) {
  const Shape space(c.field.begin() + 2, c.field.end());
  Shape kept = c.modes;
  for (std::size_t d = 0; d + 1 < kept.size(); ++d)
    kept[d] *= 2;
  const Index elements = product(space, 0), modes = product(kept, 0), in = c.field[1];
  std::vector<double> y(static_cast<std::size_t>(c.field[0] * c.out * elements), 0);
  for (Index m = 0; m < modes; ++m) {
    Shape k = indexOf(m, kept);
    for (std::size_t d = 0; d + 1 < k.size(); ++d)
      if (k[d] >= c.modes[d])
        k[d] += space[d] - kept[d]; // negative modes are at the end
    // Of two conjugate modes k and -k of the last dimension, only one is stored; both together have
    // twice its real part. Modes 0 and n / 2 are their own conjugates.
    const bool isOwnMirror = k.back() == 0 || 2 * k.back() == space.back();
    for (Index n = 0; n < c.field[0]; ++n)
      for (Index o = 0; o < c.out; ++o) {
        Complex Y = 0;
        for (Index i = 0; i < in; ++i) {
          Complex X = 0;
          for (Index j = 0; j < elements; ++j)
            X += fieldAt((n * in + i) * elements + j) * wave(k, indexOf(j, space), space, -1);
          const Index w = 2 * ((i * c.out + o) * modes + m);
          Y += X * Complex(weightAt(w), weightAt(w + 1));
        }
        for (Index j = 0; j < elements; ++j)
          y[static_cast<std::size_t>((n * c.out + o) * elements + j)] +=
              (isOwnMirror ? 1 : 2) * (Y * wave(k, indexOf(j, space), space, 1)).real() /
              static_cast<double>(elements);
      }
  }
  return y;
}

Ref<Layer> spectral(const Case& c) {
  const auto layer = test::newLayer(world(), "spectralconv");
  layer->set("in_channels", c.field[1]);
  layer->set("out_channels", c.out);
  layer->set("modes", c.modes);
  return layer;
}

// The backends of this build; FFTW only if it has both data types.
const std::vector<std::string>& backends() {
  static const std::vector<std::string> all =
      hasFftw() ? std::vector<std::string>{"fftw", "auto", "blas"}
                : std::vector<std::string>{"blas", "auto", "reference"};
  return all;
}

TEST(Spectral, EqualsTransformsByDefinition) {
  test::LayoutDraw draw(81);
  // Lines of odd and even extent, the latter with all modes (8 / 2 + 1), and two and three
  // dimensions.
  for (const Case& c : {Case{.field = {2, 3, 9}, .out = 2, .modes = {4}},
                        Case{.field = {2, 2, 8}, .out = 3, .modes = {5}},
                        Case{.field = {2, 2, 6, 5}, .out = 2, .modes = {2, 3}},
                        Case{.field = {1, 2, 4, 6, 4}, .out = 2, .modes = {2, 1, 3}}})
    for (int i = 0; i < 5; ++i) {
      const TenonDataType type = i > 2 ? TENON_FLOAT32 : TENON_FLOAT64;
      const std::vector<double> want = transformed(c);
      const Ref<Layer> layer = spectral(c);
      layer->setText("backend", backends()[static_cast<std::size_t>(i) % backends().size()]);
      test::Step step(layer, test::drawInput(draw, c.field), type);
      fillByIndex(*step.x, fieldAt);
      Parameter& weight = *step.layer->parameters()[0];
      fillByIndex(weight.value(), weightAt);
      weight.valueChanged();
      step.apply();
      test::expectNear(test::gathered(*step.y), want, type == TENON_FLOAT32 ? 1e-5 : 1e-13,
                       step.x->layout().describe());
    }
}

TEST(Spectral, ShowsHowItTransforms) {
  for (const std::string& backend : backends()) {
    const Ref<Layer> layer = spectral({.field = {2, 2, 8, 8}, .out = 2, .modes = {2, 2}});
    layer->setText("backend", backend);
    layer->setUp(test::onWorld({2, 2, 8, 8}, "B"));
    const char* method = backend == "fftw"                ? "FFTW, FFTW"
                         : backend == "auto" && hasFftw() ? "FFTW, matrix"
                                                          : "matrix, matrix";
    EXPECT_NE(layer->describe().find(std::string("transforms by dimension: ") + method),
              std::string::npos)
        << layer->describe();
  }
}

TEST(Spectral, RefusesMoreModesThanThereAre) {
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"keeps 3 modes", "has at most 2"}, [] {
    spectral({.field = {1, 1, 4, 8}, .out = 1, .modes = {3, 2}})
        ->setUp(test::onWorld({1, 1, 4, 8}, "B"));
  });
  for (const std::size_t spatial : {4, 6}) {
    Shape shape(2 + spatial, 4);
    shape[0] = shape[1] = 1;
    test::expectErrorOnAll(TENON_ERR_SHAPE, {"1 to 3 spatial dimensions"}, [&] {
      spectral({.field = shape, .out = 1, .modes = std::vector<Index>(spatial, 1)})
          ->setUp(test::onWorld(shape, "B"));
    });
  }
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"2 spatial dimensions"}, [] {
    spectral({.field = {1, 1, 4, 8}, .out = 1, .modes = {2, 2}})
        ->setUp(test::onWorld({1, 1, 8}, "B"));
  });
}

} // namespace
} // namespace tenon
