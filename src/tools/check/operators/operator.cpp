// SPDX-License-Identifier: BSD-2-Clause
// Applies an operator and its adjoint in every way that the interface offers (struct Call), and
// compares the results with the definition. The adjoint of a conversion between two layouts is the
// conversion between their dual layouts (copies and partial sums exchanged) in reverse order. So
// the expected result of the adjoint is computed from layouts only, like that of the operator.
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::tools {

namespace {

// How to apply an operator: y <- F x; y <- alpha F x + beta y; the same in two calls (Begin, End);
// or F bound to its arrays in advance.
enum class Use { Plain, Factors, Halves, Bound };

struct Call {
  Use use = Use::Plain;
  double alpha = 1, beta = 0;
  bool isAdjoint = false;

  std::string text() const {
    std::string map = isAdjoint ? "adjoint" : "forward";
    switch (use) {
    case Use::Plain:
      return map;
    case Use::Factors:
      return fmt::format("{} with alpha {} and beta {}", map, alpha, beta);
    case Use::Halves:
      return fmt::format("{} in halves with alpha {} and beta {}", map, alpha, beta);
    case Use::Bound:
      return map + " on bound arrays";
    }
    return map;
  }
};

Call drawCall(Draw& draw, bool isAdjoint) {
  Call call{.use = static_cast<Use>(draw.upTo(3)), .isAdjoint = isAdjoint};
  if (call.use == Use::Factors || call.use == Use::Halves) {
    call.alpha = draw.of<double>({1, 1, -2, 3, 0});
    call.beta = draw.of<double>({0, 1, -3});
  }
  return call;
}

// Applies the operator, or its adjoint. TenonLinearOpApplyAdjoint() exists for Use::Plain only;
// the other uses apply a separate operator, which TenonLinearOpCreateAdjoint() returns.
void apply(TenonLinearOp op, const Call& call, TenonDTensor x, TenonDTensor y) {
  if (call.use == Use::Plain)
    return require(call.isAdjoint ? TenonLinearOpApplyAdjoint(op, x, y)
                                  : TenonLinearOpApply(op, x, y));
  LinearOp adjoint;
  if (call.isAdjoint)
    require(TenonLinearOpCreateAdjoint(op, adjoint.out()));
  const TenonLinearOp map = call.isAdjoint ? adjoint : op;
  switch (call.use) {
  case Use::Factors:
    return require(TenonLinearOpApplyAdd(map, call.alpha, x, call.beta, y));
  case Use::Halves:
    require(TenonLinearOpApplyBegin(map, call.alpha, x, call.beta, y));
    return require(TenonLinearOpApplyEnd(map));
  default:
    require(TenonLinearOpBind(map, x, y));
    // Apply twice: the second application restarts persistent requests.
    for (int round = 0; round < 2; ++round)
      require(call.isAdjoint ? TenonLinearOpApplyAdjoint(op, x, y) : TenonLinearOpApply(op, x, y));
  }
}

// The value of the output by definition. With a factor of 0 the input is not read, so its contents
// do not matter.
Values movedValue(const Subject& s, double alpha, const Filling& ofX) {
  if (alpha * s.factor == 0)
    return Values(elementsOf(s.to.shape));
  Values value = valueOf(s.from, ofX);
  for (const LayoutSpec& layout : s.between)
    value = afterRoundTrip(layout, std::move(value));
  for (double& cell : value)
    cell *= alpha * s.factor;
  return value;
}

double toleranceOf(const Subject& s, const Call& call, const Filling& ofX, const Filling& ofY) {
  // Rounding is relative to the magnitudes of the summands, not to a sum in which they cancel.
  const double factor = std::abs(call.alpha) * std::max(std::abs(s.factor), s.spread);
  const double magnitude = factor * scaleOf(valueOf(s.from, ofX.magnitudes())) +
                           std::abs(call.beta) * scaleOf(valueOf(s.to, ofY.magnitudes()));
  return std::max(roundingOf(s.fromType, magnitude), roundingOf(s.toType, magnitude));
}

// Checks the operator, or with call.isAdjoint its adjoint. `s` is the definition of what is
// checked: Subject::adjoint() for the adjoint. `op` is the operator in both cases.
void checkDirection(Case& c, const Subject& s, TenonLinearOp op, const Call& call) {
  const bool isReal = c.draw.chance(50) && !isInteger(s.fromType) && !isInteger(s.toType);
  const Filling ofX = drawFilling(c.draw, s.fromType, isReal),
                ofY = drawFilling(c.draw, s.toType, isReal);
  const bool userX = c.draw.chance(40), userY = c.draw.chance(40);
  const std::string what = call.text() + (isReal ? " on reals" : "") +
                           (userX ? ", user array x" : "") + (userY ? ", user array y" : "");
  Field x(makeLayout(c.comm, s.from), s.fromType, userX, c.draw, c.space);
  Field y(makeLayout(c.comm, s.to), s.toType, userY, c.draw, c.space);
  const Values input = fill(s.from, c.position(s.from.grid), ofX);
  // Arrays that must not be read contain NaN.
  if (call.alpha == 0)
    x.spoil();
  else
    x.write(input);
  if (call.beta == 0)
    y.spoil();
  else
    y.write(fill(s.to, c.position(s.to.grid), ofY));
  apply(op, call, x, y);
  compareOutput(c, s.to, y,
                {.moved = movedValue(s, call.alpha, ofX),
                 .beta = call.beta,
                 .before = ofY,
                 .tolerance = isReal ? toleranceOf(s, call, ofX, ofY) : 0}, // integers are exact
                what + ": output");
  if (call.alpha != 0)
    c.found(what + ": input changed", difference(x.read(), input, x.box(), 0));
  c.found(what, x.isGuardIntact() && y.isGuardIntact() ? "" : ": elements around the box changed");
}

void checkIdentity(Case& c, const Subject& s) {
  const TenonInt seed = c.draw.upTo(1 << 20);
  double forward = 0, adjoint = 0, relative = 0; // relative: the difference of the two pairings
  require(TenonLinearOpTestAdjoint(s.op, seed, TENON_TRUE, &forward, &adjoint, nullptr));
  if (forward != adjoint)
    c.found("adjoint identity on integers",
            fmt::format(": <F x, y> is {}, <x, F* y> is {}", forward, adjoint));
  if (s.factor == 0)
    return; // the remainder of cancelling terms is rounding only
  require(TenonLinearOpTestAdjoint(s.op, seed, TENON_FALSE, &forward, &adjoint, &relative));
  // Hundreds of roundings of the type, for sums of as many products.
  const bool single = s.fromType == TENON_FLOAT32 || s.toType == TENON_FLOAT32;
  if (!(relative <= (single ? 1e-5 : 1e-13)))
    c.found("adjoint identity",
            fmt::format(": <F x, y> is {:.17g}, <x, F* y> is {:.17g}", forward, adjoint));
}

} // namespace

Subject Subject::adjoint() const {
  Subject result{.from = to.dual(),
                 .to = from.dual(),
                 .fromType = toType,
                 .toType = fromType,
                 .factor = factor,
                 .spread = spread};
  for (auto layout = between.rbegin(); layout != between.rend(); ++layout)
    result.between.push_back(layout->dual());
  return result;
}

void checkOperator(Case& c, const Subject& subject) {
  checkDirection(c, subject, subject.op, drawCall(c.draw, /*isAdjoint=*/false));
  checkDirection(c, subject.adjoint(), subject.op, drawCall(c.draw, /*isAdjoint=*/true));
  if (!isInteger(subject.fromType))
    checkIdentity(c, subject);
}

} // namespace tenon::tools
