// SPDX-License-Identifier: BSD-2-Clause
// Helpers of the tests of layers; all of them work on all ranks (world()) and are collective:
//
//   tensor(), onWorld()          creation of tensors and layouts
//   fillValid(), fillParameters()  random values that are the same on any partition
//   Step                         a layer that is set up, with its tensors x, y, dy and dx
//   gathered(), localCells()     the values of a tensor: all of them on every rank; this rank's
//   expectNear(), expectErrorOnAll()  comparisons
#pragma once

#include "dtensor/arithmetic.hpp"
#include "layer_cases.hpp"
#include "linop/exchange/make_conversion.hpp"

#include <gtest/gtest.h>

namespace tenon::test {

inline constexpr std::uint64_t kSeed = 11;

inline Ref<DTensor> tensor(const Layout& layout, TenonDataType type = TENON_FLOAT64) {
  return makeRef<DTensor>(world(), layout, type);
}

// A layout of all ranks in order: onWorld({8, 4}, {2, 3}, "S0,B").
inline Layout onWorld(const Shape& shape, const std::vector<int>& grid,
                      const std::string& properties) {
  return Layout(
      {.shape = shape, .grid = Grid::make(grid), .properties = parseProperties(properties)});
}
inline Layout onWorld(const Shape& shape, const std::string& property) {
  return onWorld(shape, {world()->size()}, property);
}

// Fills a tensor with random values that its layout allows: copies on several ranks are equal. In a
// layout of partial sums, every contribution is random. If one contribution had the whole value and
// the others were zero, a layer that wrongly applies a nonlinear function to each contribution
// could pass a test.
inline void fillValid(DTensor& x, std::uint64_t stream, double low, double high) {
  Properties copies = x.layout().properties();
  for (int axis = 0; axis < x.layout().grid().axes(); ++axis)
    if (copies[axis].isPartial()) {
      copies[axis] = Property::broadcast();
      if (x.position() >= 0)
        stream = 64 * stream + x.layout().grid().coordinate(x.position(), axis);
    }
  LayoutSpec spec = x.layout().spec();
  spec.properties = copies;
  const Ref<DTensor> contribution = makeRef<DTensor>(x.comm(), Layout(spec), x.dataType());
  fillUniform(*contribution, kSeed, stream, low, high);
  copyLocal(*contribution, x);
}
inline void fillValid(DTensor& x, std::uint64_t stream, double bound = 1) {
  fillValid(x, stream, -bound, bound);
}

// The value of a distributed tensor on every rank; contributions are summed.
inline std::vector<double> gathered(const DTensor& x) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    const Ref<DTensor> all = tensor(onWorld(x.layout().shape(), "B"), x.dataType());
    makeConversion(world(), x.layout(), all->layout(), x.dataType())->apply(x, *all);
    const DTensor& everywhere = *all;
    return std::vector<double>(everywhere.data<T>(), everywhere.data<T>() + all->localElements());
  });
}

// This rank's elements in row-major order, whatever the strides.
inline std::vector<double> localCells(const DTensor& x) {
  const Ref<DTensor> packed = makeRef<DTensor>(x.comm(), x.layout(), x.dataType());
  copyLocal(x, *packed);
  return visitFloating(x.dataType(), [&]<class T>(T) {
    const DTensor& y = *packed;
    return std::vector<double>(y.data<T>(), y.data<T>() + y.localElements());
  });
}

// Compares element by element; the tolerance is relative to the largest wanted number, or to 1.
inline void expectNear(const std::vector<double>& got, const std::vector<double>& want,
                       double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 1;
  for (double w : want)
    scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * scale) << what << " at " << i;
}

// Draws weights by the layer's initializer, and biases from [-1, 1]: the same on any partition.
inline void fillParameters(Layer& layer) {
  layer.initialize(kSeed, 0);
  for (const auto& p : layer.parameters())
    if (p->name() == "bias") {
      fillUniform(p->value(), kSeed, /*stream=*/5, -1, 1);
      p->valueChanged();
    }
}

// A layer set up for one input, with the tensors of one Apply and adjoint.
struct Step {
  Ref<Layer> layer;
  Ref<DTensor> x, y, dy, dx;

  Step(Ref<Layer> given, const Layout& input, TenonDataType type = TENON_FLOAT64)
      : layer(std::move(given)) {
    if (!layer->isSetUp())
      layer->setDataType(type);
    layer->setUp(input);
    const Layout output = layer->outputLayout(input);
    x = tensor(input, type);
    y = tensor(output, type);
    dy = tensor(output.dual(), type);
    dx = tensor(input.dual(), type);
  }
  void apply() { layer->apply(*x, *y); }
  void adjoint() { layer->applyAdjoint(*dy, dx.get()); }
};

// Runs a call on all ranks that must throw the same error on all of them, with this code and these
// parts in its text.
template <class Call>
void expectErrorOnAll(TenonErrorCode code, std::initializer_list<const char*> parts, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    EXPECT_TRUE(error.isAgreed() || world()->size() == 1) << error.text();
    for (const char* part : parts)
      EXPECT_NE(error.text().find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.text();
    return;
  }
  ADD_FAILURE() << "no error; expected " << errorName(code);
}

} // namespace tenon::test
