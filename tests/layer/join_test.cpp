// SPDX-License-Identifier: BSD-2-Clause
// Sums and concatenations of tensors in random layouts, on any grids: forward against whole arrays,
// the adjoint by the dot test against the tangent, the choice of the output's layout, and errors.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::gathered;
using test::LayoutDraw;
using test::onWorld;
using test::tensor;
using test::world;

std::vector<Ref<DTensor>> tensorsIn(const Layouts& layouts, TenonDataType type) {
  std::vector<Ref<DTensor>> tensors;
  for (const Layout& layout : layouts)
    tensors.push_back(tensor(layout, type));
  return tensors;
}

template <class T>
std::vector<T*> pointers(const std::vector<Ref<DTensor>>& tensors) {
  std::vector<T*> result;
  for (const auto& t : tensors)
    result.push_back(t.get());
  return result;
}

Layouts duals(const Layouts& layouts) {
  Layouts result;
  for (const Layout& layout : layouts)
    result.push_back(layout.dual());
  return result;
}

// The reference: y[a, j, b] = x_i[a, j - begin_i, b] on whole arrays, viewed as [outer, joined,
// inner] around the dimension `dim`, where the part x_i begins at j = begin_i.
std::vector<double> concatenated(const std::vector<std::vector<double>>& parts,
                                 const std::vector<Shape>& shapes, int dim) {
  Index outer = 1, inner = 1;
  for (int d = 0; d < static_cast<int>(shapes[0].size()); ++d)
    if (d != dim)
      (d < dim ? outer : inner) *= shapes[0][d];
  std::vector<double> whole;
  for (Index a = 0; a < outer; ++a)
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Index run = shapes[i][dim] * inner;
      whole.insert(whole.end(), parts[i].begin() + a * run, parts[i].begin() + (a + 1) * run);
    }
  return whole;
}

std::vector<double> sumOf(const std::vector<std::vector<double>>& parts) {
  std::vector<double> sum(parts[0].size(), 0.0);
  for (const auto& part : parts)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += part[i];
  return sum;
}

// Compares a concatenation along `dim`, or a sum if dim is -1, in random layouts.
void expectJoins(LayoutDraw& draw, int dim, TenonDataType type, double tolerance) {
  Layouts layouts;
  std::vector<Shape> shapes;
  const int count = draw.between(1, 4);
  for (int i = 0; i < count; ++i) {
    Shape shape = {4, 5, 3};
    if (dim >= 0)
      shape[dim] = draw.upTo(5); // with 0: some inputs are empty
    shapes.push_back(shape);
    layouts.push_back(test::drawInput(draw, shape));
  }
  const Ref<Layer> layer = dim < 0 ? Ref<Layer>(test::newLayer(world(), "add"))
                                   : Ref<Layer>(test::newConcatenate(world(), dim));
  layer->setDataType(type);
  layer->setUp(layouts);
  const std::string what = layer->describe();
  const auto x = tensorsIn(layouts, type), dx = tensorsIn(duals(layouts), type);
  std::vector<std::vector<double>> parts;
  for (int i = 0; i < count; ++i) {
    test::fillValid(*x[i], 3 + i);
    parts.push_back(gathered(*x[i]));
  }
  const auto y = tensor(layer->outputLayout(), type), jx = tensor(layer->outputLayout(), type),
             dy = tensor(layer->outputLayout().dual(), type);
  layer->apply(pointers<const DTensor>(x), *y);
  const auto want = dim < 0 ? sumOf(parts) : concatenated(parts, shapes, dim);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*y), want, tolerance, what));

  test::fillValid(*dy, 2);
  layer->applyTangent(pointers<const DTensor>(x), *jx);
  layer->applyAdjoint(*dy, pointers<DTensor>(dx));
  // The tolerance is relative to the sizes of the terms, not to their sum, which can cancel.
  double right = 0, scale = rawNorm(*jx) * rawNorm(*dy);
  for (int i = 0; i < count; ++i) {
    right += pairing(*x[i], *dx[i]);
    scale += rawNorm(*x[i]) * rawNorm(*dx[i]);
  }
  EXPECT_LE(std::abs(pairing(*jx, *dy) - right), tolerance * scale) << what;
}

TEST(Join, AddsAndConcatenatesForAnyLayouts) {
  LayoutDraw draw(31);
  for (int i = 0, end = test::draws(40); i < end; ++i)
    for (int dim = -1; dim < 3; ++dim) {
      ASSERT_NO_FATAL_FAILURE(expectJoins(draw, dim, TENON_FLOAT64, 1e-14));
      ASSERT_NO_FATAL_FAILURE(expectJoins(draw, dim, TENON_FLOAT32, 1e-6));
    }
}

TEST(Join, HasTheLayoutOfTheFirstInputAndMovesNothingIfAllAreEqual) {
  const Layout split = onWorld({8, 3}, "S0"), other = onWorld({8, 3}, "S1");
  const auto add = test::newLayer(world(), "add");
  add->setUp({split, split, split});
  EXPECT_EQ(add->outputLayout(), split);
  // The text says "used as" for each input that is converted.
  EXPECT_EQ(add->describe().find("used as"), std::string::npos) << add->describe();
  add->setUp({other, split});
  EXPECT_EQ(add->outputLayout(), other);
}

TEST(Join, TakesASignatureOrAnOutputLayoutForAnyBatch) {
  const auto join = test::newConcatenate(world(), 1);
  join->setText("signature", "S1");
  join->setUp({onWorld({4, 3}, "S0"), onWorld({4, 6}, "B")});
  EXPECT_EQ(join->outputLayout(), onWorld({4, 9}, "S1"));

  const auto redistributed = test::newConcatenate(world(), 1);
  redistributed->setOutputLayout(onWorld({64, 9}, "S0"));
  redistributed->setUp({onWorld({4, 3}, "S1"), onWorld({4, 6}, "B")});
  EXPECT_EQ(redistributed->outputLayout(), onWorld({4, 9}, "S0"));
  redistributed->setUp({onWorld({7, 3}, "S1"), onWorld({7, 6}, "B")});
  EXPECT_EQ(redistributed->outputLayout(), onWorld({7, 9}, "S0"));
}

// y = x + x with one tensor passed twice. A missing tangent counts as zero, and a cotangent that is
// null is not computed.
TEST(Join, TakesATensorTwiceAndNothing) {
  const Layout layout = onWorld({5, 2}, "S0");
  const auto add = test::newLayer(world(), "add");
  add->setDataType(TENON_FLOAT64);
  add->setUp({layout, layout});
  const auto x = tensor(layout), y = tensor(layout), dx = tensor(layout);
  test::fillValid(*x, 1);
  const DTensor* twice[] = {x.get(), x.get()};
  add->apply(Inputs(twice), *y);
  std::vector<double> doubled = test::localCells(*x);
  for (double& v : doubled)
    v *= 2;
  EXPECT_EQ(test::localCells(*y), doubled);

  const DTensor* none[] = {nullptr, nullptr};
  add->applyTangent(Inputs(none), *y);
  EXPECT_EQ(test::localCells(*y), std::vector<double>(y->localElements(), 0.0));
  DTensor* second[] = {nullptr, dx.get()};
  add->applyAdjoint(*x, InputCotangents(second));
  EXPECT_EQ(test::localCells(*dx), test::localCells(*x));
}

TEST(Join, RefusesShapesThatDoNotMatch) {
  const Layout a = onWorld({4, 3}, "S0"), wide = onWorld({4, 5}, "S0"), thick = onWorld({4}, "S0");
  expectErrorOnAll(TENON_ERR_SHAPE, {"[4,5]", "[4,3]"}, [&] {
    test::newLayer(world(), "add")->setUp(Layouts{a, wide});
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"dimension 0", "[4,5]"}, [&] {
    test::newConcatenate(world(), 0)->setUp(Layouts{a, wide});
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"dimension 1", "[4]"}, [&] {
    test::newConcatenate(world(), 1)->setUp(Layouts{a, thick});
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"dimension 2"}, [&] {
    test::newConcatenate(world(), 2)->setUp(Layouts{a, a});
  });
  expectErrorOnAll(TENON_ERR_ARG, {"at least 1 input", "0 layouts"},
                   [&] { test::newLayer(world(), "add")->setUp(Layouts{}); });
  EXPECT_THROW(test::newConcatenate(world(), -1), Error);
  const auto both = test::newLayer(world(), "add");
  both->setText("signature", "B");
  both->setOutputLayout(a);
  expectErrorOnAll(TENON_ERR_OPTION, {"set only one"}, [&] { both->setUp(Layouts{a, a}); });
  const auto flat = test::newLayer(world(), "add");
  flat->setOutputLayout(thick);
  expectErrorOnAll(TENON_ERR_SHAPE, {"number of dimensions"}, [&] { flat->setUp(Layouts{a, a}); });
}

TEST(Join, RefusesAnotherNumberOfTensorsAndOneForTwoCotangents) {
  const Layout layout = onWorld({4, 3}, "S0");
  const auto add = test::newLayer(world(), "add");
  add->setDataType(TENON_FLOAT64);
  add->setUp({layout, layout});
  const auto x = tensor(layout), y = tensor(layout), dx = tensor(layout);
  const auto codeOf = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return TENON_SUCCESS;
  };
  EXPECT_EQ(codeOf([&] { add->apply(*x, *y); }), TENON_ERR_ARG);
  const DTensor* two[] = {x.get(), x.get()};
  add->apply(Inputs(two), *y);
  DTensor* same[] = {dx.get(), dx.get()};
  EXPECT_EQ(codeOf([&] { add->applyAdjoint(*y, InputCotangents(same)); }), TENON_ERR_ARG);
  EXPECT_EQ(codeOf([&] { add->applyAdjoint(*y, dx.get()); }), TENON_ERR_ARG);
  const auto relu = test::newPointwise(world(), "relu");
  expectErrorOnAll(TENON_ERR_ARG, {"1 input", "2 layouts"}, [&] {
    relu->setUp(Layouts{layout, layout});
  });
}

} // namespace
} // namespace tenon
