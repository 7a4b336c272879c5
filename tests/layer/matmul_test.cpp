// SPDX-License-Identifier: BSD-2-Clause
// Products of two inputs in random layouts, against loops over whole matrices: values, the tangent
// and both cotangents.
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

struct Extents {
  Index matrices, rows, inner, columns;
};

enum class Sum { OverInner, OverColumns, OverRows };

// The reference for y = a b, or for the cotangents da = dy b^T and db = a^T dy, matrix by matrix.
std::vector<double> product(const Extents& e, Sum sum, const std::vector<double>& left,
                            const std::vector<double>& right) {
  const auto a = [&](Index s, Index m, Index k) { return (s * e.rows + m) * e.inner + k; };
  const auto b = [&](Index s, Index k, Index n) { return (s * e.inner + k) * e.columns + n; };
  const auto y = [&](Index s, Index m, Index n) { return (s * e.rows + m) * e.columns + n; };
  const Index elements = sum == Sum::OverInner     ? e.rows * e.columns
                         : sum == Sum::OverColumns ? e.rows * e.inner
                                                   : e.inner * e.columns;
  std::vector<double> result(std::size_t(e.matrices * elements), 0.0);
  for (Index s = 0; s < e.matrices; ++s)
    for (Index m = 0; m < e.rows; ++m)
      for (Index k = 0; k < e.inner; ++k)
        for (Index n = 0; n < e.columns; ++n) {
          if (sum == Sum::OverInner)
            result[y(s, m, n)] += left[a(s, m, k)] * right[b(s, k, n)];
          else if (sum == Sum::OverColumns)
            result[a(s, m, k)] += left[y(s, m, n)] * right[b(s, k, n)];
          else
            result[b(s, k, n)] += left[a(s, m, k)] * right[y(s, m, n)];
        }
  return result;
}

void add(std::vector<double>& sum, const std::vector<double>& contribution) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += contribution[i];
}

// Compares y, its tangent and both cotangents with the loops, in random layouts of both factors.
void expectProducts(LayoutDraw& draw, int leading, TenonDataType type, double tolerance) {
  const Extents e{leading ? draw.between(1, 4) : 1, draw.between(1, 6), draw.between(1, 6),
                  draw.between(1, 6)};
  Shape first(std::size_t(leading), e.matrices), second = first;
  first.insert(first.end(), {e.rows, e.inner});
  second.insert(second.end(), {e.inner, e.columns});
  const Layouts layouts = {test::drawInput(draw, first), test::drawInput(draw, second)};
  const auto matmul = test::newLayer(world(), "matmul");
  matmul->setDataType(type);
  matmul->setUp(layouts);
  const std::string what = matmul->describe();
  const auto a = tensor(layouts[0], type), b = tensor(layouts[1], type);
  const auto ta = tensor(layouts[0], type), tb = tensor(layouts[1], type);
  const auto da = tensor(layouts[0].dual(), type), db = tensor(layouts[1].dual(), type);
  const Layout output = matmul->outputLayout();
  const auto y = tensor(output, type), ty = tensor(output, type), dy = tensor(output.dual(), type);
  std::uint64_t stream = 3;
  for (DTensor* x : {a.get(), b.get(), ta.get(), tb.get(), dy.get()})
    test::fillValid(*x, stream++);

  using Reads = std::vector<const DTensor*>;
  matmul->apply(Reads{a.get(), b.get()}, *y);
  expectNear(gathered(*y), product(e, Sum::OverInner, gathered(*a), gathered(*b)), tolerance, what);
  matmul->applyTangent(Reads{ta.get(), tb.get()}, *ty);
  std::vector<double> tangent = product(e, Sum::OverInner, gathered(*ta), gathered(*b));
  add(tangent, product(e, Sum::OverInner, gathered(*a), gathered(*tb)));
  expectNear(gathered(*ty), tangent, tolerance, what);
  matmul->applyTangent(Reads{nullptr, tb.get()}, *ty);
  expectNear(gathered(*ty), product(e, Sum::OverInner, gathered(*a), gathered(*tb)), tolerance,
             what);
  matmul->applyAdjoint(*dy, std::vector<DTensor*>{da.get(), db.get()});
  expectNear(gathered(*da), product(e, Sum::OverColumns, gathered(*dy), gathered(*b)), tolerance,
             what);
  expectNear(gathered(*db), product(e, Sum::OverRows, gathered(*a), gathered(*dy)), tolerance,
             what);
}

TEST(Matmul, IsTheProductForAnyLayouts) {
  LayoutDraw draw(17);
  for (int i = 0, end = test::draws(60); i < end; ++i)
    for (int leading : {0, 1}) {
      ASSERT_NO_FATAL_FAILURE(expectProducts(draw, leading, TENON_FLOAT64, 1e-13));
      ASSERT_NO_FATAL_FAILURE(expectProducts(draw, leading, TENON_FLOAT32, 1e-5));
    }
}

// If the inner dimension is split, each rank's product is a contribution (P), and no data are
// moved.
TEST(Matmul, ASplitSumStaysInContributions) {
  const auto matmul = test::newLayer(world(), "matmul");
  matmul->setUp(Layouts{onWorld({4, 8}, "S1"), onWorld({8, 3}, "S0")});
  EXPECT_EQ(matmul->outputLayout().property(0),
            world()->size() > 1 ? Property::partial() : Property::shard(1));
  EXPECT_EQ(matmul->describe().find("used as"), std::string::npos) << matmul->describe();
}

TEST(Matmul, RefusesOneInput) {
  const auto matmul = test::newLayer(world(), "matmul");
  expectErrorOnAll(TENON_ERR_ARG, {"2 inputs", "1 layout", "first by its second"}, [&] {
    matmul->setUp(onWorld({4, 8}, "S1"));
  });
}

} // namespace
} // namespace tenon
