// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: elementwise functions. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Dropout is the identity, because a network is imported in eval mode.
#include "import/pt2/operator_rows.hpp"

#include <cmath>
#include <numbers>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues function(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.unary(variant, self(operands))};
}
// A file that was exported in training mode would draw random numbers in inference too.
Value refuseDropout(ModelBuilder& b, Value x) {
  return b.refuse("a dropout that drops elements, as in training", "the model in eval mode",
                  x->shape);
}
bool drops(const Operands& operands) {
  return operands.flag("train", false) && operands.real("p", 0.5) != 0;
}
ModelValues dropout(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {drops(operands) ? refuseDropout(b, x) : b.dropout(x, operands.real("p", 0.5))};
}
// Drops whole channels: multiplies x by a dropout of ones, of which each sample has one for each
// channel. The ones are made by comparing x with itself, which gives 1 for infinities too, and the
// network is thus the same for other batches.
ModelValues channelDropout(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const double rate = operands.real("p", 0.5);
  b.check(x->ndim() >= 2, "a dropout of channels needs an input [batch, channels, ...]");
  if (drops(operands))
    return {refuseDropout(b, x)};
  if (rate == 0 || b.mode() == ModelMode::Inference)
    return {x};
  std::vector<int> space;
  for (int d = 2; d < x->ndim(); ++d)
    space.push_back(d);
  const Value isNumber = b.compare("eq", x, x);
  const Value ones = b.affine(
      space.empty() ? isNumber : b.reduce("mean", isNumber, space, /*keeps=*/true), {0}, {1});
  return {b.binary("mul", x, b.dropout(ones, rate))};
}
// These keep the mean and variance.
ModelValues alphaDropout(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const bool isDropping = operands.real("p", 0.5) > 0 && b.mode() == ModelMode::Training;
  return {isDropping || operands.flag("train", false)
              ? b.refuse("a dropout by alpha, in training",
                         "dropout of elements or channels, or the network in eval mode", x->shape)
              : x};
}
ModelValues gelu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary(operands.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu",
                  self(operands))};
}
ModelValues leakyRelu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("leakyrelu", self(operands), {{"slope", operands.real("negative_slope", 0.01)}})};
}
// In eval mode the slope is the mean of its bounds.
ModelValues randomSlope(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  if (operands.flag("training", false) || b.mode() == ModelMode::Training)
    return {b.refuse("a leaky relu with random slopes, in training", "leaky_relu, or eval mode",
                     x->shape)};
  const double slope = (operands.real("lower", 1. / 8) + operands.real("upper", 1. / 3)) / 2;
  return {b.unary("leakyrelu", x, {{"slope", slope}})};
}
ModelValues elu(ModelBuilder& b, const Operands& operands, const char*) {
  if (operands.real("scale", 1) != 1 || operands.real("input_scale", 1) != 1)
    return {b.refuse("an elu with scales", "elu with alpha, or selu", self(operands)->shape)};
  return {b.unary("elu", self(operands), {{"alpha", operands.real("alpha", 1)}})};
}
ModelValues celu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("celu", self(operands), {{"alpha", operands.real("alpha", 1)}})};
}
// softplus(beta x) / beta, or x where beta x > threshold. The default threshold of 20 only avoids
// overflow; a low one makes another function.
ModelValues softplus(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const double beta = operands.real("beta", 1), threshold = operands.real("threshold", 20);
  b.check(beta != 0, "its beta is 0");
  const Value scaled = b.affine(x, {beta}, {0});
  return {b.affine(
      b.where(b.compare("gt", scaled, b.number(threshold)), scaled, b.unary("softplus", scaled)),
      {1 / beta}, {0})};
}
Value clamp(ModelBuilder& b, Value x, std::optional<double> low, std::optional<double> high) {
  std::vector<std::pair<std::string, double>> bounds;
  if (low)
    bounds.emplace_back("low", *low);
  if (high)
    bounds.emplace_back("high", *high);
  return b.unary("clamp", x, bounds);
}
ModelValues hardTanh(ModelBuilder& b, const Operands& operands, const char*) {
  return {clamp(b, self(operands), operands.real("min_val", -1), operands.real("max_val", 1))};
}
// Bounds that are tensors share a derivative with the value where they are equal to it, as in
// PyTorch; numbers take it all.
ModelValues clampBetween(ModelBuilder& b, const Operands& operands, const char*) {
  if (operands.operation().type.ends_with(".Tensor")) {
    Value x = self(operands);
    if (operands.has("min"))
      x = b.binary("max", x, operands.value("min"));
    return {operands.has("max") ? b.binary("min", x, operands.value("max")) : x};
  }
  const auto bound = [&](const char* name) {
    return operands.has(name) ? std::optional(operands.real(name)) : std::nullopt;
  };
  return {clamp(b, self(operands), bound("min"), bound("max"))};
}
ModelValues relu6(ModelBuilder& b, const Operands& operands, const char*) {
  return {clamp(b, self(operands), 0, 6)};
}
// clamp(x / 6 + 1/2, 0, 1).
ModelValues hardSigmoid(ModelBuilder& b, const Operands& operands, const char*) {
  return {clamp(b, b.affine(self(operands), {1.0 / 6}, {0.5}), 0, 1)};
}
ModelValues prelu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.prelu(self(operands), operands.needed("weight"))};
}
// 1 / sqrt(x).
ModelValues inverseRoot(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("reciprocal", b.unary("sqrt", self(operands)))};
}
ModelValues square(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.binary("mul", self(operands), self(operands))};
}
// log(sigmoid(x)) = -softplus(-x).
ModelValues logSigmoid(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.affine(b.unary("softplus", b.affine(self(operands), {-1}, {0})), {-1}, {0})};
}
// log(1 + x) and exp(x) - 1.
ModelValues log1p(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.logOfOneMore(self(operands))};
}
ModelValues expm1(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.expLessOne(self(operands))};
}
// Powers of 2, and logarithms to the base 2 or 10.
ModelValues exp2(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("exp", b.affine(self(operands), {std::numbers::ln2}, {0}))};
}
ModelValues logarithm(ModelBuilder& b, const Operands& operands, const char* variant) {
  const double scale = *variant == '2' ? 1 / std::numbers::ln2 : 1 / std::numbers::ln10;
  return {b.affine(b.unary("log", self(operands)), {scale}, {0})};
}
// To the nearest integer, or to the nearest multiple of 10^-decimals.
ModelValues rounded(ModelBuilder& b, const Operands& operands, const char*) {
  const double scale = std::pow(10, static_cast<double>(operands.integer("decimals", 0)));
  return {b.affine(b.unary("round", b.affine(self(operands), {scale}, {0})), {1 / scale}, {0})};
}
// Rounds towards 0, and what this leaves.
ModelValues truncated(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.truncated(self(operands))};
}
ModelValues fraction(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.binary("sub", self(operands), b.truncated(self(operands)))};
}
// 0 where |x| is at most lambd. Beyond that x, which a soft one moves towards 0 by lambd.
ModelValues shrink(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  const double limit = operands.real("lambd", 0.5), step = *variant == 's' ? limit : 0;
  return {b.where(b.compare("gt", x, b.number(limit)), b.affine(x, {1}, {-step}),
                  b.where(b.compare("lt", x, b.number(-limit)), b.affine(x, {1}, {step}),
                          b.where(b.compare("ne", x, x), x, b.number(0))))};
}
// The first half of a dimension, multiplied by the sigmoid of the second half.
ModelValues gatedHalves(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", -1), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(n % 2 == 0, "it halves an odd extent");
  return {b.binary("mul", b.slice(x, d, 0, n / 2), b.unary("sigmoid", b.slice(x, d, n / 2, n)))};
}

constexpr Pt2Row kPt2FunctionRows[] = {{"abs", function, "abs"},
                                       {"absolute", function, "abs"},
                                       {"acos", function, "acos"},
                                       {"acosh", function, "acosh"},
                                       {"alpha_dropout", alphaDropout},
                                       {"arccos", function, "acos"},
                                       {"arccosh", function, "acosh"},
                                       {"arcsin", function, "asin"},
                                       {"arcsinh", function, "asinh"},
                                       {"arctan", function, "atan"},
                                       {"arctanh", function, "atanh"},
                                       {"asin", function, "asin"},
                                       {"asinh", function, "asinh"},
                                       {"atan", function, "atan"},
                                       {"atanh", function, "atanh"},
                                       {"ceil", function, "ceil"},
                                       {"celu", celu},
                                       {"clamp", clampBetween},
                                       {"clamp_max", clampBetween},
                                       {"clamp_min", clampBetween},
                                       {"clip", clampBetween},
                                       {"cos", function, "cosine"},
                                       {"cosh", function, "cosh"},
                                       {"dropout", dropout},
                                       {"elu", elu},
                                       {"erf", function, "erf"},
                                       {"exp", function, "exp"},
                                       {"exp2", exp2},
                                       {"expm1", expm1},
                                       {"feature_alpha_dropout", alphaDropout},
                                       {"feature_dropout", channelDropout},
                                       {"fix", truncated},
                                       {"floor", function, "floor"},
                                       {"frac", fraction},
                                       {"gelu", gelu},
                                       {"glu", gatedHalves},
                                       {"hardshrink", shrink, "hard"},
                                       {"hardsigmoid", hardSigmoid},
                                       {"hardswish", function, "hardswish"},
                                       {"hardtanh", hardTanh},
                                       {"leaky_relu", leakyRelu},
                                       {"log", function, "log"},
                                       {"log10", logarithm, "10"},
                                       {"log1p", log1p},
                                       {"log2", logarithm, "2"},
                                       {"log_sigmoid", logSigmoid},
                                       {"mish", function, "mish"},
                                       {"neg", function, "neg"},
                                       {"negative", function, "neg"},
                                       {"prelu", prelu},
                                       {"reciprocal", function, "reciprocal"},
                                       {"relu", function, "relu"},
                                       {"relu6", relu6},
                                       {"round", rounded},
                                       {"rrelu", randomSlope},
                                       {"rsqrt", inverseRoot},
                                       {"selu", function, "selu"},
                                       {"sigmoid", function, "sigmoid"},
                                       {"silu", function, "silu"},
                                       {"sin", function, "sine"},
                                       {"sinh", function, "sinh"},
                                       {"softplus", softplus},
                                       {"softshrink", shrink, "soft"},
                                       {"softsign", function, "softsign"},
                                       {"special_erf", function, "erf"},
                                       {"special_exp2", exp2},
                                       {"special_expit", function, "sigmoid"},
                                       {"special_expm1", expm1},
                                       {"special_log1p", log1p},
                                       {"sqrt", function, "sqrt"},
                                       {"square", square},
                                       {"tan", function, "tan"},
                                       {"tanh", function, "tanh"},
                                       {"trunc", truncated}};

} // namespace

std::span<const Pt2Row> pt2Functions() {
  return kPt2FunctionRows;
}

} // namespace tenon
