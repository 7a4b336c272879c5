// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's functions of each element. Dropout is one that changes nothing, since a network is read
// in eval mode.
#include "import/pt2/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues function(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.unary(of, self(given))};
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
// The first half, times the sigmoid of the second.
ModelValues gatedHalves(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", -1), x->rank());
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
