// SPDX-License-Identifier: BSD-2-Clause
// Means between cells and faces of a staggered grid (layers collocate and stagger), against
// matrices for each dimension that follow from the positions of the faces and the definitions of
// the boundary modes. Further tests: the layouts of a staggered grid, exact adjoints, and the order
// of accuracy of the means.
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "run_layer.hpp"
#include "sys/log/log.hpp"

#include <cmath>
#include <numbers>

namespace tenon {
namespace {

using test::forEachIndex;
using test::gathered;
using test::onWorld;
using test::world;
using Values = std::vector<double>;

// One spatial dimension of a grid: the faces that it has ("all", "lower", "upper" or "none"), and
// the boundary mode at its ends.
struct Side {
  std::string faces, mode;
};

Index firstFace(const std::string& faces) {
  return faces == "upper" ? 1 : 0;
}
Index countOf(const std::string& faces, Index cells) {
  return faces == "all" ? cells + 1 : cells;
}

// The element that element i of n stands for under a boundary mode, and its factor, which is 0 if
// none.
std::pair<Index, double> extended(const std::string& mode, Index i, Index n) {
  if (i >= 0 && i < n)
    return {i, 1};
  if (mode == "periodic")
    return {(i + n) % n, 1};
  if (mode == "symmetric" || mode == "odd")
    return {i < 0 ? -1 - i : 2 * n - 1 - i, mode == "odd" ? -1 : 1};
  return {0, 0}; // zero; none
}

// The matrix of a dimension with this number of cells, by rows.
std::vector<Values> matrixOf(bool toCells, const Side& side, Index cells) {
  const Index faces = side.faces == "none" ? cells : countOf(side.faces, cells),
              first = firstFace(side.faces);
  const Index inputs = toCells ? faces : cells, outputs = toCells ? cells : faces;
  std::vector<Values> rows(static_cast<std::size_t>(outputs),
                           Values(static_cast<std::size_t>(inputs), 0));
  for (Index o = 0; o < outputs; ++o) {
    // Cell c is between the faces c and c + 1, whose indices are these numbers minus that of the
    // first face. Face f is between the cells f - 1 and f.
    const Index lower = side.faces == "none" ? o : toCells ? o - first : o + first - 1;
    const Index upper = side.faces == "none" ? o : lower + 1;
    const bool oneSided = side.mode == "none" && (lower < 0 || upper >= inputs);
    for (const Index i : {lower, upper}) {
      const auto [element, factor] = extended(side.mode, i, inputs);
      rows[o][element] += factor * (oneSided ? 1 : 0.5);
    }
  }
  return rows;
}

std::string joinedText(const std::vector<Side>& sides, std::string Side::*what) {
  std::string text;
  for (const Side& side : sides)
    text += (text.empty() ? "" : ",") + side.*what;
  return text;
}

test::Settings settingsOf(const std::vector<Side>& sides) {
  return {{"faces", joinedText(sides, &Side::faces)}, {"boundary", joinedText(sides, &Side::mode)}};
}

const char* typeOf(bool toCells) {
  return toCells ? "collocate" : "stagger";
}

// The shape of a field [2, 3, ...] on cells or on faces.
Shape shapeOf(const std::vector<Side>& sides, const std::vector<Index>& cells, bool onFaces) {
  Shape shape = {2, 3};
  for (std::size_t d = 0; d < sides.size(); ++d)
    shape.push_back(onFaces ? countOf(sides[d].faces, cells[d]) : cells[d]);
  return shape;
}

// The weight of an input element is the product of the entries of the matrices of all dimensions.
TEST(Staggered, MeansAreThoseOfTheDefinition) {
  const std::vector<std::vector<Side>> grids = {
      {{"all", "none"}},
      {{"lower", "periodic"}, {"all", "odd"}},
      {{"upper", "zero"}, {"none", "none"}, {"all", "symmetric"}}};
  const std::vector<Index> cells = {5, 3, 4};
  for (const auto& sides : grids)
    for (const bool toCells : {false, true}) {
      const Shape in = shapeOf(sides, cells, toCells), out = shapeOf(sides, cells, !toCells);
      std::vector<std::vector<Values>> maps;
      for (std::size_t d = 0; d < sides.size(); ++d)
        maps.push_back(matrixOf(toCells, sides[d], cells[d]));
      const Values x = test::elementsOf(in);
      Values y;
      forEachIndex(out, [&](const Shape& o) {
        double sum = 0;
        forEachIndex(in, [&](const Shape& i) {
          double weight = o[0] == i[0] && o[1] == i[1];
          for (std::size_t d = 0; d < sides.size() && weight != 0; ++d)
            weight *= maps[d][o[d + 2]][i[d + 2]];
          sum += weight * x[test::placeOf(i, in)];
        });
        y.push_back(sum);
      });
      test::expectOutput(typeOf(toCells), settingsOf(sides), in, out, y);
    }
}

// Layouts of a solver: blocks of unequal size, some of them empty, in one case the first and the
// last.
std::vector<Layout> solversCells(const Shape& shape) {
  const int ranks = world()->size();
  std::vector<Layout> all;
  for (const int dim : {2, 3})
    for (const bool firstIsEmpty : {false, true}) {
      LayoutSpec spec{.shape = shape,
                      .grid = Grid::make({ranks}),
                      .properties = {Property::shard(dim)},
                      .cuts = std::vector<std::vector<Index>>(4)};
      std::vector<Index>& cuts = spec.cuts[dim];
      cuts.assign(static_cast<std::size_t>(ranks) + 1, shape[dim]);
      cuts.front() = 0;
      for (int part = 1; part + 1 < ranks; ++part)
        cuts[part] = std::min<Index>(firstIsEmpty ? part - 1 : part, shape[dim]);
      all.emplace_back(std::move(spec));
    }
  if (ranks % 2 == 0)
    all.push_back(onWorld(shape, {2, ranks / 2}, "S2,S3"));
  return all;
}

// The layout of the faces that belongs to a layout of cells.
Layout staggered(const Layout& cells, const std::vector<Side>& sides) {
  LayoutDraft draft(cells);
  for (std::size_t d = 0; d < sides.size(); ++d)
    if (sides[d].faces == "all")
      draft.stagger(static_cast<int>(d) + 2);
  return draft.build();
}

const std::vector<std::vector<Side>> kGrids = {{{"all", "odd"}, {"all", "none"}},
                                               {{"lower", "periodic"}, {"all", "symmetric"}},
                                               {{"all", "zero"}, {"upper", "periodic"}}};

TEST(Staggered, FieldsOfAGridHaveOneDecomposition) {
  for (const Layout& cells : solversCells({2, 3, 5, 4}))
    for (const auto& sides : kGrids) {
      const Layout faces = staggered(cells, sides);
      for (int part = 0; part < cells.parts(2); ++part) {
        const Interval its = cells.owned(2, part);
        const Index more = sides[0].faces == "all" && its.end == 5 && !its.empty();
        EXPECT_EQ(faces.owned(2, part).size(), its.size() + more) << faces.describe();
      }
      const auto toFaces = test::layerWith("stagger", settingsOf(sides));
      const auto back = test::layerWith("collocate", settingsOf(sides));
      toFaces->setUp(cells);
      back->setUp(faces);
      EXPECT_EQ(toFaces->outputLayout(cells), faces) << toFaces->outputLayout(cells).describe();
      EXPECT_EQ(back->outputLayout(faces), cells) << back->outputLayout(faces).describe();
    }
}

// Halves of small integers are exact, and so are sums of their products.
TEST(Staggered, AdjointsAreExact) {
  for (const Layout& cells : solversCells({2, 3, 5, 4}))
    for (const auto& sides : kGrids)
      for (const bool toCells : {false, true}) {
        const auto layer = test::layerWith(typeOf(toCells), settingsOf(sides));
        test::Step step(layer, toCells ? staggered(cells, sides) : cells);
        fillByIndex(*step.x, [](Index i) { return double(i * 7 % 11 - 5); });
        fillByIndex(*step.dy, [](Index i) { return double(i * 5 % 13 - 6); });
        step.apply();
        step.adjoint();
        EXPECT_EQ(pairing(*step.y, *step.dy), pairing(*step.x, *step.dx)) << layer->describe();
      }
}

// The largest error of the means of a field u(y, x) that has walls in y and is periodic in x. Cells
// are at (j + 1/2) / ny and (i + 1/2) / nx, faces at multiples of 1 / ny and 1 / nx.
template <class Field>
double errorOf(bool toCells, const Side& y, Index n, Field field) {
  const std::vector<Side> sides = {y, {"lower", "periodic"}};
  const Index columns = 2 * n;
  const Shape cells = {1, 1, n, columns};
  const Shape faces = {1, 1, countOf(y.faces, n), columns};
  const auto valuesOf = [&](const Shape& shape, bool onFaces) {
    Values values;
    forEachIndex(shape, [&](const Shape& at) {
      const double shift = onFaces ? 0 : 0.5;
      values.push_back(
          field((double(at[2]) + shift) / double(n), (double(at[3]) + shift) / double(columns)));
    });
    return values;
  };
  const Shape& in = toCells ? faces : cells;
  const auto layer = test::layerWith(typeOf(toCells), settingsOf(sides));
  test::Step step(layer, onWorld(in, "S2"));
  test::fillFrom(*step.x, valuesOf(in, toCells));
  step.apply();
  const Values found = gathered(*step.y), wanted = valuesOf(toCells ? cells : faces, !toCells);
  double error = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    error = std::max(error, std::abs(found[i] - wanted[i]));
  return error;
}

TEST(Staggered, LinearFieldsAreExact) {
  const auto linear = [](double y, double) { return 3 * y; };
  EXPECT_LT(errorOf(true, {"all", "none"}, 16, linear), 1e-14);
  // Beyond the first cell the field is continued by the wall's value 0; the last cell has a
  // neighbour with its own value.
  EXPECT_LT(errorOf(false, {"lower", "odd"}, 16, linear), 1e-14);
}

TEST(Staggered, SmoothFieldsConvergeToSecondOrder) {
  constexpr double kPi = std::numbers::pi;
  const auto noSlip = [](double y, double x) { return std::sin(kPi * y) * std::sin(2 * kPi * x); };
  const auto pressure = [](double y, double x) {
    return std::cos(kPi * y) + std::cos(2 * kPi * x);
  };
  const auto order = [&](bool toCells, const Side& side, auto field) {
    return std::log2(errorOf(toCells, side, 32, field) / errorOf(toCells, side, 64, field));
  };
  EXPECT_NEAR(order(false, {"all", "odd"}, noSlip), 2, 0.005);
  EXPECT_NEAR(order(false, {"all", "symmetric"}, pressure), 2, 0.005);
  EXPECT_NEAR(order(true, {"all", "none"}, noSlip), 2, 0.005);
  EXPECT_NEAR(order(true, {"lower", "zero"}, noSlip), 2, 0.005); // the field is 0 on the upper wall
}

// A solver stores faces 1 to n, and has filled face 0 as a ghost cell: no message is sent.
TEST(Staggered, GhostFacesThatTheSolverHasFilledAreRead) {
  const int ranks = world()->size();
  const Shape shape = {1, 2, 9, 3};
  LayoutSpec spec = onWorld(shape, "S2").spec();
  const Layout plain = onWorld(shape, "S2");
  Halo halo{.boxes = {}, .low = Boundary::Values, .high = Boundary::None};
  for (int part = 0; part < ranks; ++part)
    halo.boxes.push_back({plain.owned(2, part).begin - 1, plain.owned(2, part).end});
  spec.halos[2] = halo;
  const auto layer =
      test::layerWith("collocate", {{"faces", std::string("upper,none")}, {"filled", true}});
  test::Step step(layer, Layout(spec));
  const Box box = step.x->layout().box(step.x->position());
  const auto face = [](Index c, Index k, Index i) {
    return double(c + 1) * double(k * k) + 0.5 * double(i);
  };
  double* at = step.x->mutableData<double>();
  for (Index c = 0; c < 2; ++c)
    for (Index k = box[2].begin; k < box[2].end; ++k) // index k is face k + 1
      for (Index i = 0; i < 3; ++i)
        *at++ = face(c, k + 1, i);
  logReset();
  logEnable(true);
  step.apply();
  Index messages = 0;
  for (const EventRecord& record : logSnapshot())
    messages += record.messages;
  logEnable(false);
  EXPECT_EQ(messages, 0);
  Values wanted;
  forEachIndex(shape, [&](const Shape& o) {
    wanted.push_back((face(o[1], o[2], o[3]) + face(o[1], o[2] + 1, o[3])) / 2);
  });
  test::expectNear(gathered(*step.y), wanted, 1e-15, "means of ghost faces");
}

} // namespace
} // namespace tenon
