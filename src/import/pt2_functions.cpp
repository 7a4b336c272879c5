// SPDX-License-Identifier: BSD-2-Clause
// Functions of each element, arithmetic, comparisons and choices in PyTorch. Comparisons give 0
// and 1, since tensors of a run have no flags.
#include "import/pt2_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues function(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.unary(of, self(given))};
}

ModelValues same(ModelBuilder&, const Operands& given, const char*) {
  return {self(given)};
}
// An argument as 0 and 1: a number is true where it is not 0.
Value flagsOf(ModelBuilder& b, const Operands& given, const char* name) {
  const Value x = given.needed(name);
  return given.isFlag(name) ? x : b.compare("ne", x, b.number(0));
}
// A conversion of the elements; between real types it changes nothing, as the run has its own.
ModelValues converted(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const Index type = given.integer("dtype", 7); // PyTorch's number: 6, 7, 8 and 13 are real
  if (type == 6 || type == 7 || type == 8 || type == 13 ||
      (x->isConstant() && x->constant->isInteger()))
    return {x};
  constexpr Index kBool = 12;
  if (type == kBool)
    return {flagsOf(b, given, "self")};
  return {b.refuse("a conversion to integers or flags", "real numbers", x->shape)};
}
ModelValues dropout(ModelBuilder& b, const Operands& given, const char*) {
  b.check(!given.flag("train", false),
          "it drops elements as in training; call eval() before the export");
  return {self(given)};
}
ModelValues gelu(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary(given.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu", self(given))};
}
ModelValues leakyRelu(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("leakyrelu", self(given), {{"slope", given.real("negative_slope", 0.01)}})};
}
ModelValues elu(ModelBuilder& b, const Operands& given, const char*) {
  if (given.real("scale", 1) != 1 || given.real("input_scale", 1) != 1)
    return {b.refuse("an elu with scales", "elu with alpha, or selu", self(given)->shape)};
  return {b.unary("elu", self(given), {{"alpha", given.real("alpha", 1)}})};
}
ModelValues celu(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("celu", self(given), {{"alpha", given.real("alpha", 1)}})};
}
ModelValues softplus(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const double beta = given.real("beta", 1);
  b.check(beta != 0, "its beta is 0");
  return {b.affine(b.unary("softplus", b.affine(x, {beta}, {0})), {1 / beta}, {0})};
}
Value clamp(ModelBuilder& b, Value x, std::optional<double> low, std::optional<double> high) {
  std::vector<std::pair<std::string, double>> bounds;
  if (low)
    bounds.emplace_back("low", *low);
  if (high)
    bounds.emplace_back("high", *high);
  return b.unary("clamp", x, bounds);
}
ModelValues hardTanh(ModelBuilder& b, const Operands& given, const char*) {
  return {clamp(b, self(given), given.real("min_val", -1), given.real("max_val", 1))};
}
ModelValues clampBetween(ModelBuilder& b, const Operands& given, const char*) {
  const auto bound = [&](const char* name) {
    return given.has(name) ? std::optional(given.real(name)) : std::nullopt;
  };
  return {clamp(b, self(given), bound("min"), bound("max"))};
}
ModelValues relu6(ModelBuilder& b, const Operands& given, const char*) {
  return {clamp(b, self(given), 0, 6)};
}
ModelValues hardSigmoid(ModelBuilder& b, const Operands& given, const char*) {
  return {clamp(b, b.affine(self(given), {1.0 / 6}, {0.5}), 0, 1)};
}
ModelValues prelu(ModelBuilder& b, const Operands& given, const char*) {
  return {b.prelu(self(given), given.needed("weight"))};
}

// -- arithmetic

ModelValues arithmetic(ModelBuilder& b, const Operands& given, const char* of) {
  Value other = given.needed("other");
  if (given.has("alpha"))
    other = b.binary("mul", other, given.value("alpha"));
  if (given.has("rounding_mode"))
    return {b.refuse("a division that rounds", "a division of real numbers", self(given)->shape)};
  return {b.binary(of, self(given), other)};
}
ModelValues reversedSub(ModelBuilder& b, const Operands& given, const char*) {
  b.check(given.real("alpha", 1) == 1, "it has a factor alpha");
  return {b.binary("sub", given.needed("other"), self(given))};
}
ModelValues power(ModelBuilder& b, const Operands& given, const char*) {
  return {b.binary("pow", self(given), given.needed("exponent"))};
}
ModelValues logic(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.compare(of, flagsOf(b, given, "self"), flagsOf(b, given, "other"))};
}
ModelValues inverse(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("not", flagsOf(b, given, "self"))};
}
ModelValues comparison(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.compare(of, self(given), given.needed("other"))};
}
// Only NaN is not equal to itself.
ModelValues isNaN(ModelBuilder& b, const Operands& given, const char*) {
  return {b.compare("ne", self(given), self(given))};
}
// The square root's inverse, a square, minus the softplus of -x.
ModelValues inverseRoot(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("reciprocal", b.unary("sqrt", self(given)))};
}
ModelValues square(ModelBuilder& b, const Operands& given, const char*) {
  return {b.binary("mul", self(given), self(given))};
}
ModelValues logSigmoid(ModelBuilder& b, const Operands& given, const char*) {
  return {b.affine(b.unary("softplus", b.affine(self(given), {-1}, {0})), {-1}, {0})};
}
// Of 1 + x, and less 1.
ModelValues log1p(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("log", b.affine(self(given), {1}, {1}))};
}
ModelValues expm1(ModelBuilder& b, const Operands& given, const char*) {
  return {b.affine(b.unary("exp", self(given)), {1}, {-1})};
}
ModelValues sign(ModelBuilder& b, const Operands& given, const char*) {
  return {b.sign(self(given))};
}
ModelValues heaviside(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), zero = b.number(0);
  return {b.where(b.compare("eq", x, zero), given.needed("values"), b.compare("gt", x, zero))};
}
ModelValues threshold(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.where(b.compare("gt", x, given.needed("threshold")), x, given.needed("value"))};
}
// The first half, times the sigmoid of the second.
ModelValues gatedHalves(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", -1), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(n % 2 == 0, "it halves an odd extent");
  return {b.binary("mul", b.slice(x, d, 0, n / 2), b.unary("sigmoid", b.slice(x, d, n / 2, n)))};
}
// self + value times or by
ModelValues addProduct(ModelBuilder& b, const Operands& given, const char* of) {
  Value term = b.binary(of, given.needed("tensor1"), given.needed("tensor2"));
  if (given.has("value"))
    term = b.binary("mul", term, given.value("value"));
  return {b.binary("add", self(given), term)};
}
ModelValues interpolated(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.binary(
      "add", x, b.binary("mul", b.binary("sub", given.needed("end"), x), given.needed("weight")))};
}
ModelValues maskedFill(ModelBuilder& b, const Operands& given, const char*) {
  return {b.where(given.needed("mask"), given.needed("value"), self(given))};
}
ModelValues where(ModelBuilder& b, const Operands& given, const char*) {
  return {b.where(given.needed("condition"), given.needed("self"), given.needed("other"))};
}

} // namespace

std::span<const Pt2Row> pt2Functions() {
  static constexpr Pt2Row rows[] = {{"abs", function, "abs"},
                                    {"add", arithmetic, "add"},
                                    {"addcdiv", addProduct, "div"},
                                    {"addcmul", addProduct, "mul"},
                                    {"alias", same},
                                    {"__and__", logic, "and"},
                                    {"alpha_dropout", dropout},
                                    {"bitwise_and", logic, "and"},
                                    {"bitwise_not", inverse},
                                    {"bitwise_or", logic, "or"},
                                    {"celu", celu},
                                    {"clamp", clampBetween},
                                    {"clamp_max", clampBetween},
                                    {"clamp_min", clampBetween},
                                    {"clone", same},
                                    {"contiguous", same},
                                    {"cos", function, "cosine"},
                                    {"detach", same},
                                    {"div", arithmetic, "truediv"},
                                    {"divide", arithmetic, "truediv"},
                                    {"dropout", dropout},
                                    {"elu", elu},
                                    {"eq", comparison, "eq"},
                                    {"erf", function, "erf"},
                                    {"exp", function, "exp"},
                                    {"expm1", expm1},
                                    {"feature_alpha_dropout", dropout},
                                    {"feature_dropout", dropout},
                                    {"ge", comparison, "ge"},
                                    {"gelu", gelu},
                                    {"glu", gatedHalves},
                                    {"gt", comparison, "gt"},
                                    {"hardsigmoid", hardSigmoid},
                                    {"hardswish", function, "hardswish"},
                                    {"hardtanh", hardTanh},
                                    {"heaviside", heaviside},
                                    {"isnan", isNaN},
                                    {"le", comparison, "le"},
                                    {"leaky_relu", leakyRelu},
                                    {"lerp", interpolated},
                                    {"lift_fresh_copy", same},
                                    {"log", function, "log"},
                                    {"log1p", log1p},
                                    {"log_sigmoid", logSigmoid},
                                    {"logical_and", logic, "and"},
                                    {"logical_not", inverse},
                                    {"logical_or", logic, "or"},
                                    {"lt", comparison, "lt"},
                                    {"masked_fill", maskedFill},
                                    {"maximum", arithmetic, "max"},
                                    {"minimum", arithmetic, "min"},
                                    {"mish", function, "mish"},
                                    {"mul", arithmetic, "mul"},
                                    {"multiply", arithmetic, "mul"},
                                    {"ne", comparison, "ne"},
                                    {"neg", function, "neg"},
                                    {"__or__", logic, "or"},
                                    {"negative", function, "neg"},
                                    {"pow", power},
                                    {"prelu", prelu},
                                    {"reciprocal", function, "reciprocal"},
                                    {"relu", function, "relu"},
                                    {"relu6", relu6},
                                    {"rsqrt", inverseRoot},
                                    {"rsub", reversedSub},
                                    {"selu", function, "selu"},
                                    {"sigmoid", function, "sigmoid"},
                                    {"sign", sign},
                                    {"silu", function, "silu"},
                                    {"sin", function, "sine"},
                                    {"softplus", softplus},
                                    {"softsign", function, "softsign"},
                                    {"sqrt", function, "sqrt"},
                                    {"square", square},
                                    {"sub", arithmetic, "sub"},
                                    {"subtract", arithmetic, "sub"},
                                    {"tanh", function, "tanh"},
                                    {"threshold", threshold},
                                    {"to", converted},
                                    {"_to_copy", converted},
                                    {"true_divide", arithmetic, "truediv"},
                                    {"where", where}};
  return rows;
}

} // namespace tenon
