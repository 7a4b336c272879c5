// SPDX-License-Identifier: BSD-2-Clause
// The attention layer against its definition in loops over whole matrices (AttentionByLoops):
// values, tangent and cotangents, for queries, keys, values and masks in random layouts. Further
// tests: the identity of tangent and adjoint (dot test); the ring, in which blocks of keys and
// values rotate between ranks if the sequence is split; and that a rank's memory does not grow with
// the sequence there.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"

#include <array>
#include <cmath>
#include <limits>

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

// The extents and settings of an attention: `matrices` pairs of queries [queries, features] and
// keys [keys, features], and values [keys, outputs].
struct AttentionCase {
  Index matrices, queries, keys, features, outputs;
  double scale;
  bool causal;
  Shape mask = {}; // extents of matrices, queries and keys, 1 where it is broadcast; empty: no mask
};

// The definition, matrix by matrix, on whole arrays: the scores are x_ij = scale q_i k_j + mask_ij,
// the probabilities p_i = softmax(x_i), and y_i = sum over j of p_ij v_j. With causal, query i sees
// keys 0 to i only. The derivative of a softmax is dp_ij = p_ij (dx_ij - sum over l of p_il dx_il),
// which is its own transpose; `mean` below is this sum.
struct AttentionByLoops {
  AttentionCase c;
  Numbers q, k, v, mask;

  std::size_t maskPlace(Index s, Index i, Index j) const {
    const auto at = [](Index index, Index extent) { return extent == 1 ? 0 : index; };
    return std::size_t((at(s, c.mask[0]) * c.mask[1] + at(i, c.mask[1])) * c.mask[2] +
                       at(j, c.mask[2]));
  }
  double maskAt(const Numbers& of, Index s, Index i, Index j) const {
    return of.empty() ? 0 : of[maskPlace(s, i, j)];
  }
  // A query whose keys are all excluded has the probabilities 0.
  Numbers probabilities(Index s) const {
    Numbers p(std::size_t(c.queries * c.keys));
    for (Index i = 0; i < c.queries; ++i) {
      const Index end = c.causal ? std::min(c.keys, i + 1) : c.keys;
      double most = -1e300, sum = 0;
      for (Index j = 0; j < end; ++j)
        most = std::max(most, p[i * c.keys + j] = c.scale * dot(q, row(s, i, c.queries), k,
                                                                row(s, j, c.keys), c.features) +
                                                  maskAt(mask, s, i, j));
      for (Index j = 0; j < end; ++j)
        sum += p[i * c.keys + j] = std::exp(p[i * c.keys + j] - most);
      for (Index j = 0; j < end && sum > 0; ++j)
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
  Numbers tangent(const Numbers& dq, const Numbers& dk, const Numbers& dv,
                  const Numbers& dMask) const {
    Numbers dy(std::size_t(c.matrices * c.queries * c.outputs));
    for (Index s = 0; s < c.matrices; ++s) {
      const Numbers p = probabilities(s);
      for (Index i = 0; i < c.queries; ++i) {
        const Index at = row(s, i, c.queries);
        Numbers dx(std::size_t(c.keys));
        double mean = 0;
        for (Index j = 0; j < c.keys; ++j) {
          dx[j] = c.scale * (dot(dq, at, k, row(s, j, c.keys), c.features) +
                             dot(q, at, dk, row(s, j, c.keys), c.features)) +
                  maskAt(dMask, s, i, j);
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
  // The cotangents of q, k, v and mask.
  std::array<Numbers, 4> adjoint(const Numbers& dy) const {
    std::array<Numbers, 4> d{Numbers(q.size()), Numbers(k.size()), Numbers(v.size()),
                             Numbers(mask.size())};
    for (Index s = 0; s < c.matrices; ++s) {
      const Numbers p = probabilities(s);
      for (Index i = 0; i < c.queries; ++i) {
        const Index at = row(s, i, c.queries);
        Numbers dp(std::size_t(c.keys));
        double mean = 0;
        for (Index j = 0; j < c.keys; ++j)
          mean += p[i * c.keys + j] * (dp[j] = dot(dy, at, v, row(s, j, c.keys), c.outputs));
        for (Index j = 0; j < c.keys; ++j) {
          const double slope = p[i * c.keys + j] * (dp[j] - mean), dx = c.scale * slope;
          if (!mask.empty())
            d[3][maskPlace(s, i, j)] += slope;
          add(dx, k, row(s, j, c.keys), d[0], at, c.features);
          add(dx, q, at, d[1], row(s, j, c.keys), c.features);
          add(p[i * c.keys + j], dy, at, d[2], row(s, j, c.keys), c.outputs);
        }
      }
    }
    return d;
  }
};

// The shapes of the inputs q, k, v and, if there is one, mask, with `leading` dimensions before the
// matrices.
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
  if (!c.mask.empty()) {
    Shape shape = matrices;
    if (leading > 0)
      shape.back() = c.mask[0];
    shape.insert(shape.end(), c.mask.begin() + 1, c.mask.end());
    shapes.push_back(shape);
  }
  return shapes;
}

Ref<Layer> newAttention(const AttentionCase& c, TenonDataType type) {
  const Ref<Layer> layer = test::newLayer(world(), "attention");
  layer->setDataType(type);
  layer->set("scale", c.scale);
  layer->set("causal", c.causal);
  layer->set("mask", !c.mask.empty());
  return layer;
}

// The addresses of tensors that a layer reads, or writes.
std::vector<const DTensor*> reads(const std::vector<Ref<DTensor>>& tensors) {
  std::vector<const DTensor*> all;
  for (const auto& one : tensors)
    all.push_back(one.get());
  return all;
}
std::vector<DTensor*> writes(const std::vector<Ref<DTensor>>& tensors) {
  std::vector<DTensor*> all;
  for (const auto& one : tensors)
    all.push_back(one.get());
  return all;
}

// Excludes some keys by entries of -infinity in the mask, which is uniform in [-1, 1] before.
void hideSome(DTensor& mask) {
  visitFloating(mask.dataType(), [&]<class T>(T) {
    T* const at = mask.mutableData<T>();
    for (Index i = 0; i < mask.localElements(); ++i)
      at[i] = at[i] < T(-0.4) ? -std::numeric_limits<T>::infinity() : at[i];
  });
}

// Compares values, tangents and cotangents of an attention in these layouts with the loops.
void expectAttention(const AttentionCase& c, const Layouts& layouts, TenonDataType type,
                     double tolerance) {
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
  const bool hasMask = !c.mask.empty();
  if (hasMask)
    hideSome(*x[3]);
  const Layout output = layer->outputLayout();
  const auto y = tensor(output, type), ty = tensor(output, type), dy = tensor(output.dual(), type);
  test::fillValid(*dy, stream);
  const auto valuesOf = [&](const std::vector<Ref<DTensor>>& of) {
    std::array<Numbers, 4> all;
    for (std::size_t i = 0; i < of.size(); ++i)
      all[i] = gathered(*of[i]);
    return all;
  };
  const auto [q, k, v, mask] = valuesOf(x);
  const AttentionByLoops loops{c, q, k, v, mask};

  layer->apply(reads(x), *y);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*y), loops.apply(), tolerance, what));
  layer->applyTangent(reads(t), *ty);
  const auto [tq, tk, tv, tm] = valuesOf(t);
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(*ty), loops.tangent(tq, tk, tv, tm), tolerance, what));
  std::vector<const DTensor*> one(x.size(), nullptr);
  one[1] = t[1].get();
  layer->applyTangent(one, *ty);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*ty),
                                     loops.tangent(Numbers(tq.size()), tk, Numbers(tv.size()), {}),
                                     tolerance, "of keys alone: " + what));
  layer->applyAdjoint(*dy, writes(d));
  const auto want = loops.adjoint(gathered(*dy));
  for (std::size_t i = 0; i < d.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*d[i]), want[i], tolerance,
                                       fmt::format("cotangent {} of {}", i, what)));
  // Tangents and cotangents that are not requested are left out, and a second evaluation uses the
  // same arrays.
  const std::size_t last = x.size() - 1;
  layer->apply(reads(x), *y);
  std::vector<DTensor*> some(x.size(), nullptr);
  some[last] = d[last].get();
  layer->applyAdjoint(*dy, some);
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*d[last]), want[last], tolerance, what));
  if (!hasMask)
    return;
  one = {nullptr, nullptr, nullptr, t[3].get()};
  layer->apply(reads(x), *y);
  layer->applyTangent(one, *ty);
  expectNear(gathered(*ty),
             loops.tangent(Numbers(tq.size()), Numbers(tk.size()), Numbers(tv.size()), tm),
             tolerance, "of the mask alone: " + what);
}

// A random case; one in three has no mask, and masks have some extents of 1.
AttentionCase drawCase(LayoutDraw& draw, int leading) {
  AttentionCase c{.matrices = leading ? draw.between(1, 3) : 1,
                  .queries = draw.between(1, 7),
                  .keys = draw.between(1, 7),
                  .features = draw.between(1, 4),
                  .outputs = draw.between(1, 4),
                  .scale = 0.7,
                  .causal = draw.between(0, 1) == 1};
  if (draw.between(0, 2) > 0)
    for (const Index extent : {c.matrices, c.queries, c.keys})
      c.mask.push_back(draw.between(0, 2) > 0 ? extent : 1);
  return c;
}

TEST(Attention, IsTheDefinitionForAnyLayouts) {
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

// The layout of a mask of this shape that is distributed like the queries.
Layout maskOf(const Layout& queries, const Shape& shape) {
  LayoutSpec spec = queries.spec();
  spec.shape = shape;
  spec.cuts[2] = {0, shape[2]};
  for (int d = 0; d < 2; ++d)
    if (shape[std::size_t(d)] == 1 && queries.shape()[std::size_t(d)] != 1) {
      spec.cuts[d] = {0, 1};
      spec.splitAxes[d].clear();
      std::replace(spec.properties.begin(), spec.properties.end(), Property::shard(d),
                   Property::broadcast());
    }
  return Layout(std::move(spec));
}

// Splits of the sequence along one grid axis and two, with blocks of any length, some of them
// empty, and with heads split as well. Every fourth case has scores whose exponentials overflow.
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
      // Values have the split points of the keys; the queries have others, and the mask has those
      // of the queries.
      if (layouts.size() == 3) {
        layouts.push_back(maskOf(layouts[0], shape));
        continue;
      }
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
    const bool goesAround = layouts[1].parts(1) > 1;
    EXPECT_EQ(layer->describe().find("ring") != std::string::npos, goesAround);
  }
}

// A sequence that is longer than a tile of queries: on one rank, the 700 x 900 scores of a matrix
// are more than the elements of a tile (2^19, kTileElements in layer/types/attention.cpp). The
// second mask is the same for all queries.
TEST(Attention, LongSequencesAreMetInTiles) {
  for (const Shape& mask : {Shape{}, Shape{2, 1, 900}}) {
    const AttentionCase c{.matrices = 2,
                          .queries = 700,
                          .keys = 900,
                          .features = 2,
                          .outputs = 1,
                          .scale = 0.7,
                          .causal = mask.empty(),
                          .mask = mask};
    Layouts layouts;
    for (const Shape& shape : shapesOf(c, 1))
      layouts.push_back(onWorld(shape, layouts.size() < 3 ? "S1" : "B"));
    expectAttention(c, layouts, TENON_FLOAT64, 1e-12);
  }
}

// <J t, dy> = sum over the inputs of <t, J^T dy>.
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
    layer->apply(reads(x), *y);
    layer->applyTangent(reads(t), *ty);
    layer->applyAdjoint(*dy, writes(d));
    double right = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      right += pairing(*t[k], *d[k]);
    EXPECT_NEAR(pairing(*ty, *dy), right, 1e-13 * (1 + std::abs(right))) << layer->describe();
  }
}

// With the sequence per rank fixed, the memory of rank 0 is the same with two ranks as with all,
// while a gather of all keys and values would need more with more ranks.
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
    return memory.buffers + memory.saved;
  };
  const Index two = memoryOn(2, ""), all = memoryOn(ranks, "");
  const Index gatheredByTwo = memoryOn(2, "m"), gatheredByAll = memoryOn(ranks, "m");
  if (world()->rank() > 0)
    return;
  const Index part = kPart * kFeatures * Index(sizeof(double));
  EXPECT_LE(all, two + part / 2);
  // Gathered keys and values need two more blocks for each further rank.
  EXPECT_GE(gatheredByAll, gatheredByTwo + 2 * part * (ranks - 2));
}

// An attention with its tensors, which are filled with numbers but for the output and the
// cotangents of the inputs.
struct FilledStep {
  FilledStep(const AttentionCase& c, TenonDataType type, const char* properties)
      : layer(newAttention(c, type)) {
    for (const Shape& shape : shapesOf(c, 0))
      layouts.push_back(onWorld(shape, properties));
    layer->setUp(layouts);
    for (const Layout& layout : layouts) {
      x.push_back(tensor(layout, type));
      d.push_back(tensor(layout.dual(), type));
      test::fillValid(*x.back(), 3 + x.size());
    }
    y = tensor(layer->outputLayout(), type);
    dy = tensor(layer->outputLayout().dual(), type);
    test::fillValid(*dy, 9);
  }
  void run() {
    layer->apply(reads(x), *y);
    layer->applyAdjoint(*dy, writes(d));
  }

  Ref<Layer> layer;
  Layouts layouts;
  std::vector<Ref<DTensor>> x, d;
  Ref<DTensor> y, dy;
};

// Three keys with equal scores of 9000 (0.5 times the sum of two products 100 x 90), so each has
// the probability 1/3, whose digits a logarithm of the sum that is rounded to float32 would not
// keep.
TEST(Attention, LargeScoresKeepTheDigitsOfDerivatives) {
  const AttentionCase c{.matrices = 1,
                        .queries = 2,
                        .keys = 3,
                        .features = 2,
                        .outputs = 2,
                        .scale = 0.5,
                        .causal = false};
  for (const char* properties : {"B", "S0"}) {
    FilledStep step(c, TENON_FLOAT32, properties);
    for (const auto& [input, value] : {std::pair(0, 100.F), std::pair(1, 90.F)})
      std::fill_n(step.x[input]->mutableData<float>(), step.x[input]->localElements(), value);
    step.run();
    const Numbers given = gathered(*step.dy), dv = gathered(*step.d[2]);
    for (std::size_t key = 0; key < 3; ++key)
      for (std::size_t f = 0; f < 2; ++f)
        EXPECT_NEAR(dv[2 * key + f], (given[f] + given[2 + f]) / 3, 1e-6) << properties;
  }
}

// Scores of 4500, 0 and -4500: the probabilities are 1, 0 and 0 in float32, and do not depend on
// queries and keys. A rounding error times a key would be larger than 1e-5.
TEST(Attention, ScoresThatAreFarApartHaveNoDerivative) {
  const AttentionCase c{.matrices = 1,
                        .queries = 6,
                        .keys = 3,
                        .features = 1,
                        .outputs = 9,
                        .scale = 0.5,
                        .causal = false};
  FilledStep step(c, TENON_FLOAT32, "B");
  std::fill_n(step.x[0]->mutableData<float>(), step.x[0]->localElements(), 100.F);
  const float keys[] = {90, 0, -90};
  std::copy_n(keys, 3, step.x[1]->mutableData<float>());
  step.run();
  for (const std::size_t input : {0, 1})
    for (const double derivative : gathered(*step.d[input]))
      EXPECT_EQ(derivative, 0) << "of input " << input;
}

// Result and cotangents of a query whose keys are all excluded are 0; other queries are not
// affected.
TEST(Attention, AQueryThatSeesNoKeyHasNoResult) {
  const AttentionCase c{.matrices = 1,
                        .queries = 3,
                        .keys = 4,
                        .features = 2,
                        .outputs = 2,
                        .scale = 0.7,
                        .causal = false,
                        .mask = {1, 3, 4}};
  FilledStep step(c, TENON_FLOAT64, "S0");
  // Hides all keys from query 1.
  const int position = step.x[3]->position();
  const Interval rows = position < 0 ? Interval{0, 0} : step.layouts[3].box(position)[0];
  for (Index row = rows.begin; row < rows.end; ++row)
    for (Index key = 0; key < c.keys && row == 1; ++key)
      step.x[3]->mutableData<double>()[(row - rows.begin) * c.keys + key] =
          -std::numeric_limits<double>::infinity();
  step.run();
  const Numbers values = gathered(*step.y), dq = gathered(*step.d[0]), dMask = gathered(*step.d[3]);
  for (Index f = 0; f < 2; ++f) {
    EXPECT_EQ(values[std::size_t(2 + f)], 0);
    EXPECT_EQ(dq[std::size_t(2 + f)], 0);
    EXPECT_NE(values[std::size_t(f)], 0);
  }
  for (Index key = 0; key < c.keys; ++key)
    EXPECT_EQ(dMask[std::size_t(c.keys + key)], 0);
  for (const double number : gathered(*step.d[1]))
    EXPECT_TRUE(std::isfinite(number));
}

TEST(Attention, RefusesOtherShapes) {
  const auto masked = test::newLayer(world(), "attention");
  masked->set("mask", true);
  expectErrorOnAll(TENON_ERR_SHAPE, {"of shape [4,5]", "a mask of [4,3]"}, [&] {
    masked->setUp(Layouts{onWorld({4, 3}, "B"), onWorld({5, 3}, "B"), onWorld({5, 3}, "B"),
                          onWorld({4, 3}, "B")});
  });
  const auto layer = test::newLayer(world(), "attention");
  expectErrorOnAll(TENON_ERR_SHAPE, {"queries [...,m,e]", "[4,3]", "[5,2]"}, [&] {
    layer->setUp(Layouts{onWorld({4, 3}, "B"), onWorld({5, 2}, "B"), onWorld({5, 3}, "B")});
  });
}

} // namespace
} // namespace tenon
