// SPDX-License-Identifier: BSD-2-Clause
// Imported functions of numbers that are infinite or NaN, and where derivatives are infinite or
// NaN, compared with PyTorch: NaN where PyTorch has NaN, and nowhere else.
#include "import/arrays.hpp"
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

using test::world;

// A network of two inputs of one layout, set up in float64 without its test.
Ref<Layer> networkOf(const std::string& file, const Layout& field) {
  auto layer = makeModel(world());
  layer->set("path", TENON_TEST_MODELS "/" + file);
  layer->setDataType(TENON_FLOAT64);
  layer->setUp(Layouts{field, field});
  return layer;
}

// Maxima, minima and thresholds of NaN are NaN, as in PyTorch and ONNX. Element 7 of one input and
// element 9 of the other are NaN; so must be the results there, and no others.
TEST(NoNumber, IsKeptByMaximaAndThresholds) {
  const NoTraps noTraps; // NaN is compared
  for (const char* file : {"extremes.f64.pt2", "extremes.onnx"}) {
    const Layout field = test::onWorld({2, 1, 12, 16}, "B");
    const Ref<Layer> layer = networkOf(file, field);
    // On the heap: the layer holds references to its inputs for the adjoint, and is destroyed last.
    const Ref<DTensor> x = test::tensor(field, TENON_FLOAT64),
                       z = test::tensor(field, TENON_FLOAT64),
                       y = test::tensor(layer->outputLayouts().front(), TENON_FLOAT64);
    fillConstant(*x, 1);
    fillConstant(*z, 2);
    x->mutableData<double>()[7] = z->mutableData<double>()[9] = std::nan("");
    const DTensor* in[] = {x.get(), z.get()};
    DTensor* out[] = {y.get()};
    layer->apply(Inputs(in, 2), Outputs(out, 1));
    const std::vector<double> found = test::gathered(*y);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::isnan(found[i]), i == 7 || i == 9) << file << " at " << i;
  }
}

// Expects NaN and infinities where they are expected, and other numbers to 12 digits.
void expectSame(const char* what, const std::vector<double>& found,
                const std::vector<double>& expected, Index columns) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool isNumber = std::isfinite(expected[i]);
    const bool isSame =
        isNumber ? std::abs(found[i] - expected[i]) <= 1e-12 * std::max(std::abs(expected[i]), 1.0)
                 : found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
    EXPECT_TRUE(isSame) << what << " of function " << static_cast<Index>(i) / columns
                        << " at point " << static_cast<Index>(i) % columns << ": " << found[i]
                        << " for " << expected[i];
  }
}

// x log(y), the losses of counts and that of distributions, at all pairs of numbers among which are
// 0, negative ones, an infinity and NaN (class Points of small_operators.py).
TEST(NoNumber, IsWherePyTorchHasIt) {
  const NoTraps noTraps; // divides by 0
  const test::Arrays arrays(TENON_TEST_MODELS "/points.exact.npz");
  const Shape shape = arrays.find("in.x")->shape;
  const Layout field = test::onWorld(shape, "S1");
  const Ref<Layer> layer = networkOf("points.f64.pt2", field);
  const Layout output = layer->outputLayouts().front();
  const Ref<DTensor> x = test::tensor(field, TENON_FLOAT64), z = test::tensor(field, TENON_FLOAT64),
                     dx = test::tensor(field.dual(), TENON_FLOAT64),
                     dz = test::tensor(field.dual(), TENON_FLOAT64),
                     y = test::tensor(output, TENON_FLOAT64),
                     dy = test::tensor(output.dual(), TENON_FLOAT64);
  test::fillWith(*x, arrays, "in.x");
  test::fillWith(*z, arrays, "in.z");
  fillConstant(*dy, 1);
  const DTensor *in[] = {x.get(), z.get()}, *cotangents[] = {dy.get()};
  DTensor *out[] = {y.get()}, *gradients[] = {dx.get(), dz.get()};
  layer->apply(Inputs(in, 2), Outputs(out, 1));
  layer->applyAdjoint(OutputCotangents(cotangents, 1), InputCotangents(gradients, 2));
  const auto compare = [&](const char* name, const DTensor& found) {
    expectSame(name, test::gathered(found), arrays.numbers(*arrays.find(name)), shape[1]);
  };
  compare("out.y", *y);
  compare("grad.x", *dx);
  compare("grad.z", *dz);
}

} // namespace
} // namespace tenon
