// SPDX-License-Identifier: BSD-2-Clause
// Layers whose kernels are products: on the device they give what they give on the host with the same
// parameters, in output, tangent, input gradient and parameter gradients.
#include "layer_run.hpp"

#include <array>

namespace tenon {
namespace {

using test::expectNear;
using test::kSeed;
using test::LayerCase;
using test::localCells;

Layout alone(const Shape& shape) {
  return Layout({.shape = shape, .mesh = Mesh::make({1}), .properties = {Property::broadcast()}});
}

// Output, tangent, input gradient, and gradients of the parameters.
std::vector<std::vector<double>> run(const LayerCase& c, TenonDataType type, Space space,
                                     const char* backend) {
  const Ref<Layer> layer = c.make(test::world());
  layer->setDataType(type);
  layer->setSpace(space);
  layer->setText("backend", backend);
  const Layout input = alone(c.input);
  layer->setUp(input);
  test::fillParameters(*layer);
  const Layout output = layer->outputLayout(input);
  const auto made = [&](const Layout& layout, std::uint64_t stream) {
    const auto x = makeRef<DTensor>(test::world(), layout, type, space);
    fillUniform(*x, kSeed, stream, -1, 1);
    return x;
  };
  const auto x = made(input, 1), dy = made(output.dual(), 2), direction = made(input, 3);
  const auto y = made(output, 4), ofDirection = made(output, 4), dx = made(input.dual(), 4);
  layer->apply(*x, *y);
  layer->applyTangent(direction.get(), *ofDirection);
  layer->applyAdjoint(*dy, dx.get());
  std::vector<std::vector<double>> results{localCells(*y), localCells(*ofDirection),
                                           localCells(*dx)};
  for (const auto& p : layer->parameters())
    results.push_back(localCells(p->gradient()));
  return results;
}

std::vector<LayerCase> products() {
  std::vector<LayerCase> cases = test::layerCases();
  std::erase_if(cases, [](const LayerCase& c) {
    const auto begins = [&](const char* name) { return c.name.starts_with(name); };
    return !begins("conv_") && !begins("affine") && !begins("transposedconv") && !begins("net") &&
           !begins("residual");
  });
  return cases;
}

class Products : public testing::TestWithParam<LayerCase> {};

TEST_P(Products, OnTheDeviceAreThoseOfTheHost) {
  for (TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
    const auto want = run(GetParam(), type, Space::Host, "reference");
    for (const char* backend : {"cudnn", "gemm"}) {
      const auto got = run(GetParam(), type, Space::Device, backend);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(expectNear(got[i], want[i], type == TENON_FLOAT64 ? 1e-12 : 1e-5,
                                           GetParam().name + " by " + backend));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Products, testing::ValuesIn(products()),
                         [](const auto& info) { return info.param.name; });

TEST(ProductsOnTheDevice, OfTwoInputsAreThoseOfTheHost) {
  const auto run = [](Space space) {
    const Ref<Layer> layer = test::newLayer(test::world(), "matmul");
    layer->setDataType(TENON_FLOAT64);
    layer->setSpace(space);
    const Layouts inputs{alone({3, 4, 5}), alone({3, 5, 2})};
    layer->setUp(inputs);
    const auto made = [&](const Layout& layout, std::uint64_t stream) {
      const auto x = makeRef<DTensor>(test::world(), layout, TENON_FLOAT64, space);
      fillUniform(*x, kSeed, stream, -1, 1);
      return x;
    };
    const auto a = made(inputs[0], 1), b = made(inputs[1], 2), y = made(alone({3, 4, 2}), 3);
    const auto dy = made(y->layout().dual(), 4), da = made(inputs[0].dual(), 5),
               db = made(inputs[1].dual(), 6);
    layer->apply(std::array<const DTensor*, 2>{a.get(), b.get()}, *y);
    layer->applyAdjoint(*dy, std::array<DTensor*, 2>{da.get(), db.get()});
    return std::vector<std::vector<double>>{localCells(*y), localCells(*da), localCells(*db)};
  };
  const auto want = run(Space::Host), got = run(Space::Device);
  for (std::size_t i = 0; i < want.size(); ++i)
    expectNear(got[i], want[i], 1e-12, "matmul");
}

TEST(ProductsOnTheDevice, RefuseBackendsOfTheHostAtSetUp) {
  for (const char* backend : {"blas", "onednn", "direct", "reference"})
    for (const LayerCase& c : {products().front(), products().back()}) {
      const Ref<Layer> layer = c.make(test::world());
      layer->setSpace(Space::Device);
      layer->setText("backend", backend);
      test::expectErrorOnAll(TENON_ERR_SUPPORT, {backend, "on the host", "'gemm'"},
                             [&] { layer->setUp(alone(c.input)); });
    }
}

TEST(ProductsOnTheHost, RefuseBackendsOfTheDeviceAtSetUp) {
  for (const char* backend : {"cudnn", "gemm"})
    for (const LayerCase& c : {products().front(), products().back()}) {
      const Ref<Layer> layer = c.make(test::world());
      layer->setText("backend", backend);
      test::expectErrorOnAll(TENON_ERR_SUPPORT, {backend, "on the device", "'blas'"},
                             [&] { layer->setUp(alone(c.input)); });
    }
}

} // namespace
} // namespace tenon
