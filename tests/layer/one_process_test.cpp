// SPDX-License-Identifier: BSD-2-Clause
// Every layer on every tried mesh equals the one-process layer: forward, input gradient and
// parameter gradients. The one-process layer runs on each rank by itself with the reference
// kernels.
#include "layer_cases.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::drawInput;
using test::LayerCase;
using test::LayoutDraw;
using test::world;

CommPtr self() {
  return Communicator::of(MPI_COMM_SELF);
}

Layout everywhere(const Shape& shape) {
  return Layout({.shape = shape,
                 .mesh = Mesh::make({world()->size()}),
                 .properties = {Property::broadcast()}});
}
Layout alone(const Shape& shape) {
  return Layout({.shape = shape, .mesh = Mesh::make({1}), .properties = {Property::broadcast()}});
}

// The value of a distributed tensor on every rank.
std::vector<double> gathered(const DTensor& x) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    DTensor all(world(), everywhere(x.layout().shape()), x.dataType());
    Conversion(world(), x.layout(), all.layout(), x.dataType()).apply(x, all);
    return std::vector<double>(all.data<T>(), all.data<T>() + all.localCells());
  });
}

// The value of a cotangent: its layout is a dual, whose value is that of the layout without the
// conversion; P and G* sum up.
template <class T>
std::vector<double> local(const DTensor& x) {
  return std::vector<double>(x.data<T>(), x.data<T>() + x.localCells());
}

void expectNear(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 1;
  for (double w : want)
    scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * scale) << what << " at " << i;
}

template <class T>
struct Run {
  std::vector<double> y, dx;
  std::vector<std::vector<double>> gradients;
};

constexpr std::uint64_t kSeed = 11;

template <class T>
Run<T> runAlone(const LayerCase& c) {
  const Ref<Layer> layer = c.make(self());
  layer->setDataType(dataTypeOf<T>());
  layer->setBackend("reference");
  const Layout input = alone(c.input);
  layer->setUp(input);
  layer->initialize(kSeed, 0);
  for (const auto& p : layer->parameters())
    if (p->name() == "bias")
      fillUniform(p->value(), kSeed, 5, -1, 1);
  DTensor x(self(), input, dataTypeOf<T>()), dx(self(), input.dual(), dataTypeOf<T>());
  const Layout output = layer->outputLayout(input);
  DTensor y(self(), output, dataTypeOf<T>()), dy(self(), output.dual(), dataTypeOf<T>());
  fillUniform(x, kSeed, 1, -1, 1);
  fillUniform(dy, kSeed, 2, -1, 1);
  layer->apply(x, y);
  layer->applyAdjoint(dy, &dx);
  Run<T> run{local<T>(y), local<T>(dx), {}};
  for (const auto& p : layer->parameters())
    run.gradients.push_back(local<T>(p->gradient()));
  return run;
}

template <class T>
void expectEqualToOneProcess(const LayerCase& c, const Layout& input, const std::string& storage,
                             double tolerance) {
  const Run<T> want = runAlone<T>(c);
  const Ref<Layer> layer = c.make(world());
  layer->setDataType(dataTypeOf<T>());
  layer->setStorage(storage);
  layer->setUp(input);
  layer->initialize(kSeed, 0);
  for (const auto& p : layer->parameters())
    if (p->name() == "bias") {
      fillUniform(p->value(), kSeed, 5, -1, 1);
      p->valueChanged();
    }
  const std::string what = c.name + " on " + input.describe() + "\n" + layer->describe();
  DTensor x(world(), input, dataTypeOf<T>()), dx(world(), input.dual(), dataTypeOf<T>());
  const Layout output = layer->outputLayout(input);
  DTensor y(world(), output, dataTypeOf<T>()), dy(world(), output.dual(), dataTypeOf<T>());
  fillUniform(x, kSeed, 1, -1, 1);
  fillUniform(dy, kSeed, 2, -1, 1);
  layer->apply(x, y);
  layer->applyAdjoint(dy, &dx);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(y), want.y, tolerance, "output of " + what));
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(dx), want.dx, tolerance, "input gradient of " + what));
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        expectNear(gathered(layer->parameters()[i]->gradient()), want.gradients[i], tolerance,
                   "gradient of " + layer->parameters()[i]->name() + " of " + what));
}

class OneProcess : public testing::TestWithParam<LayerCase> {};

TEST_P(OneProcess, EqualsEveryLayoutInFloat64) {
  LayoutDraw draw(7);
  for (int i = 0; i < 25; ++i) {
    const Layout input = drawInput(draw, GetParam().input);
    ASSERT_NO_FATAL_FAILURE(
        expectEqualToOneProcess<double>(GetParam(), input, i % 3 == 0 ? "root" : "use", 1e-12));
  }
}

TEST_P(OneProcess, EqualsEveryLayoutInFloat32) {
  LayoutDraw draw(8);
  for (int i = 0; i < 8; ++i) {
    const Layout input = drawInput(draw, GetParam().input);
    ASSERT_NO_FATAL_FAILURE(
        expectEqualToOneProcess<float>(GetParam(), input, i % 3 == 0 ? "root" : "use", 2e-5));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, OneProcess, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon
