// SPDX-License-Identifier: BSD-2-Clause
// The operators that `tenon check` draws. Each kind creates an operator of the library and, as a
// Subject, its definition: the layouts of x and y, and a factor. checkOperator() in operator.hpp
// then runs the same checks for all kinds.
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::tools {

namespace {

// Small extents: parts of one index and empty parts are then frequent.
constexpr int kMaxExtent = 7;

Indices shapeFor(Draw& draw) {
  return drawShape(draw, 1, 3, kMaxExtent);
}

// Integers are rarer than the floating types, which all operators support.
TenonDataType drawType(Draw& draw) {
  if (!draw.chance(10))
    return drawFloating(draw);
  return draw.chance(50) ? TENON_INT32 : TENON_INT64;
}

// The grid of y, for x on `grid`: mostly the same one, on which a conversion can also consist of
// MPI collectives.
GridSpec sameOrOther(Case& c, const GridSpec& grid) {
  return c.draw.chance(70) ? grid : drawGrid(c.draw, c.ranks);
}

// A conversion between two given layouts of one shape.
Subject convert(Case& c, LayoutSpec from, LayoutSpec to, TenonDataType type) {
  Subject s{.from = std::move(from), .to = std::move(to), .fromType = type, .toType = type};
  c.text += fmt::format(" {} from {} to {};", typeText(type), s.from.text(), s.to.text());
  require(TenonLinearOpCreateConversion(makeLayout(c.comm, s.from), makeLayout(c.comm, s.to), type,
                                        s.op.out()));
  return s;
}

// A conversion between two random layouts of one shape.
Subject drawConversion(Case& c, TenonDataType type) {
  const Indices shape = shapeFor(c.draw);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const LayoutSpec from = drawAnyLayout(c.draw, shape, grid);
  return convert(c, from, drawAnyLayout(c.draw, shape, sameOrOther(c, grid)), type);
}

void checkConversion(Case& c) {
  checkOperator(c, drawConversion(c, drawType(c.draw)));
}

void checkHalo(Case& c) {
  checkOperator(c, drawHaloExchange(c, drawGrid(c.draw, c.ranks)));
}

void checkRepartition(Case& c) {
  const TenonDataType type = drawType(c.draw);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const Indices shape = shapeFor(c.draw);
  // A repartition moves values: no sums and no halos.
  Subject s{.from = drawValues(c.draw, shape, grid),
            .to = drawValues(c.draw, shape, sameOrOther(c, grid)),
            .fromType = type,
            .toType = type};
  c.text += fmt::format(" {} from {} to {}", typeText(type), s.from.text(), s.to.text());
  require(TenonLinearOpCreateConversion(makeLayout(c.comm, s.from), makeLayout(c.comm, s.to), type,
                                        s.op.out()));
  checkOperator(c, s);
}

void checkSendReceive(Case& c) {
  const TenonDataType type = drawType(c.draw);
  LayoutSpec from = everywhere(shapeFor(c.draw), 1), to = from;
  from.grid.ranks = {c.draw.upTo(c.ranks - 1)};
  // A layout of one process is a tensor on one rank; the two ranks can be the same.
  to.grid.ranks = {c.draw.upTo(c.ranks - 1)};
  checkOperator(c, convert(c, from, to, type));
}

// Operators without communication: each rank's elements remain local.
void checkStill(Case& c) {
  // The identity is a cast to the same type.
  const bool isCast = c.draw.chance(60);
  const TenonDataType type = isCast ? drawFloating(c.draw) : drawType(c.draw);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const LayoutSpec spec = drawLayout(c.draw, shapeFor(c.draw), grid);
  Subject s{
      .from = spec, .to = spec, .fromType = type, .toType = isCast ? drawFloating(c.draw) : type};
  c.text +=
      fmt::format(" from {} to {} on {}", typeText(s.fromType), typeText(s.toType), spec.text());
  const Layout layout = makeLayout(c.comm, spec);
  require(TenonLinearOpCreateType(layout, layout, s.fromType, s.toType,
                                  isCast ? "cast" : "identity", nullptr, s.op.out()));
  checkOperator(c, s);
}

void checkZero(Case& c) {
  const TenonDataType type = drawType(c.draw);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const LayoutSpec from = drawAnyLayout(c.draw, shapeFor(c.draw), grid);
  Subject s{.from = from,
            .to = drawAnyLayout(c.draw, shapeFor(c.draw), sameOrOther(c, grid)),
            .fromType = type,
            .toType = type,
            .factor = 0};
  c.text += fmt::format(" {} from {} to {}", typeText(type), s.from.text(), s.to.text());
  require(TenonLinearOpCreateType(makeLayout(c.comm, s.from), makeLayout(c.comm, s.to), type, type,
                                  "zero", nullptr, s.op.out()));
  checkOperator(c, s);
}

// A layout created from each rank's box must equal that of the grid that the boxes form.
void checkBoxes(Case& c) {
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  LayoutSpec spec = everywhere(Indices(grid.axes()), 1);
  spec.grid = grid;
  spec.properties.clear();
  for (int d = 0; d < grid.axes(); ++d) {
    spec.properties.push_back({'S', d});
    spec.splitAxes[d] = {d};
    spec.cuts[d] = {0};
    for (int part = 0; part < grid.extents[d]; ++part)
      // No part is empty: an empty box has no position.
      spec.cuts[d].push_back(spec.cuts[d].back() + c.draw.between(1, 3));
    spec.shape[d] = spec.cuts[d].back();
  }
  c.text += " of " + spec.text();
  Indices low, high;
  for (const Interval& i : spec.box(c.position(grid))) {
    low.push_back(i.begin);
    high.push_back(i.end);
  }
  Layout fromBoxes;
  require(TenonLayoutCreateFromBoxes(c.comm, spec.ndim(), spec.shape.data(), low.data(),
                                     high.data(), fromBoxes.out()));
  TenonBool isEqual = TENON_FALSE;
  require(TenonLayoutIsEqual(fromBoxes, makeLayout(c.comm, spec), &isEqual));
  c.found("layout", isEqual ? "" : ": not the one of the grid");
}

// Draws the factor of a multiple.
double drawFactor(Case& c) {
  // Integral factors keep the results of integral tensors exact. With 0 the input must not be read.
  const double factor = c.draw.of<double>({-3, -1, 0, 2});
  c.text += fmt::format(" times {};", factor);
  return factor;
}

Subject scaled(Case& c, Subject s) {
  const double factor = drawFactor(c);
  const TenonLinearOp op = s.op;
  LinearOp scaledOp;
  require(TenonLinearOpCreateSum(1, &op, &factor, scaledOp.out()));
  s.op = std::move(scaledOp);
  // Factors multiply, since scales can be nested.
  s.factor *= factor;
  return s;
}

void checkScale(Case& c) {
  checkOperator(c, scaled(c, drawConversion(c, drawType(c.draw))));
}

// A sum of several multiples of one conversion. The factors can cancel, but the rounding error is
// relative to their magnitudes (Subject::spread).
void checkSum(Case& c) {
  Subject s = drawConversion(c, drawType(c.draw));
  std::vector<Subject> terms;
  std::vector<TenonLinearOp> ops;
  std::vector<double> factors;
  double factor = 0;
  for (int count = c.draw.between(1, 3); count > 0; --count) {
    Subject term{.from = s.from, .to = s.to, .fromType = s.fromType, .toType = s.toType};
    require(TenonLinearOpCreateConversion(makeLayout(c.comm, s.from), makeLayout(c.comm, s.to),
                                          s.fromType, term.op.out()));
    factors.push_back(c.draw.chance(50) ? drawFactor(c) : 1);
    terms.push_back(std::move(term));
    ops.push_back(terms.back().op);
    factor += factors.back();
    s.spread += std::abs(factors.back());
  }
  LinearOp sum;
  require(
      TenonLinearOpCreateSum(static_cast<int>(ops.size()), ops.data(), factors.data(), sum.out()));
  s.op = std::move(sum);
  s.factor = factor;
  checkOperator(c, s);
}

// A composition of two or three conversions, some of which are scaled.
Subject drawChain(Case& c, TenonDataType type) {
  Subject s = drawConversion(c, type);
  std::vector<LinearOp> links(1);
  links[0] = std::move(s.op);
  for (int more = c.draw.between(1, 2); more > 0; --more) {
    Subject next =
        convert(c, s.to, drawAnyLayout(c.draw, s.to.shape, sameOrOther(c, s.to.grid)), type);
    if (c.draw.chance(30))
      next = scaled(c, std::move(next));
    // An intermediate layout whose halo boxes are smaller than its owned blocks loses elements.
    s.between.push_back(s.to);
    s.to = next.to;
    s.factor *= next.factor;
    links.push_back(std::move(next.op));
  }
  const std::vector<TenonLinearOp> ops(links.begin(), links.end());
  require(TenonLinearOpCreateComposition(static_cast<int>(ops.size()), ops.data(), s.op.out()));
  return s;
}

void checkComposition(Case& c) {
  checkOperator(c, drawChain(c, drawType(c.draw)));
}

void checkAdjointView(Case& c) {
  const TenonDataType type = drawType(c.draw);
  // The adjoint of a composition is a composition in reverse order; that of a conversion is another
  // conversion.
  const Subject s = c.draw.chance(50) ? drawChain(c, type) : drawConversion(c, type);
  Subject view = s.adjoint();
  require(TenonLinearOpCreateAdjoint(s.op, view.op.out()));
  checkOperator(c, view);
}

} // namespace

Subject drawHaloExchange(Case& c, const GridSpec& grid) {
  const TenonDataType type = drawType(c.draw);
  Subject s{.from = drawLayout(c.draw, shapeFor(c.draw), grid),
            .to = {},
            .fromType = type,
            .toType = type};
  // A halo exchange fills halos of values; halos of partial sums occur in its adjoint.
  s.to = withHalos(c.draw, s.from, 0);
  c.text += fmt::format(" {} into {}", typeText(type), s.to.text());
  require(TenonLinearOpCreateHalo(makeLayout(c.comm, s.from), makeLayout(c.comm, s.to), type,
                                  s.op.out()));
  return s;
}

std::vector<CaseKind> operatorKinds() {
  return {
      {"conversion", checkConversion, 8},
      {"halo", checkHalo, 4},
      {"repartition", checkRepartition},
      {"boxes", checkBoxes},
      {"primitive", checkPrimitive},
      {"sendreceive", checkSendReceive},
      {"cast", checkStill},
      {"zero", checkZero},
      {"scale", checkScale},
      {"sum", checkSum},
      {"composition", checkComposition},
      {"adjoint", checkAdjointView},
      {"blockdiagonal", checkBlockDiagonal},
      {"inplace", checkInPlace},
      {"memory", checkMemory},
      {"mesh", checkMesh},
      {"meshtypes", checkMeshTypes},
      // They fail on purpose, and run only if they are named.
      {"broken", checkBroken, 0},
      {"stuck", checkStuck, 0},
  };
}

} // namespace tenon::tools
