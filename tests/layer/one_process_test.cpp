// SPDX-License-Identifier: BSD-2-Clause
// Every layer (layer_cases.hpp) in random layouts equals the one-process layer: forward, input
// gradient and parameter gradients. The one-process layer runs on each rank alone (MPI_COMM_SELF)
// with the reference kernels.
#include "kernels/convolution/backends.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"

namespace tenon {
namespace {

using test::drawInput;
using test::expectNear;
using test::gathered;
using test::kSeed;
using test::LayerCase;
using test::LayoutDraw;
using test::localCells;

CommPtr self() {
  return Communicator::of(MPI_COMM_SELF);
}

Layout alone(const Shape& shape) {
  return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

struct Run {
  std::vector<double> y, dx;
  std::vector<std::vector<double>> gradients;
};

// The results of the layer on this rank alone.
Run runAlone(const LayerCase& c, TenonDataType type) {
  const Ref<Layer> layer = c.make(self());
  layer->setDataType(type);
  layer->setText("backend", "reference");
  const Layout input = alone(c.input);
  layer->setUp(input);
  test::fillParameters(*layer);
  const Layout output = layer->outputLayout(input);
  const auto x = makeRef<DTensor>(self(), input, type), y = makeRef<DTensor>(self(), output, type),
             dx = makeRef<DTensor>(self(), input.dual(), type),
             dy = makeRef<DTensor>(self(), output.dual(), type);
  fillUniform(*x, kSeed, /*stream=*/1, -1, 1);
  fillUniform(*dy, kSeed, /*stream=*/2, -1, 1);
  layer->apply(*x, *y);
  layer->applyAdjoint(*dy, dx.get());
  Run run{localCells(*y), localCells(*dx), {}};
  for (const auto& p : layer->parameters())
    run.gradients.push_back(localCells(p->gradient()));
  return run;
}

// Runs the layer on all ranks and compares its results with those of runAlone().
void expectEqualToOneProcess(const LayerCase& c, const Layout& input, const std::string& storage,
                             TenonDataType type, double tolerance) {
  const Run want = runAlone(c, type);
  const Ref<Layer> layer = c.make(test::world());
  layer->setText("storage", storage);
  test::Step step(layer, input, type);
  test::fillParameters(*layer);
  const std::string what = c.name + " on " + input.describe() + "\n" + layer->describe();
  fillUniform(*step.x, kSeed, /*stream=*/1, -1, 1);
  fillUniform(*step.dy, kSeed, /*stream=*/2, -1, 1);
  step.apply();
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*step.y), want.y, tolerance, "output of " + what));
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(*step.dx), want.dx, tolerance, "input gradient of " + what));
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        expectNear(gathered(layer->parameters()[i]->gradient()), want.gradients[i], tolerance,
                   "gradient of " + layer->parameters()[i]->name() + " of " + what));
}

class OneProcess : public testing::TestWithParam<LayerCase> {};

TEST_P(OneProcess, EqualsEveryLayoutInFloat64) {
  LayoutDraw draw(7);
  for (int i = 0, end = test::draws(25); i < end; ++i) {
    const Layout input = drawInput(draw, GetParam().input);
    ASSERT_NO_FATAL_FAILURE(expectEqualToOneProcess(GetParam(), input, i % 3 == 0 ? "root" : "use",
                                                    TENON_FLOAT64, 1e-12));
  }
}

TEST_P(OneProcess, EqualsEveryLayoutInFloat32) {
  LayoutDraw draw(8);
  for (int i = 0, end = test::draws(8); i < end; ++i) {
    const Layout input = drawInput(draw, GetParam().input);
    ASSERT_NO_FATAL_FAILURE(expectEqualToOneProcess(GetParam(), input, i % 3 == 0 ? "root" : "use",
                                                    TENON_FLOAT32, 2e-5));
  }
}

// On more than two ranks, some ranks have no rows of the output.
TEST(OneProcessOfDirectKernels, EqualsRanksWithoutOutputs) {
  if (!whyNotDirect({.rank = 1}).empty())
    GTEST_SKIP() << whyNotDirect({.rank = 1});
  for (const char* type : {"conv", "transposedconv"}) {
    const LayerCase c{type, {2, 40, 2, 9}, [=](CommPtr comm) {
                        const auto layer = test::newLayer(comm, type);
                        layer->set("in_channels", Index(40));
                        layer->set("out_channels", Index(6));
                        layer->set("kernel", std::vector<Index>{3, 3});
                        layer->set("padding", std::vector<Index>{1, 1});
                        layer->setText("backend", "direct");
                        return layer;
                      }};
    for (const char* properties : {"S2", "S3", "S0"})
      for (const TenonDataType dataType : {TENON_FLOAT64, TENON_FLOAT32})
        ASSERT_NO_FATAL_FAILURE(expectEqualToOneProcess(c, test::onWorld(c.input, properties),
                                                        "use", dataType,
                                                        dataType == TENON_FLOAT64 ? 1e-12 : 2e-5));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, OneProcess, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon
