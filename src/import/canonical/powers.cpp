// SPDX-License-Identifier: BSD-2-Clause
// Powers and logarithms, and quotients that are rounded, with their remainders: members of
// ModelBuilder, which append operators to the canonical graph. No layer computes them, so they are
// composed of functions, comparisons and choices, such that values and derivatives are those of
// PyTorch for all arguments. A choice (where) passes the derivative 0 to the value that is not
// chosen, and this must have a finite derivative, since 0 times infinity is NaN. Class ModelBuilder
// is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon {

ModelBuilder::Value ModelBuilder::truncated(Value x) {
  return where(compare("lt", x, number(0)), unary("ceil", x), unary("floor", x));
}

ModelBuilder::Value ModelBuilder::roundedQuotientOf(Value a, Value b, bool isTruncated) {
  const Value quotient = binary("truediv", a, b);
  return isTruncated ? truncated(quotient) : unary("floor", quotient);
}

// a - q b with the rounded quotient q. If b can be infinite, q b is 0 where q is, and the remainder
// of a floor is that of a truncation, to which b is added where the signs of both differ.
ModelBuilder::Value ModelBuilder::remainderOf(Value a, Value b, bool isTruncated) {
  const auto isFinite = [](double number) { return std::isfinite(number); };
  if (b->isKnown() && std::ranges::all_of(fold(b).numbers(), isFinite))
    return binary("sub", a, binary("mul", roundedQuotientOf(a, b, isTruncated), b));
  const Value zero = number(0), quotient = roundedQuotientOf(a, b, /*isTruncated=*/true);
  const Value rest =
      binary("sub", a, where(compare("eq", quotient, zero), zero, binary("mul", quotient, b)));
  if (isTruncated)
    return rest;
  const Value differs = compare("ne", compare("lt", b, zero), compare("lt", rest, zero));
  return where(compare("and", differs, compare("ne", rest, zero)), binary("add", rest, b), rest);
}

// max(x, y) + log(1 + exp(-|x - y|)). Equal infinities have no difference.
ModelBuilder::Value ModelBuilder::logAddExp(Value x, Value y, double unit) {
  const Value distance = where(compare("eq", x, y), number(0), unary("abs", binary("sub", x, y)));
  return binary("add", binary("max", x, y),
                affine(unary("softplus", affine(distance, {-unit}, {0})), {1 / unit}, {0}));
}

// Where x and the product are 0, the derivative by x is still log(y), unless this is undefined or
// -infinity: then it is 0, and the derivative by y is x / y, which is NaN for 0 / 0. The root of 0,
// whose derivative is infinite, has these derivatives.
ModelBuilder::Value ModelBuilder::timesLogarithm(Value x, Value y, bool addsOne) {
  const Value zero = number(0), one = number(1), lowest = number(addsOne ? -1 : 0);
  const Value isZero = compare("eq", x, zero);
  const auto atZero = [&](const char* relation, Value limit) {
    return compare("and", isZero, compare(relation, y, limit));
  };
  const Value isLowest = atZero("eq", lowest), isBelow = atZero("lt", lowest),
              isInfinite = atZero("eq", number(std::numeric_limits<double>::infinity()));
  const Value isNothing = compare("or", isLowest, compare("or", isBelow, isInfinite));
  const Value inside = where(isNothing, one, y);
  const Value product = binary("mul", x, addsOne ? logOfOneMore(inside) : unary("log", inside));
  const Value ofLowest =
      binary("mul", x, unary("sqrt", where(isLowest, binary("sub", y, lowest), one)));
  // x - x is 0 for -0 too, whose root would have the derivative -infinity.
  const Value ofInfinity = unary("sqrt", where(isInfinite, binary("sub", x, stopped(x)), one));
  return where(isBelow, zero, where(isLowest, ofLowest, where(isInfinite, ofInfinity, product)));
}

// 2 atanh(x / (2 + x)) for small x, where 1 + x has lost digits of x. The derivative is that of
// log(1 + x), as PyTorch computes it: in that of the quotient, infinite cotangents would cancel.
ModelBuilder::Value ModelBuilder::logOfOneMore(Value x) {
  const Value logarithm = unary("log", affine(x, {1}, {1}));
  if (x->isComplex())
    return logarithm;
  const Value isSmall = compare("lt", unary("abs", x), number(0.5));
  const Value small = stopped(where(isSmall, x, number(0)));
  const Value exact =
      affine(unary("atanh", binary("div", small, affine(small, {1}, {2}))), {2}, {0});
  const Value lost = where(isSmall, binary("sub", exact, stopped(logarithm)), number(0));
  return binary("add", logarithm, lost);
}

// 2 sinh(x / 2) exp(x / 2) for small x, where exp(x) has lost digits of x.
ModelBuilder::Value ModelBuilder::expLessOne(Value x) {
  if (x->isComplex())
    return affine(unary("exp", x), {1}, {-1});
  const Value isSmall = compare("lt", unary("abs", x), number(1));
  const Value half = affine(where(isSmall, x, number(0)), {0.5}, {0});
  return where(isSmall, affine(binary("mul", unary("sinh", half), unary("exp", half)), {2}, {0}),
               affine(unary("exp", x), {1}, {-1}));
}

// The reciprocal of -0 is -infinity.
ModelBuilder::Value ModelBuilder::isNegative(Value x) {
  const Value v = stopped(x), zero = number(0);
  return compare("lt", where(compare("eq", v, zero), unary("reciprocal", v), v), zero);
}

// The arc tangent of the smaller coordinate by the larger one, turned by quarters; 0 at the origin.
// Where x < 0, a y of -0 is below the axis; the sign of a 0 is taken nowhere else, for to take it
// divides by the 0.
ModelBuilder::Value ModelBuilder::angle(Value y, Value x) {
  const Value zero = number(0), one = number(1);
  const Value isSteep = compare("gt", unary("abs", y), unary("abs", x));
  const Value larger = where(isSteep, y, x), smaller = where(isSteep, x, y);
  const Value slope =
      unary("atan", binary("div", smaller, where(compare("eq", larger, zero), one, larger)));
  const auto signedBy = [&](Value v, double size) {
    return where(compare("lt", v, zero), number(-size), number(size));
  };
  const Value isLeft = compare("lt", x, zero);
  const Value turned = where(
      isLeft,
      where(isNegative(where(isLeft, y, one)), number(-std::numbers::pi), number(std::numbers::pi)),
      zero);
  return where(isSteep, binary("sub", signedBy(y, std::numbers::pi / 2), slope),
               binary("add", slope, turned));
}

// Small integer powers are products, and 1/2 and -1 have functions of their own.
ModelBuilder::Value ModelBuilder::powerOf(Value a, Value b) {
  const auto isNumber = [](Value x) { return x->isKnown() && elements(x->shape) == 1; };
  if (isNumber(a))
    if (const double base = fold(a).numbers()[0]; base > 0)
      return unary("exp", affine(b, {std::log(base)}, {0}));
  if (!isNumber(b))
    return powerOfTensors(a, b);
  const double power = fold(b).numbers()[0];
  const auto times = [&](Value p, Value q) { return make(ModelOp::Multiply, {p, q}, p->shape); };
  if (power == 1)
    return a;
  if (power == 2)
    return times(a, a);
  if (power == 3)
    return times(times(a, a), a);
  if (power == 0.5)
    return unary("sqrt", a);
  if (power == -1)
    return unary("reciprocal", a);
  return unary("power", a, {{"exponent", power}});
}

// Whether all elements are above 0, whatever the inputs of the network are.
bool ModelBuilder::isPositive(Value x) {
  while (x->op == ModelOp::Expand || x->op == ModelOp::Reshape || x->op == ModelOp::Transpose ||
         x->op == ModelOp::Slice)
    x = x->inputs[0];
  if (x->isKnown())
    return std::ranges::all_of(fold(x).numbers(), [](double number) { return number > 0; });
  if (x->op != ModelOp::Unary)
    return false;
  const auto isLow = [](const auto& bound) { return bound.first == "low" && bound.second > 0; };
  return x->function == "exp" || x->function == "cosh" ||
         (x->function == "clamp" && std::ranges::any_of(x->parameters, isLow));
}

// a^b = exp(b log a) for a > 0. For other a the sign is that of an odd b, and a real power of a
// negative number is NaN. At a = 0 the power is 0, 1 (b = 0) or infinite (b < 0); its derivative
// there is 0, 1 (b = 1) or infinite (0 < b < 1, as that of the root).
ModelBuilder::Value ModelBuilder::powerOfTensors(Value a, Value b) {
  if (isPositive(a))
    return unary("exp", binary("mul", b, unary("log", a)));
  const Value zero = number(0), one = number(1);
  const auto both = [&](Value p, Value q) { return compare("and", p, q); };
  const Value isZero = compare("eq", a, zero), isNegative = compare("lt", a, zero);
  const Value size =
      unary("exp", binary("mul", b, unary("log", where(isZero, one, unary("abs", a)))));
  const Value half = unary("floor", affine(b, {0.5}, {0})),
              isOdd = binary("sub", b, affine(half, {2}, {0}));
  const Value sign = where(isNegative, affine(isOdd, {-2}, {1}), one);
  const Value isUndefined = both(isNegative, compare("ne", b, unary("floor", b)));
  const Value elsewhere = where(isUndefined, number(std::numeric_limits<double>::quiet_NaN()),
                                binary("mul", size, sign));
  const Value isRoot = both(isZero, both(compare("gt", b, zero), compare("lt", b, one)));
  const Value root = unary("sqrt", where(isRoot, a, one));
  const Value atZero =
      where(compare("eq", b, one), a,
            where(compare("lt", b, zero), number(std::numeric_limits<double>::infinity()),
                  where(compare("eq", b, zero), one, zero)));
  return where(isRoot, root, where(isZero, atZero, elsewhere));
}

} // namespace tenon
