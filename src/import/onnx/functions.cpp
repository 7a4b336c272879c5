// SPDX-License-Identifier: BSD-2-Clause
// Functions of each element, arithmetic, comparisons and choices in ONNX. Attributes are float32 there, and
// were read as the shortest decimal; 1/6 has none.
#include "import/onnx/rows.hpp"

#include <cmath>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues onnxFunction(const OnnxCall& c) {
  return {c.b.unary(c.of, c.x())};
}
ModelValues onnxArithmetic(const OnnxCall& c) {
  return {c.b.binary(c.of, c.x(), c.given.neededInput(1))};
}
ModelValues onnxComparison(const OnnxCall& c) {
  return {c.b.compare(c.of, c.x(), c.given.neededInput(1))};
}
// Only NaN is not equal to itself.
ModelValues onnxIsNaN(const OnnxCall& c) {
  return {c.b.compare("ne", c.x(), c.x())};
}
ModelValues onnxGelu(const OnnxCall& c) {
  return {c.b.unary(c.given.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu", c.x())};
}
ModelValues onnxLeakyRelu(const OnnxCall& c) {
  return {c.b.unary("leakyrelu", c.x(), {{"slope", c.given.real("alpha", 0.01)}})};
}
ModelValues onnxElu(const OnnxCall& c) {
  return {c.b.unary("elu", c.x(), {{"alpha", c.given.real("alpha", 1)}})};
}
ModelValues onnxCelu(const OnnxCall& c) {
  return {c.b.unary("celu", c.x(), {{"alpha", c.given.real("alpha", 1)}})};
}
ModelValues onnxHardSigmoid(const OnnxCall& c) {
  // 1/6 has no short decimal.
  constexpr double kSixth = 1.0 / 6;
  const double alpha = c.given.real("alpha", 0.2);
  const bool isSixth = static_cast<float>(alpha) == static_cast<float>(kSixth);
  return {c.b.unary("clamp",
                    c.b.affine(c.x(), {isSixth ? kSixth : alpha}, {c.given.real("beta", 0.5)}),
                    {{"low", 0}, {"high", 1}})};
}
ModelValues onnxClip(const OnnxCall& c) {
  std::vector<std::pair<std::string, double>> bounds;
  if (c.at(1) || c.given.has("min"))
    bounds.emplace_back("low", c.at(1) ? c.numberAt(1, 0) : c.given.real("min"));
  if (c.at(2) || c.given.has("max"))
    bounds.emplace_back("high", c.at(2) ? c.numberAt(2, 0) : c.given.real("max"));
  return {c.b.unary("clamp", c.x(), bounds)};
}
ModelValues onnxPRelu(const OnnxCall& c) {
  return {c.b.prelu(c.x(), c.given.neededInput(1))};
}
ModelValues onnxWhere(const OnnxCall& c) {
  return {c.b.where(c.x(), c.given.neededInput(1), c.given.neededInput(2))};
}
// Of types of elements; an integer is cut off.
ModelValues onnxCast(const OnnxCall& c) {
  const Index to = c.given.integer("to");
  const bool isInteger = to != 1 && to != 10 && to != 11 && to != 16;
  constexpr Index kFlags = 9;
  if (to == kFlags && !c.x()->isKnown())
    return {c.given.isFlagInput(0) ? c.x() : c.b.compare("ne", c.x(), c.b.number(0))};
  if (!c.x()->isKnown())
    return isInteger
               ? ModelValues{c.b.refuse("a conversion to integers", "real numbers", c.x()->shape)}
               : ModelValues{c.x()};
  const ModelConstant source = c.b.numbersOf(c.x(), "a constant");
  std::vector<double> numbers = source.numbers();
  if (isInteger)
    for (double& number : numbers)
      number = to == kFlags ? double(number != 0) : std::trunc(number);
  return {c.b.constant(ModelConstant::ofNumbers(source.shape(), std::move(numbers), isInteger)
                           .renamed(source.name())
                           .fixed(source.isFixed()))};
}
// Of one value or several.
ModelValues onnxOfAll(const OnnxCall& c) {
  Value made = c.x();
  for (std::size_t i = 1; i < c.given.inputCount(); ++i)
    made = c.b.binary(c.of, made, c.given.neededInput(i));
  return {made};
}
ModelValues onnxSign(const OnnxCall& c) {
  return {c.b.sign(c.x())};
}
ModelValues onnxDropout(const OnnxCall& c) {
  c.b.check(c.numberAt(2, 0) == 0, "it drops elements as in training");
  return {c.x()};
}
ModelValues onnxSame(const OnnxCall& c) {
  return {c.x()};
}

} // namespace

std::span<const OnnxRow> onnxFunctions() {
  static constexpr OnnxRow rows[] = {{"Abs", onnxFunction, "abs"},
                                     {"Add", onnxArithmetic, "add"},
                                     {"And", onnxComparison, "and"},
                                     {"Cast", onnxCast},
                                     {"Ceil", onnxFunction, "ceil"},
                                     {"Celu", onnxCelu},
                                     {"Clip", onnxClip},
                                     {"Cos", onnxFunction, "cosine"},
                                     {"Div", onnxArithmetic, "div"},
                                     {"Dropout", onnxDropout},
                                     {"Elu", onnxElu},
                                     {"Equal", onnxComparison, "eq"},
                                     {"Erf", onnxFunction, "erf"},
                                     {"Exp", onnxFunction, "exp"},
                                     {"Floor", onnxFunction, "floor"},
                                     {"Gelu", onnxGelu},
                                     {"Greater", onnxComparison, "gt"},
                                     {"GreaterOrEqual", onnxComparison, "ge"},
                                     {"HardSigmoid", onnxHardSigmoid},
                                     {"HardSwish", onnxFunction, "hardswish"},
                                     {"Identity", onnxSame},
                                     {"IsNaN", onnxIsNaN},
                                     {"LeakyRelu", onnxLeakyRelu},
                                     {"Less", onnxComparison, "lt"},
                                     {"LessOrEqual", onnxComparison, "le"},
                                     {"Log", onnxFunction, "log"},
                                     {"Max", onnxOfAll, "max"},
                                     {"Min", onnxOfAll, "min"},
                                     {"Mish", onnxFunction, "mish"},
                                     {"Mod", onnxArithmetic, "mod"},
                                     {"Mul", onnxArithmetic, "mul"},
                                     {"Neg", onnxFunction, "neg"},
                                     {"Not", onnxFunction, "not"},
                                     {"Or", onnxComparison, "or"},
                                     {"PRelu", onnxPRelu},
                                     {"Pow", onnxArithmetic, "pow"},
                                     {"Reciprocal", onnxFunction, "reciprocal"},
                                     {"Relu", onnxFunction, "relu"},
                                     {"Selu", onnxFunction, "selu"},
                                     {"Sigmoid", onnxFunction, "sigmoid"},
                                     {"Sign", onnxSign},
                                     {"Sin", onnxFunction, "sine"},
                                     {"Softplus", onnxFunction, "softplus"},
                                     {"Softsign", onnxFunction, "softsign"},
                                     {"Sqrt", onnxFunction, "sqrt"},
                                     {"Sub", onnxArithmetic, "sub"},
                                     {"Sum", onnxOfAll, "add"},
                                     {"Swish", onnxFunction, "silu"},
                                     {"Tanh", onnxFunction, "tanh"},
                                     {"Where", onnxWhere}};
  return rows;
}

} // namespace tenon
