// SPDX-License-Identifier: BSD-2-Clause
// Spherical harmonic transforms on all ranks against their definition in plain loops
// (support/sphere_reference.hpp), against torch-harmonics, and against a harmonic written by hand;
// their adjoints are the transposed matrices. All labels are tried, on grids of one and two axes.
// The definition sees faults that such transforms invite.
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"
#include "support/sphere_reference.hpp"

#include <functional>

namespace tenon {
namespace {

using test::elementsOf;
using test::gathered;
using test::onWorld;
using test::SphereCase;
using test::world;

test::Settings settingsOf(const SphereCase& c, bool isSynthesis) {
  test::Settings settings = {
      {"degrees", c.degrees}, {"orders", c.orders},
      {"grid", c.grid},       {"norm", c.norm},
      {"sign", c.sign},       {"first_row", std::string(c.south ? "south" : "north")}};
  if (isSynthesis)
    settings.push_back({"size", std::vector<Index>{c.rows, c.columns}});
  else
    settings.push_back({"quadrature", std::string("plain")});
  return settings;
}

Shape fieldOf(const SphereCase& c, Index batch, Index channels) {
  return {batch, channels, c.rows, c.columns};
}
Shape coefficientsOf(const SphereCase& c, Index batch, Index channels) {
  return {batch, channels, c.orders, c.degrees, 2};
}

// Both directions of a transform, and their adjoints, in the layouts of these inputs and labels.
void expectDefinition(const SphereCase& c, bool isSynthesis, const Layout& input,
                      const std::string& labels, TenonDataType type) {
  const Index batch = input.shape()[0], channels = input.shape()[1];
  const Shape from = input.shape(),
              to = isSynthesis ? fieldOf(c, batch, channels) : coefficientsOf(c, batch, channels);
  const Ref<Layer> layer =
      test::layerWith(isSynthesis ? "inversesht" : "sht", settingsOf(c, isSynthesis));
  if (!labels.empty())
    layer->setText("signature", labels);
  test::Step step(layer, input, type);
  ASSERT_EQ(step.y->layout().shape(), to);
  const std::vector<double> matrix = c.matrix(isSynthesis), x = elementsOf(from),
                            dy = elementsOf(to, 3);
  const auto elements = std::size_t(c.rows * c.columns),
             numbers = std::size_t(2 * c.orders * c.degrees);
  const double tolerance = type == TENON_FLOAT64 ? 1e-13 : 2e-6;
  const std::string what = layer->describe();
  test::fillFrom(*step.x, x);
  step.apply();
  ASSERT_NO_FATAL_FAILURE(test::expectNear(
      gathered(*step.y), test::multiplied(matrix, /*transposed=*/isSynthesis, elements, numbers, x),
      tolerance, what));
  if (step.dy->layout().holdsPartialSums())
    return; // its values cannot be set from the whole; the dot tests of all types draw them
  test::fillFrom(*step.dy, dy);
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(
      test::expectNear(gathered(*step.dx),
                       test::multiplied(matrix, /*transposed=*/!isSynthesis, elements, numbers, dy),
                       tolerance, "adjoint of " + what));
}

const std::vector<SphereCase>& cases() {
  static const std::vector<SphereCase> all = {
      {.rows = 6, .columns = 8, .degrees = 6, .orders = 5},
      {.rows = 7, .columns = 9, .degrees = 5, .orders = 3, .grid = "poles", .sign = false},
      {.rows = 5, .columns = 7, .degrees = 5, .orders = 4, .grid = "cells", .norm = "schmidt"},
      {.rows = 4, .columns = 2, .degrees = 3, .orders = 2, .norm = "schmidt", .south = true},
      {.rows = 3, .columns = 1, .degrees = 3, .orders = 1, .grid = "cells", .south = true}};
  return all;
}

TEST(HarmonicTransforms, EqualTheDefinitionInEveryLayout) {
  int number = 0;
  for (const SphereCase& c : cases())
    for (const bool isSynthesis : {false, true}) {
      const Shape shape = isSynthesis ? coefficientsOf(c, 2, 3) : fieldOf(c, 2, 3);
      for (const std::string& split : test::splitsOf(shape)) {
        const TenonDataType type = ++number % 3 == 0 ? TENON_FLOAT32 : TENON_FLOAT64;
        // The settings matter on any number of ranks, so many ranks run two cases.
        if (split != "S4" && (world()->size() <= 2 || &c - cases().data() < 2)) {
          ASSERT_NO_FATAL_FAILURE(
              expectDefinition(c, isSynthesis, onWorld(shape, split), "", type));
        }
      }
    }
}

TEST(HarmonicTransforms, EqualTheDefinitionWithEveryLabel) {
  const SphereCase c{.rows = 7, .columns = 8, .degrees = 6, .orders = 5};
  const std::vector<std::string> analysis = {"n", "c", "h", "w", "hp", "wp", "m", "l", "B", "R"},
                                 synthesis = {"n", "c", "m", "l", "mp", "lp", "h", "w", "B", "R"};
  const int size = world()->size();
  for (const bool isSynthesis : {false, true}) {
    const auto& labels = isSynthesis ? synthesis : analysis;
    const Shape shape = isSynthesis ? coefficientsOf(c, 2, 3) : fieldOf(c, 2, 3);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(
          expectDefinition(c, isSynthesis, onWorld(shape, "S0"), labels[i], TENON_FLOAT64));
      if (size % 2 == 0) {
        const std::string& other = labels[(3 * i + 1) % labels.size()];
        ASSERT_NO_FATAL_FAILURE(expectDefinition(c, isSynthesis,
                                                 onWorld(shape, {2, size / 2}, "S2,S3"),
                                                 labels[i] + "," + other, TENON_FLOAT64));
      }
    }
  }
}

// Uneven and empty blocks, and ranks without data, as drawn for all types.
TEST(HarmonicTransforms, EqualTheDefinitionInDrawnLayouts) {
  test::LayoutDraw draw(92);
  for (int i = 0, end = test::draws(20); i < end; ++i)
    for (const bool isSynthesis : {false, true}) {
      const SphereCase c = cases()[std::size_t(i) % 2];
      const Layout input =
          test::drawInput(draw, isSynthesis ? coefficientsOf(c, 2, 2) : fieldOf(c, 2, 2));
      if (!input.holdsPartialSums()) {
        ASSERT_NO_FATAL_FAILURE(expectDefinition(c, isSynthesis, input, "", TENON_FLOAT64));
      }
    }
}

// Numbers of torch-harmonics 0.9.3 in float64 for 5 degrees on 6 x 8 points.
TEST(HarmonicTransforms, EqualTorchHarmonics) {
  const struct {
    const char *grid, *norm;
    bool sign;
    std::vector<double> c; // of (l, m) = (0,0), (2,1), (3,2), (4,4), (4,3)
    std::vector<double> y; // of the inverse at (0,0), (1,3), (5,7)
  } wanted[] = {
      {"gauss",
       "ortho",
       true,
       {1.027223899560972, 0, 0.3558575025931436, -0.01200774880166242, 0.4545936489911171,
        -0.07117784849128302, 0.02307613760256018, 0, -0.111626548842743, 0.01991077331273082},
       {0.6443058905590859, 1.036023501466015, 0.2648521678293548}},
      {"gauss",
       "schmidt",
       false,
       {3.641413913038051, 0, -0.5641519016341231, 0.01903625544336977, 0.609086923915976,
        -0.09536758132175334, 0.02726759263845557, 0, 0.131901937573075, -0.02352728455510436},
       {0.6443058905590859, 1.036023501466015, 0.2648521678293548}},
      {"poles",
       "schmidt",
       true,
       {3.600540501946007, 0, 0.8464231423783525, -0.08030733721260702, 1.174530780961364,
        -0.2086809062726736, 0.08847787605478491, 0, -0.2157981652212825, 0.04286377277900686},
       {0.3953364098937283, 1.362720419151189, 0.1230943018520524}}};
  const Index picks[5][2] = {{0, 0}, {2, 1}, {3, 2}, {4, 4}, {4, 3}};
  const Index points[3][2] = {{0, 0}, {1, 3}, {5, 7}};
  for (const auto& w : wanted) {
    const SphereCase c{.rows = 6,
                       .columns = 8,
                       .degrees = 5,
                       .orders = 5,
                       .grid = w.grid,
                       .norm = w.norm,
                       .sign = w.sign};
    test::Step analysis(test::layerWith("sht", settingsOf(c, /*isSynthesis=*/false)),
                        onWorld({1, 1, 6, 8}, "S2"));
    test::fillFrom(*analysis.x, elementsOf({1, 1, 6, 8}));
    analysis.apply();
    const std::vector<double> got = gathered(*analysis.y);
    std::vector<double> some;
    for (const auto& [l, m] : picks)
      for (Index part = 0; part < 2; ++part) {
        Index place = 0;
        while (orderAtPlace(place, 5) != m)
          ++place;
        some.push_back(got[std::size_t((place * 5 + l) * 2 + part)]);
      }
    test::expectNear(some, w.c, 1e-14, w.grid);
    test::Step synthesis(test::layerWith("inversesht", settingsOf(c, /*isSynthesis=*/true)),
                         onWorld({1, 1, 5, 5, 2}, "S2"));
    test::fillFrom(*synthesis.x, got);
    synthesis.apply();
    const std::vector<double> field = gathered(*synthesis.y);
    some.clear();
    for (const auto& [y, x] : points)
      some.push_back(field[std::size_t(y * 8 + x)]);
    test::expectNear(some, w.y, 1e-14, w.grid);
  }
}

// A transform of 6 x 8 points, whose last order is the last that 8 columns resolve, and whether the
// definition tells its values and gradients from those of a fault.
class FaultyTransform {
public:
  struct Results {
    std::vector<double> y, dx;
  };
  explicit FaultyTransform(bool isSynthesis)
      : isSynthesis_(isSynthesis),
        from_(isSynthesis ? coefficientsOf(c_, 1, 2) : fieldOf(c_, 1, 2)),
        to_(isSynthesis ? fieldOf(c_, 1, 2) : coefficientsOf(c_, 1, 2)),
        want_{product(isSynthesis, isSynthesis, from_, 0), adjointOf(isSynthesis)} {}

  // The layer's results, with another setting if one is named.
  Results results(const char* setting = "", const SettingValue& other = {}) const {
    test::Settings settings = settingsOf(c_, isSynthesis_);
    for (auto& [name, value] : settings)
      if (name == std::string(setting))
        value = other;
    test::Step step(test::layerWith(isSynthesis_ ? "inversesht" : "sht", settings),
                    onWorld(from_, isSynthesis_ ? "S3" : "S2"));
    test::fillFrom(*step.x, elementsOf(from_));
    step.apply();
    test::fillFrom(*step.dy, elementsOf(to_, 3));
    step.adjoint();
    return {gathered(*step.y), gathered(*step.dx)};
  }
  // The same with coefficients times a factor of their place among the orders.
  Results scaled(const std::function<double(Index)>& factor) const {
    Results wrong = results();
    std::vector<double>& c = isSynthesis_ ? wrong.dx : wrong.y;
    for (std::size_t i = 0; i < c.size(); ++i)
      c[i] *= factor(Index(i) / (2 * c_.degrees) % c_.orders);
    return wrong;
  }
  // The adjoint of this direction, or the other direction in its place.
  std::vector<double> adjointOf(bool isSynthesis) const {
    return product(isSynthesis, !isSynthesis_, to_, 3);
  }
  bool isSeen(const Results& got) const {
    return test::findsAFault([&] {
      test::expectNear(got.y, want_.y, 1e-13, "values");
      test::expectNear(got.dx, want_.dx, 1e-13, "gradients");
    });
  }

private:
  std::vector<double> product(bool isSynthesis, bool toField, const Shape& x, int seed) const {
    return test::multiplied(c_.matrix(isSynthesis), toField, std::size_t(c_.rows * c_.columns),
                            std::size_t(2 * c_.orders * c_.degrees), elementsOf(x, seed));
  }

  SphereCase c_ = cases()[0];
  bool isSynthesis_;
  Shape from_, to_;
  Results want_;
};

TEST(HarmonicTransforms, TheDefinitionSeesFaults) {
  for (const bool isSynthesis : {false, true}) {
    const FaultyTransform transform(isSynthesis);
    EXPECT_FALSE(transform.isSeen(transform.results()));
    // The norm, the sign, the rows and the weights of another transform.
    EXPECT_TRUE(transform.isSeen(transform.results("norm", std::string("schmidt"))));
    EXPECT_TRUE(transform.isSeen(transform.results("sign", false)));
    EXPECT_TRUE(transform.isSeen(transform.results("first_row", std::string("south"))));
    EXPECT_TRUE(transform.isSeen(transform.results("grid", std::string("cells"))));
    // Orders above 0 counted once, the last one twice, and folded orders read as natural ones.
    const auto m = [](Index place) { return double(orderAtPlace(place, 5)); };
    EXPECT_TRUE(transform.isSeen(transform.scaled([&](Index i) { return m(i) > 0 ? 0.5 : 1.0; })));
    EXPECT_TRUE(transform.isSeen(transform.scaled([&](Index i) { return m(i) == 4 ? 2.0 : 1.0; })));
    EXPECT_TRUE(
        transform.isSeen(transform.scaled([&](Index i) { return (1 + m(i)) / (1 + double(i)); })));
    FaultyTransform::Results other = transform.results();
    other.dx = transform.adjointOf(!isSynthesis);
    EXPECT_TRUE(transform.isSeen(other));
  }
}

// 2 Re Y_32 = sqrt(105 / 8 pi) sin^2 t cos t cos(2 phi), whose only coefficient is 1, is found on
// every grid, and A S = 1 for all degrees that the rows resolve.
TEST(HarmonicTransforms, FindAHarmonicAndAreInverse) {
  for (const char* grid : {"gauss", "poles", "cells"}) {
    const SphereCase c{.rows = 9, .columns = 16, .degrees = 8, .orders = 8, .grid = grid};
    const SphereRows rows = sphereRows(sphereGridNamed(grid), c.rows);
    std::vector<double> field, wanted(128, 0);
    for (const double t : rows.colatitude)
      for (Index x = 0; x < c.columns; ++x)
        field.push_back(std::sqrt(105 / (8 * std::numbers::pi)) * std::sin(t) * std::sin(t) *
                        std::cos(t) * std::cos(std::numbers::pi * double(x) / 4));
    wanted[(4 * 8 + 3) * 2] = 1; // order 2 is at place 4 of 0, 7, 1, 6, 2, ...
    const auto settings = [&](bool isSynthesis) {
      test::Settings all = settingsOf(c, isSynthesis);
      if (!isSynthesis)
        all.back() = {"quadrature", std::string("automatic")};
      return all;
    };
    const Ref<Layer> sht = test::layerWith("sht", settings(false));
    test::Step analysis(sht, onWorld(fieldOf(c, 1, 1), "S2"));
    sht->setTraining(false);
    test::fillFrom(*analysis.x, field);
    analysis.apply();
    test::expectNear(gathered(*analysis.y), wanted, 1e-14, grid);

    std::vector<double> coefficients = elementsOf(coefficientsOf(c, 1, 1));
    for (Index i = 0; i < 128; ++i) {
      const Index m = orderAtPlace(i / 16, 8);
      if (i / 2 % 8 < m || (m == 0 && i % 2 == 1))
        coefficients[std::size_t(i)] = 0;
    }
    test::Step synthesis(test::layerWith("inversesht", settings(true)),
                         onWorld(coefficientsOf(c, 1, 1), "S3"));
    test::fillFrom(*synthesis.x, coefficients);
    synthesis.apply();
    test::fillFrom(*analysis.x, gathered(*synthesis.y));
    analysis.apply();
    test::expectNear(gathered(*analysis.y), coefficients, 1e-14, grid);
  }
}

} // namespace
} // namespace tenon
