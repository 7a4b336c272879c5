// SPDX-License-Identifier: BSD-2-Clause
// Attentions whose queries, keys and values lie anyhow, against loops over whole matrices: values, the tangent
// and the cotangents; the identity of tangent and adjoint; and that memory is that of a rank's own part where
// parts of keys and values take turns.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"

#include <array>
#include <cmath>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::gathered;
using test::LayoutDraw;
using test::onWorld;
using test::tensor;
using test::world;

using Numbers = std::vector<double>;

struct AttentionCase {
  Index matrices, queries, keys, features, outputs;
  double scale;
  bool causal;
};

// The definition, matrix by matrix.
struct AttentionByLoops {
  AttentionCase c;
  Numbers q, k, v;

  Numbers probabilities(Index s) const {
    Numbers p(std::size_t(c.queries * c.keys));
    for (Index i = 0; i < c.queries; ++i) {
      const Index end = c.causal ? std::min(c.keys, i + 1) : c.keys;
      double most = -1e300, sum = 0;
      for (Index j = 0; j < end; ++j)
        most = std::max(most, p[i * c.keys + j] = c.scale * dot(q, row(s, i, c.queries), k,
                                                                row(s, j, c.keys), c.features));
      for (Index j = 0; j < end; ++j)
        sum += p[i * c.keys + j] = std::exp(p[i * c.keys + j] - most);
      for (Index j = 0; j < end; ++j)
        p[i * c.keys + j] /= sum;
    }
    return p;
  }
  static Index row(Index s, Index i, Index rows) { return s * rows + i; }
  static double dot(const Numbers& a, Index i, const Numbers& b, Index j, Index n) {
    double sum = 0;
    for (Index f = 0; f < n; ++f)
      sum += a[i * n + f] * b[j * n + f];
    return sum;
  }
  static void add(double factor, const Numbers& a, Index i, Numbers& y, Index j, Index n) {
    for (Index f = 0; f < n; ++f)
      y[j * n + f] += factor * a[i * n + f];
  }

  Numbers apply() const {
    Numbers y(std::size_t(c.matrices * c.queries * c.outputs));
    for (Index s = 0; s < c.matrices; ++s) {
      const Numbers p = probabilities(s);
      for (Index i = 0; i < c.queries; ++i)
        for (Index j = 0; j < c.keys; ++j)
          add(p[i * c.keys + j], v, row(s, j, c.keys), y, row(s, i, c.queries), c.outputs);
    }
    return y;
  }
  Numbers tangent(const Numbers& dq, const Numbers& dk, const Numbers& dv) const {
    Numbers dy(std::size_t(c.matrices * c.queries * c.outputs));
    for (Index s = 0; s < c.matrices; ++s) {
      const Numbers p = probabilities(s);
      for (Index i = 0; i < c.queries; ++i) {
        const Index at = row(s, i, c.queries);
        Numbers dx(std::size_t(c.keys));
        double mean = 0;
        for (Index j = 0; j < c.keys; ++j) {
          dx[j] = c.scale * (dot(dq, at, k, row(s, j, c.keys), c.features) +
                             dot(q, at, dk, row(s, j, c.keys), c.features));
          mean += p[i * c.keys + j] * dx[j];
        }
        for (Index j = 0; j < c.keys; ++j) {
          add(p[i * c.keys + j] * (dx[j] - mean), v, row(s, j, c.keys), dy, at, c.outputs);
          add(p[i * c.keys + j], dv, row(s, j, c.keys), dy, at, c.outputs);
        }
      }
    }
    return dy;
  }
  std::array<Numbers, 3> adjoint(const Numbers& dy) const {
    std::array<Numbers, 3> d{Numbers(q.size()), Numbers(k.size()), Numbers(v.size())};
    for (Index s = 0; s < c.matrices; ++s) {
      const Numbers p = probabilities(s);
      for (Index i = 0; i < c.queries; ++i) {
        const Index at = row(s, i, c.queries);
        Numbers dp(std::size_t(c.keys));
        double mean = 0;
        for (Index j = 0; j < c.keys; ++j)
          mean += p[i * c.keys + j] * (dp[j] = dot(dy, at, v, row(s, j, c.keys), c.outputs));
        for (Index j = 0; j < c.keys; ++j) {
          const double dx = c.scale * p[i * c.keys + j] * (dp[j] - mean);
          add(dx, k, row(s, j, c.keys), d[0], at, c.features);
          add(dx, q, at, d[1], row(s, j, c.keys), c.features);
          add(p[i * c.keys + j], dy, at, d[2], row(s, j, c.keys), c.outputs);
        }
      }
    }
    return d;
  }
};

std::vector<Shape> shapesOf(const AttentionCase& c, int leading) {
  const Shape matrices(std::size_t(leading), 1);
  std::vector<Shape> shapes;
  for (const auto& [rows, columns] :
       {std::pair(c.queries, c.features), {c.keys, c.features}, {c.keys, c.outputs}}) {
    Shape shape = matrices;
    if (leading > 0)
      shape.back() = c.matrices;
    shape.insert(shape.end(), {rows, columns});
    shapes.push_back(shape);
  }
  return shapes;
}

Ref<Layer> newAttention(const AttentionCase& c, TenonDataType type) {
  const Ref<Layer> layer = test::newLayer(world(), "attention");
  layer->setDataType(type);
  layer->set("scale", c.scale);
  layer->set("causal", c.causal);
  return layer;
}

void expectAttention(const AttentionCase& c, const Layouts& layouts, TenonDataType type,
                     double tolerance) {
  using Reads = std::vector<const DTensor*>;
  const Ref<Layer> layer = newAttention(c, type);
  layer->setUp(layouts);
  const std::string what = layer->describe();
  std::vector<Ref<DTensor>> x, t, d;
  std::uint64_t stream = 3;
  for (const Layout& layout : layouts) {
    x.push_back(tensor(layout, type));
    t.push_back(tensor(layout, type));
    d.push_back(tensor(layout.dual(), type));
    test::fillValid(*x.back(), stream++);
    test::fillValid(*t.back(), stream++);
  }
  const Layout output = layer->outputLayout();
  const auto y = tensor(output, type), ty = tensor(output, type), dy = tensor(output.dual(), type);
  test::fillValid(*dy, stream);
  const AttentionByLoops loops{c, gathered(*x[0]), gathered(*x[1]), gathered(*x[2])};

  layer->apply(Reads{x[0].get(), x[1].get(), x[2].get()}, *y);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*y), loops.apply(), tolerance, what));
  layer->applyTangent(Reads{t[0].get(), t[1].get(), t[2].get()}, *ty);
  const Numbers tq = gathered(*t[0]), tk = gathered(*t[1]), tv = gathered(*t[2]);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*ty), loops.tangent(tq, tk, tv), tolerance, what));
  layer->applyTangent(Reads{nullptr, t[1].get(), nullptr}, *ty);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*ty),
                                     loops.tangent(Numbers(tq.size()), tk, Numbers(tv.size())),
                                     tolerance, "of keys alone: " + what));
  layer->applyAdjoint(*dy, std::vector<DTensor*>{d[0].get(), d[1].get(), d[2].get()});
  const auto want = loops.adjoint(gathered(*dy));
  for (int i = 0; i < 3; ++i)
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*d[i]), want[i], tolerance,
                                       fmt::format("cotangent {} of {}", i, what)));
  // Cotangents that some do not want, and again on the same arrays.
  layer->apply(Reads{x[0].get(), x[1].get(), x[2].get()}, *y);
  layer->applyAdjoint(*dy, std::vector<DTensor*>{nullptr, nullptr, d[2].get()});
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*d[2]), want[2], tolerance, what));
}

AttentionCase drawCase(LayoutDraw& draw, int leading) {
  return {leading ? draw.between(1, 3) : 1,
          draw.between(1, 7),
          draw.between(1, 7),
          draw.between(1, 4),
          draw.between(1, 4),
          0.7,
          draw.between(0, 1) == 1};
}

TEST(Attention, IsTheDefinitionWhateverLiesHow) {
  LayoutDraw draw(23);
  for (int i = 0, end = test::draws(60); i < end; ++i)
    for (int leading : {0, 1, 2}) {
      const AttentionCase c = drawCase(draw, leading);
      Layouts layouts;
      for (const Shape& shape : shapesOf(c, leading))
        layouts.push_back(test::drawInput(draw, shape));
      ASSERT_NO_FATAL_FAILURE(expectAttention(c, layouts, TENON_FLOAT64, 1e-12));
      ASSERT_NO_FATAL_FAILURE(expectAttention(c, layouts, TENON_FLOAT32, 2e-5));
    }
}

// The sequence split on one axis and on two, with parts of any length, some empty, and heads beside it; and
// scores whose exponentials overflow.
TEST(Attention, PartsOfKeysAndValuesTakeTurns) {
  LayoutDraw draw(29);
  const int ranks = world()->size();
  for (int i = 0, end = test::draws(40); i < end; ++i) {
    AttentionCase c = drawCase(draw, 1);
    c.scale = i % 4 == 3 ? 300 : 0.7;
    const std::vector<int> grid =
        ranks % 2 == 0 && i % 2 == 1 ? std::vector<int>{2, ranks / 2} : std::vector<int>{ranks};
    const bool headsAreSplit = grid.size() > 1 && i % 4 == 1;
    Layouts layouts;
    for (const Shape& shape : shapesOf(c, 1)) {
      Properties properties(grid.size(), Property::shard(1));
      if (headsAreSplit)
        properties[0] = Property::shard(0);
      LayoutSpec spec{.shape = shape, .grid = Grid::make(grid), .properties = properties};
      // Values are cut as keys; queries otherwise.
      if (layouts.size() < 2) {
        std::vector<Index> cuts = {0};
        const int parts = headsAreSplit ? grid[1] : ranks;
        for (int part = 1; part < parts; ++part)
          cuts.push_back(draw.between(0, shape[1]));
        cuts.push_back(shape[1]);
        std::sort(cuts.begin(), cuts.end());
        spec.cuts = {{}, cuts, {}};
      } else {
        spec.cuts = {{}, layouts[1].cuts(1), {}};
      }
      layouts.push_back(Layout(std::move(spec)));
    }
    ASSERT_NO_FATAL_FAILURE(expectAttention(c, layouts, TENON_FLOAT64, 1e-12 * (1 + c.scale)));
    const Ref<Layer> layer = newAttention(c, TENON_FLOAT64);
    layer->setUp(layouts);
    EXPECT_EQ(layer->outputLayout().property(0), layouts[0].property(0));
    EXPECT_EQ(layer->describe().find("used as"), std::string::npos) << layer->describe();
    const bool takesTurns = layouts[1].parts(1) > 1;
    EXPECT_EQ(layer->describe().find("turns") != std::string::npos, takesTurns);
  }
}

// A long sequence is met in tiles of queries.
TEST(Attention, LongSequencesAreMetInTiles) {
  const AttentionCase c{2, 700, 900, 2, 1, 0.7, true};
  const std::vector<Shape> shapes = shapesOf(c, 1);
  Layouts layouts;
  for (const Shape& shape : shapes)
    layouts.push_back(onWorld(shape, "S1"));
  expectAttention(c, layouts, TENON_FLOAT64, 1e-12);
}

TEST(Attention, TangentAndAdjointArePaired) {
  LayoutDraw draw(31);
  for (int i = 0, end = test::draws(20); i < end; ++i) {
    const AttentionCase c = drawCase(draw, 1);
    Layouts layouts;
    for (const Shape& shape : shapesOf(c, 1))
      layouts.push_back(i % 2 ? onWorld(shape, "S1") : test::drawInput(draw, shape));
    const Ref<Layer> layer = newAttention(c, TENON_FLOAT64);
    layer->setUp(layouts);
    std::vector<Ref<DTensor>> x, t, d;
    std::uint64_t stream = 3;
    for (const Layout& layout : layouts) {
      x.push_back(tensor(layout));
      t.push_back(tensor(layout));
      d.push_back(tensor(layout.dual()));
      test::fillValid(*x.back(), stream++);
      test::fillValid(*t.back(), stream++);
    }
    const Layout output = layer->outputLayout();
    const auto y = tensor(output), ty = tensor(output), dy = tensor(output.dual());
    test::fillValid(*dy, stream);
    using Reads = std::vector<const DTensor*>;
    layer->apply(Reads{x[0].get(), x[1].get(), x[2].get()}, *y);
    layer->applyTangent(Reads{t[0].get(), t[1].get(), t[2].get()}, *ty);
    layer->applyAdjoint(*dy, std::vector<DTensor*>{d[0].get(), d[1].get(), d[2].get()});
    double right = 0;
    for (int k = 0; k < 3; ++k)
      right += pairing(*t[k], *d[k]);
    EXPECT_NEAR(pairing(*ty, *dy), right, 1e-13 * (1 + std::abs(right))) << layer->describe();
  }
}

// Rank 0 has as many queries and keys on two ranks as on all, and as much memory.
TEST(Attention, MemoryDoesNotGrowWithTheSequence) {
  const int ranks = world()->size();
  if (ranks < 3)
    GTEST_SKIP() << "needs 3 ranks";
  constexpr Index kPart = 256, kFeatures = 8;
  const auto memoryOn = [&](int count, const char* signature) {
    std::vector<int> those;
    for (int rank = 0; rank < count; ++rank)
      those.push_back(rank);
    const Layout input({.shape = {count * kPart, kFeatures},
                        .grid = Grid::make({count}, those),
                        .properties = {Property::shard(0)}});
    const Ref<Layer> layer = test::newLayer(world(), "attention");
    layer->setDataType(TENON_FLOAT64);
    if (*signature)
      layer->setText("signature", signature);
    layer->setUp(Layouts{input, input, input});
    const auto x = tensor(input), y = tensor(input), dy = tensor(input.dual()),
               dq = tensor(input.dual()), dk = tensor(input.dual()), dv = tensor(input.dual());
    test::fillValid(*x, 1);
    test::fillValid(*dy, 2);
    layer->apply(std::vector<const DTensor*>{x.get(), x.get(), x.get()}, *y);
    layer->applyAdjoint(*dy, std::vector<DTensor*>{dq.get(), dk.get(), dv.get()});
    const Layer::Memory memory = layer->memory();
    return memory.buffers + memory.kept;
  };
  const Index two = memoryOn(2, ""), all = memoryOn(ranks, "");
  const Index gatheredByTwo = memoryOn(2, "m"), gatheredByAll = memoryOn(ranks, "m");
  if (world()->rank() > 0)
    return;
  const Index part = kPart * kFeatures * Index(sizeof(double));
  EXPECT_LE(all, two + part / 2);
  // Gathered keys and values are two parts more for each rank.
  EXPECT_GE(gatheredByAll, gatheredByTwo + 2 * part * (ranks - 2));
}

TEST(Attention, RefusesOtherShapes) {
  const auto layer = test::newLayer(world(), "attention");
  expectErrorOnAll(TENON_ERR_SHAPE, {"queries [...,m,e]", "[4,3]", "[5,2]"}, [&] {
    layer->setUp(Layouts{onWorld({4, 3}, "B"), onWorld({5, 2}, "B"), onWorld({5, 3}, "B")});
  });
}

} // namespace
} // namespace tenon
