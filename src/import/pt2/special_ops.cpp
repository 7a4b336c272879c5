// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: special functions of one or two numbers, and questions about numbers. Each
// function reads the arguments of an operation by name (Operands) and appends values to the
// canonical graph by the builder b; self() is the first argument. The table at the end has a row
// per family of operators: name, function, and the function's last argument `variant`, which
// selects what a shared function computes (operator_rows.hpp). A choice (where) passes the
// derivative 0 to the value that is not chosen, which must have a finite derivative: 0 times
// infinity is NaN.
#include "import/pt2/operator_rows.hpp"

#include <cfloat>
#include <cmath>
#include <numbers>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

Value isNaN(ModelBuilder& b, Value x) {
  return b.compare("ne", x, x);
}
Value isFinite(ModelBuilder& b, Value x) {
  return b.compare("lt", b.unary("abs", x), b.number(HUGE_VAL));
}
// `variant`: "2" for sums of powers of 2.
ModelValues logAddExp(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.logAddExp(self(operands), operands.needed("other"),
                      *variant == '2' ? std::numbers::ln2 : 1)};
}
// log(x / (1 - x)); with eps of x between eps and 1 - eps, with the derivative of both bounds.
ModelValues logit(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  if (operands.has("eps")) {
    const double eps = operands.real("eps");
    const Value low = b.number(eps), high = b.number(1 - eps);
    x = b.where(b.compare("lt", x, low), low, b.where(b.compare("gt", x, high), high, x));
  }
  return {b.unary("log", b.binary("div", x, b.affine(x, {-1}, {1})))};
}
// sin(pi x) / (pi x), 1 at 0.
ModelValues sinc(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), one = b.number(1), isZero = b.compare("eq", x, b.number(0));
  const Value angle = scaled(b, b.where(isZero, one, x), std::numbers::pi);
  return {b.where(isZero, one, b.binary("div", b.unary("sine", angle), angle))};
}
// `variant`: "degrees" for degrees of radians.
ModelValues angleUnits(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {scaled(b, self(operands),
                 *variant == '\0' ? std::numbers::pi / 180 : 180 / std::numbers::pi)};
}
// The largest finite number of the type that the file has for the result.
double largestOf(const ModelBuilder& b, const Operands& operands) {
  constexpr double kLargestHalf = 65504, kLargestBrain = 0x1.fep127;
  const auto& results = operands.operation().results;
  const auto type = results.empty() ? b.program().types.end() : b.program().types.find(results[0]);
  if (type == b.program().types.end())
    return DBL_MAX;
  return type->second == TorchType::kFloat16    ? kLargestHalf
         : type->second == TorchType::kBfloat16 ? kLargestBrain
                                                : FLT_MAX;
}
// Finite numbers in place of NaN and of infinities, without a derivative.
ModelValues finite(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const double largest = largestOf(b, operands);
  const auto replaced = [&](Value where, const char* name, double otherwise, Value rest) {
    return b.where(where, b.number(operands.real(name, otherwise)), rest);
  };
  return {
      replaced(isNaN(b, x), "nan", 0,
               replaced(b.compare("eq", x, b.number(HUGE_VAL)), "posinf", largest,
                        replaced(b.compare("eq", x, b.number(-HUGE_VAL)), "neginf", -largest, x)))};
}
// x log(y), or x log(1 + y) (`variant` "1"); 0 where x is 0, unless y is NaN.
ModelValues timesLogarithm(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands), other = operands.needed("other");
  return {b.timesLogarithm(x, other, /*addsOne=*/*variant != '\0')};
}
// -x log(x), 0 at 0 (with an infinite derivative, as that of the root), -infinity below. x - x is 0
// for -0 too, whose root would have the derivative -infinity.
ModelValues entropy(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), zero = b.number(0), one = b.number(1);
  const Value isZero = b.compare("eq", x, zero);
  const Value inside = scaled(b, b.binary("mul", x, b.unary("log", b.where(isZero, one, x))), -1);
  const Value root = b.unary("sqrt", b.where(isZero, b.binary("sub", x, b.stopped(x)), one));
  return {b.where(isZero, root, b.where(b.compare("lt", x, zero), b.number(-HUGE_VAL), inside))};
}
ModelValues signBit(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.isNegative(self(operands))};
}
ModelValues copySign(ModelBuilder& b, const Operands& operands, const char*) {
  const Value size = b.unary("abs", self(operands));
  return {b.where(b.isNegative(operands.needed("other")), scaled(b, size, -1), size)};
}
// Of complex numbers z / |z|, with the derivative 0 where z is 0.
ModelValues complexSign(ModelBuilder& b, const Operands& operands, const char*) {
  const Value z = self(operands), zero = b.number(0);
  if (!z->isComplex())
    return {b.sign(z)};
  const Value size = b.unary("abs", z), isZero = b.compare("eq", size, zero);
  const Value inverse = b.unary("reciprocal", b.where(isZero, b.number(1), size));
  return {b.binary("mul", z, b.where(isZero, zero, inverse))};
}
// The larger (smaller) number, or the one that is not NaN.
ModelValues numberOfTwo(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands), y = operands.needed("other");
  return {b.where(isNaN(b, y), x, b.where(isNaN(b, x), y, b.binary(variant, x, y)))};
}
// `variant`: "finite", "any" (of both infinities), "positive", "negative".
ModelValues infinite(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  if (*variant == 'f')
    return {isFinite(b, x)};
  return {b.compare("eq", *variant == 'a' ? b.unary("abs", x) : x,
                    b.number(*variant == 'n' ? -HUGE_VAL : HUGE_VAL))};
}
// Equal, or finite with |x - y| <= atol + |rtol y|.
ModelValues isClose(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = b.stopped(self(operands)), y = b.stopped(operands.needed("other"));
  const Value distance = b.unary("abs", b.binary("sub", x, y));
  const Value allowed =
      b.affine(b.unary("abs", y), {operands.real("rtol", 1e-5)}, {operands.real("atol", 1e-8)});
  const Value isNear = b.compare("and", isFinite(b, distance), b.compare("le", distance, allowed));
  const Value result = b.compare("or", b.compare("eq", x, y), isNear);
  return {operands.flag("equal_nan", false)
              ? b.compare("or", result, b.compare("and", isNaN(b, x), isNaN(b, y)))
              : result};
}
// 1 - erf(x), and the distribution function of normal numbers, (1 + erf(x / sqrt(2))) / 2.
ModelValues complementOfErf(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.affine(b.unary("erf", self(operands)), {-1}, {1})};
}
ModelValues normalDistribution(ModelBuilder& b, const Operands& operands, const char*) {
  return {
      b.affine(b.unary("erf", scaled(b, self(operands), 1 / std::numbers::sqrt2)), {0.5}, {0.5})};
}
// x 2^y.
ModelValues timesPowerOfTwo(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.binary("mul", self(operands),
                   b.unary("exp", scaled(b, operands.needed("other"), std::numbers::ln2)))};
}

} // namespace

std::span<const Pt2Row> pt2Special() {
  static constexpr Pt2Row rows[] = {{"copysign", copySign},
                                    {"deg2rad", angleUnits},
                                    {"erfc", complementOfErf},
                                    {"fmax", numberOfTwo, "max"},
                                    {"fmin", numberOfTwo, "min"},
                                    {"isclose", isClose},
                                    {"isfinite", infinite, "finite"},
                                    {"isinf", infinite, "any"},
                                    {"isneginf", infinite, "negative"},
                                    {"isposinf", infinite, "positive"},
                                    {"ldexp", timesPowerOfTwo},
                                    {"logaddexp", logAddExp},
                                    {"logaddexp2", logAddExp, "2"},
                                    {"logit", logit},
                                    {"nan_to_num", finite},
                                    {"rad2deg", angleUnits, "degrees"},
                                    {"sgn", complexSign},
                                    {"signbit", signBit},
                                    {"sinc", sinc},
                                    {"special_entr", entropy},
                                    {"special_erfc", complementOfErf},
                                    {"special_logit", logit},
                                    {"special_ndtr", normalDistribution},
                                    {"special_sinc", sinc},
                                    {"special_xlog1py", timesLogarithm, "1"},
                                    {"special_xlogy", timesLogarithm},
                                    {"xlogy", timesLogarithm}};
  return rows;
}

} // namespace tenon
