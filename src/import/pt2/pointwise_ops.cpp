// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: elementwise functions. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Dropout is the identity, because a network is imported in eval mode.
#include "import/pt2/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues function(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.unary(variant, self(operands))};
}
// In training mode it would draw random numbers.
ModelValues dropout(ModelBuilder& b, const Operands& operands, const char*) {
  b.check(!operands.flag("train", false),
          "it drops elements as in training; call eval() before the export");
  return {self(operands)};
}
ModelValues gelu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary(operands.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu",
                  self(operands))};
}
ModelValues leakyRelu(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.unary("leakyrelu", self(operands), {{"slope", operands.real("negative_slope", 0.01)}})};
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
ModelValues clampBetween(ModelBuilder& b, const Operands& operands, const char*) {
  const auto bound = [&](const char* name) {
    return operands.has(name) ? std::optional(operands.real(name)) : std::nullopt;
  };
  return {clamp(b, self(operands), bound("min"), bound("max"))};
}
// clamp(x, 0, 6).
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
  return {b.unary("log", b.affine(self(operands), {1}, {1}))};
}
ModelValues expm1(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.affine(b.unary("exp", self(operands)), {1}, {-1})};
}
// The first half of a dimension, multiplied by the sigmoid of the second half.
ModelValues gatedHalves(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", -1), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(n % 2 == 0, "it halves an odd extent");
  return {b.binary("mul", b.slice(x, d, 0, n / 2), b.unary("sigmoid", b.slice(x, d, n / 2, n)))};
}

} // namespace

std::span<const Pt2Row> pt2Functions() {
  static constexpr Pt2Row rows[] = {{"abs", function, "abs"},
                                    {"alpha_dropout", dropout},
                                    {"celu", celu},
                                    {"clamp", clampBetween},
                                    {"clamp_max", clampBetween},
                                    {"clamp_min", clampBetween},
                                    {"cos", function, "cosine"},
                                    {"dropout", dropout},
                                    {"elu", elu},
                                    {"erf", function, "erf"},
                                    {"exp", function, "exp"},
                                    {"expm1", expm1},
                                    {"feature_alpha_dropout", dropout},
                                    {"feature_dropout", dropout},
                                    {"gelu", gelu},
                                    {"glu", gatedHalves},
                                    {"hardsigmoid", hardSigmoid},
                                    {"hardswish", function, "hardswish"},
                                    {"hardtanh", hardTanh},
                                    {"leaky_relu", leakyRelu},
                                    {"log", function, "log"},
                                    {"log1p", log1p},
                                    {"log_sigmoid", logSigmoid},
                                    {"mish", function, "mish"},
                                    {"neg", function, "neg"},
                                    {"negative", function, "neg"},
                                    {"prelu", prelu},
                                    {"reciprocal", function, "reciprocal"},
                                    {"relu", function, "relu"},
                                    {"relu6", relu6},
                                    {"rsqrt", inverseRoot},
                                    {"selu", function, "selu"},
                                    {"sigmoid", function, "sigmoid"},
                                    {"silu", function, "silu"},
                                    {"sin", function, "sine"},
                                    {"softplus", softplus},
                                    {"softsign", function, "softsign"},
                                    {"sqrt", function, "sqrt"},
                                    {"square", square},
                                    {"tanh", function, "tanh"}};
  return rows;
}

} // namespace tenon
