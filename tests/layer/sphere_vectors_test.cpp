// SPDX-License-Identifier: BSD-2-Clause
// Spherical harmonic transforms of vector fields on all ranks: against their definition in plain
// loops (support/sphere_reference.hpp), with a scalar between the components; against
// torch-harmonics (tests/data/sphere_vectors.json); and the wave of Rossby and Haurwitz, whose
// velocities and vorticity are formulas. All labels are tried, on grids of one and two axes.
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "support/sphere_reference.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tenon {
namespace {

using test::elementsOf;
using test::gathered;
using test::onWorld;
using test::VectorCase;
using test::world;

constexpr Index kChannels = 3; // the components along rows and columns are channels 2 and 0

test::Settings vectorSettings(const VectorCase& c, bool isSynthesis,
                              const std::vector<Index>& vectors) {
  test::Settings settings = {
      {"degrees", c.degrees},
      {"orders", c.orders},
      {"grid", c.grid},
      {"norm", c.norm},
      {"sign", c.sign},
      {"first_row", std::string(c.south ? "south" : "north")},
      {"vectors", vectors},
      {"vector_output", std::string(c.isDivVort ? "div_vort" : "potentials")},
      {"vector_direction", std::string(c.isNorthward ? "north" : "rows")},
      {"radius", c.radius}};
  if (isSynthesis)
    settings.push_back({"size", std::vector<Index>{c.rows, c.columns}});
  else
    settings.push_back({"quadrature", std::string("plain")});
  return settings;
}

// A case with the matrices of a scalar and of a vector in both directions, which are computed once.
struct Matrices : VectorCase {
  explicit Matrices(const VectorCase& c) : VectorCase(c) {
    for (const bool isSynthesis : {false, true}) {
      ofScalar[isSynthesis] = matrix(isSynthesis);
      ofVector[isSynthesis] = vectorMatrix(isSynthesis);
    }
  }
  std::array<std::vector<double>, 2> ofScalar, ofVector;
};

// The transform of [batch, 3, ...], or its transpose.
std::vector<double> transformed(const Matrices& c, bool isSynthesis, bool toField,
                                const std::vector<double>& x) {
  const auto points = std::size_t(c.rows * c.columns),
             numbers = std::size_t(2 * c.orders * c.degrees);
  const std::size_t from = toField ? numbers : points, to = toField ? points : numbers;
  const std::vector<double>&ofScalar = c.ofScalar[isSynthesis], &ofVector = c.ofVector[isSynthesis];
  std::vector<double> y;
  for (std::size_t sample = 0; sample < x.size() / (kChannels * from); ++sample) {
    const auto channel = [&](std::size_t i) {
      const auto begin = x.begin() + std::ptrdiff_t((sample * kChannels + i) * from);
      return std::vector<double>(begin, begin + std::ptrdiff_t(from));
    };
    std::vector<double> pair = channel(2);
    const std::vector<double> along = channel(0);
    pair.insert(pair.end(), along.begin(), along.end());
    const std::vector<double> scalar =
                                  test::multiplied(ofScalar, toField, points, numbers, channel(1)),
                              vector = test::multiplied(ofVector, toField, 2 * points, 2 * numbers,
                                                        pair);
    y.insert(y.end(), vector.begin() + std::ptrdiff_t(to), vector.end());
    y.insert(y.end(), scalar.begin(), scalar.end());
    y.insert(y.end(), vector.begin(), vector.begin() + std::ptrdiff_t(to));
  }
  return y;
}

Shape inputOf(const VectorCase& c, bool isSynthesis) {
  return isSynthesis ? Shape{2, kChannels, c.orders, c.degrees, 2}
                     : Shape{2, kChannels, c.rows, c.columns};
}

void expectVectors(const Matrices& c, bool isSynthesis, const Layout& input,
                   const std::string& labels, TenonDataType type) {
  const Ref<Layer> layer =
      test::layerWith(isSynthesis ? "inversesht" : "sht", vectorSettings(c, isSynthesis, {2, 0}));
  if (!labels.empty())
    layer->setText("signature", labels);
  test::Step step(layer, input, type);
  const std::vector<double> x = elementsOf(inputOf(c, isSynthesis)),
                            dy = elementsOf(inputOf(c, !isSynthesis), 3);
  const double tolerance = type == TENON_FLOAT64 ? 1e-12 : 2e-5;
  const std::string what = layer->describe();
  test::fillFrom(*step.x, x);
  step.apply();
  ASSERT_NO_FATAL_FAILURE(test::expectNear(
      gathered(*step.y), transformed(c, isSynthesis, /*toField=*/isSynthesis, x), tolerance, what));
  if (step.dy->layout().holdsPartialSums())
    return;
  test::fillFrom(*step.dy, dy);
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(test::expectNear(gathered(*step.dx),
                                           transformed(c, isSynthesis, !isSynthesis, dy), tolerance,
                                           "adjoint of " + what));
}

VectorCase caseOf(Index rows, Index columns, Index degrees, Index orders, const char* grid) {
  VectorCase c;
  c.rows = rows;
  c.columns = columns;
  c.degrees = degrees;
  c.orders = orders;
  c.grid = grid;
  return c;
}

std::vector<Matrices> makeCases() {
  std::vector<VectorCase> all = {caseOf(6, 8, 6, 5, "gauss"), caseOf(7, 9, 5, 4, "poles"),
                                 caseOf(5, 7, 4, 3, "cells")};
  all[1].isDivVort = true;
  all[1].sign = false;
  all[1].radius = 2;
  all[1].south = true;
  all[2].norm = "schmidt";
  all[2].isNorthward = true;
  all[2].radius = 0.5;
  return {all.begin(), all.end()};
}
const std::vector<Matrices>& vectorCases() {
  static const std::vector<Matrices> all = makeCases();
  return all;
}

TEST(HarmonicVectors, EqualTheDefinitionInEveryLayout) {
  int number = 0;
  for (const Matrices& c : vectorCases())
    for (const bool isSynthesis : {false, true}) {
      const Shape shape = inputOf(c, isSynthesis);
      for (const std::string& split : test::splitsOf(shape)) {
        const TenonDataType type = ++number % 3 == 0 ? TENON_FLOAT32 : TENON_FLOAT64;
        if (split != "S4" && (world()->size() <= 2 || number % 2 == 0)) {
          ASSERT_NO_FATAL_FAILURE(expectVectors(c, isSynthesis, onWorld(shape, split), "", type));
        }
      }
    }
}

TEST(HarmonicVectors, EqualTheDefinitionWithEveryLabel) {
  const Matrices& c = vectorCases()[1];
  const std::vector<std::string> analysis = {"n", "c", "h", "w", "hp", "wp", "m", "l", "B", "R"},
                                 synthesis = {"n", "c", "m", "l", "mp", "lp", "h", "w", "B", "R"};
  const int size = world()->size();
  for (const bool isSynthesis : {false, true}) {
    const auto& labels = isSynthesis ? synthesis : analysis;
    const Shape shape = inputOf(c, isSynthesis);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(
          expectVectors(c, isSynthesis, onWorld(shape, "S1"), labels[i], TENON_FLOAT64));
      if (size % 2 == 0 && size > 2) {
        ASSERT_NO_FATAL_FAILURE(expectVectors(c, isSynthesis,
                                              onWorld(shape, {2, size / 2}, "S1,S3"),
                                              "c," + labels[i], TENON_FLOAT64));
      }
    }
  }
}

// Uneven and empty blocks, and ranks without data.
TEST(HarmonicVectors, EqualTheDefinitionInDrawnLayouts) {
  test::LayoutDraw draw(94);
  for (int i = 0, end = test::draws(20); i < end; ++i) {
    const Matrices& c = vectorCases()[std::size_t(i) % 3];
    const bool isSynthesis = i % 2 == 0;
    const Layout input = test::drawInput(draw, inputOf(c, isSynthesis));
    if (!input.holdsPartialSums()) {
      ASSERT_NO_FATAL_FAILURE(expectVectors(c, isSynthesis, input, "", TENON_FLOAT64));
    }
  }
}

// The number of a coefficient in an array [channel, place, degree, 2].
std::size_t numberOf(const VectorCase& c, Index channel, Index m, Index l, Index part) {
  Index place = 0;
  while (orderAtPlace(place, c.orders) != m)
    ++place;
  return std::size_t(((channel * c.orders + place) * c.degrees + l) * 2 + part);
}

TEST(HarmonicVectors, EqualTorchHarmonics) {
  std::ifstream file(TENON_TEST_DATA "/sphere_vectors.json");
  for (const nlohmann::json& one : nlohmann::json::parse(file)) {
    VectorCase c = caseOf(one["rows"], one["columns"], one["degrees"], one["orders"], "");
    c.grid = one["grid"].get<std::string>();
    c.norm = one["norm"].get<std::string>();
    c.sign = one["sign"];
    const std::string what = c.grid + " " + c.norm;
    test::Step analysis(test::layerWith("sht", vectorSettings(c, false, {0, 1})),
                        onWorld({1, 2, c.rows, c.columns}, "S2"));
    test::fillFrom(*analysis.x, elementsOf({2, c.rows, c.columns}));
    analysis.apply();
    const std::vector<double> got = gathered(*analysis.y);
    std::vector<double> natural;
    for (Index channel = 0; channel < 2; ++channel)
      for (Index l = 0; l < c.degrees; ++l)
        for (Index m = 0; m < c.orders; ++m)
          for (Index part = 0; part < 2; ++part)
            natural.push_back(got[numberOf(c, channel, m, l, part)]);
    test::expectNear(natural, one["coefficients"].get<std::vector<double>>(), 1e-12, what);
    test::Step synthesis(test::layerWith("inversesht", vectorSettings(c, true, {0, 1})),
                         onWorld({1, 2, c.orders, c.degrees, 2}, "S2"));
    test::fillFrom(*synthesis.x, got);
    synthesis.apply();
    test::expectNear(gathered(*synthesis.y), one["field"].get<std::vector<double>>(), 1e-12, what);
  }
}

// The wave with stream function -a^2 w sin(lat) + a^2 K cos^4(lat) sin(lat) cos(4 lon), as in the
// sixth test of Williamson et al. (1992): winds to the north and east, and their vorticity.
TEST(HarmonicVectors, FindTheVorticityOfTheRossbyHaurwitzWave) {
  const double a = 6.37122e6, w = 7.848e-6, K = 7.848e-6;
  for (const char* grid : {"gauss", "poles", "cells"})
    for (const bool isSouth : {false, true}) {
      VectorCase c = caseOf(12, 18, 8, 8, grid);
      c.south = isSouth;
      c.isDivVort = true;
      c.isNorthward = true;
      c.radius = a;
      const SphereRows nodes = sphereRows(sphereGridNamed(grid), c.rows);
      std::vector<double> north, east, vorticity;
      for (Index y = 0; y < c.rows; ++y)
        for (Index x = 0; x < c.columns; ++x) {
          const double t = nodes.colatitude[isSouth ? c.rows - 1 - y : y],
                       lon = 2 * std::numbers::pi * double(x) / double(c.columns);
          const double sine = std::cos(t), cosine = std::sin(t), cube = cosine * cosine * cosine;
          north.push_back(-4 * a * K * cube * sine * std::sin(4 * lon));
          east.push_back(a * w * cosine +
                         a * K * cube * (4 * sine * sine - cosine * cosine) * std::cos(4 * lon));
          vorticity.push_back(2 * w * sine - 30 * K * sine * cube * cosine * std::cos(4 * lon));
        }
      std::vector<double> winds = north;
      winds.insert(winds.end(), east.begin(), east.end());
      const auto settings = [&](const VectorCase& of, bool isSynthesis) {
        test::Settings all = vectorSettings(of, isSynthesis, {0, 1});
        if (!isSynthesis)
          all.back() = {"quadrature", std::string("automatic")};
        return all;
      };
      test::Step analysis(test::layerWith("sht", settings(c, false)),
                          onWorld({1, 2, c.rows, c.columns}, "S3"));
      test::fillFrom(*analysis.x, winds);
      analysis.apply();
      const std::vector<double> got = gathered(*analysis.y);
      std::vector<double> divergence(got.begin(), got.begin() + std::ptrdiff_t(got.size() / 2)),
          curl(got.begin() + std::ptrdiff_t(got.size() / 2), got.end());
      for (double& number : divergence)
        EXPECT_NEAR(number, 0, 1e-18); // the vorticity is of the order of 1e-4
      test::Settings ofScalar = settings(c, false);
      std::erase_if(ofScalar, [](const auto& one) { return one.first == std::string("vectors"); });
      test::Step scalar(test::layerWith("sht", ofScalar), onWorld({1, 1, c.rows, c.columns}, "S2"));
      test::fillFrom(*scalar.x, vorticity);
      scalar.apply();
      const std::vector<double> wanted = gathered(*scalar.y);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(curl[i], wanted[i], 1e-18) << grid << " " << i;
      test::Step synthesis(test::layerWith("inversesht", settings(c, true)),
                           onWorld({1, 2, c.orders, c.degrees, 2}, "S3"));
      test::fillFrom(*synthesis.x, got);
      synthesis.apply();
      test::expectNear(gathered(*synthesis.y), winds, 1e-12, grid);
    }
}

TEST(HarmonicVectors, NameWhatDoesNotFit) {
  const auto expect = [](const std::vector<Index>& vectors, double radius,
                         std::initializer_list<const char*> parts) {
    expectError(TENON_ERR_ARG, parts, [&] {
      test::Step(
          test::layerWith("sht", {{"degrees", Index(4)}, {"vectors", vectors}, {"radius", radius}}),
          onWorld({1, 3, 6, 8}, "S2"));
    });
  };
  expect({1}, 1, {"vectors", "1 channel", "2 for each vector"});
  expect({1, 3}, 1, {"channel 3", "there are 3"});
  expect({1, 0}, 0, {"radius", "0"});
}

} // namespace
} // namespace tenon
