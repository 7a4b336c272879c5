// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: elementwise functions, arithmetic, comparisons, casts. Each function reads the
// inputs and attributes of a node (OnnxCall c: c.x() is input 0, c.operands has the attributes) and
// appends values to the canonical graph by the builder c.b. The table at the end has a row per
// operator: name, function, an argument of the function (c.function), maximal number of inputs, and
// the accepted attributes (operator_rows.hpp). Attributes are float32 in the file and were
// converted to the shortest decimal that rounds to them.
#include "import/onnx/onnx.hpp"
#include "import/onnx/operator_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues onnxFunction(const OnnxCall& c) {
  return {c.b.unary(c.function, c.x())};
}
ModelValues onnxArithmetic(const OnnxCall& c) {
  return {c.b.binary(c.function, c.x(), c.operands.neededInput(1))};
}
// A quotient of integers is rounded towards 0.
ModelValues onnxQuotient(const OnnxCall& c) {
  return {c.b.binary(c.isInteger(0) ? "truncdiv" : "div", c.x(), c.operands.neededInput(1))};
}
// Remainder with the sign of the dividend (C's fmod) or of the divisor.
ModelValues onnxRemainder(const OnnxCall& c) {
  return {c.b.binary(c.operands.flag("fmod", false) ? "fmod" : "mod", c.x(),
                     c.operands.neededInput(1))};
}
// In ONNX the result has the type of the base, so a real power of integers would be truncated.
ModelValues onnxPower(const OnnxCall& c) {
  const Value exponent = c.operands.neededInput(1);
  if (c.isInteger(0) && !c.x()->isConstant()) {
    if (!exponent->isConstant())
      return c.refuseIntegers();
    const std::vector<double> numbers = c.b.numbersOf(exponent, "an exponent").numbers();
    for (const double e : numbers)
      if (e < 0 || e != std::floor(e))
        return c.refuseIntegers();
  }
  return {c.b.binary("pow", c.x(), exponent)};
}
ModelValues onnxComparison(const OnnxCall& c) {
  return {c.b.compare(c.function, c.x(), c.operands.neededInput(1))};
}
// Only NaN differs from itself.
ModelValues onnxIsNaN(const OnnxCall& c) {
  return {c.b.compare("ne", c.x(), c.x())};
}
ModelValues onnxGelu(const OnnxCall& c) {
  const std::string variant = c.operands.text("approximate", "none");
  c.b.check(variant == "none" || variant == "tanh",
            "its attribute approximate is neither none nor tanh");
  return {c.b.unary(variant == "tanh" ? "gelutanh" : "gelu", c.x())};
}
// y = gamma x for x >= 0, gamma alpha (exp(x) - 1) below. The file stores both constants in
// float32. If they are the float32 values of the constants of the SELU paper, the paper's numbers
// with all digits are used.
ModelValues onnxSelu(const OnnxCall& c) {
  constexpr float kAlpha = 1.67326319217681884765625F, kGamma = 1.05070102214813232421875F;
  const double alpha = c.operands.real("alpha", kAlpha), gamma = c.operands.real("gamma", kGamma);
  if (static_cast<float>(alpha) == kAlpha && static_cast<float>(gamma) == kGamma)
    return {c.b.unary("selu", c.x())};
  return {c.b.affine(c.b.unary("elu", c.x(), {{"alpha", alpha}}), {gamma}, {0})};
}
// x sigmoid(alpha x) = silu(alpha x) / alpha
ModelValues onnxSwish(const OnnxCall& c) {
  const double alpha = c.operands.real("alpha", 1);
  if (alpha == 0)
    return {c.b.affine(c.x(), {0.5}, {0})};
  return {c.b.affine(c.b.unary("silu", c.b.affine(c.x(), {alpha}, {0})), {1 / alpha}, {0})};
}
ModelValues onnxLeakyRelu(const OnnxCall& c) {
  return {c.b.unary("leakyrelu", c.x(), {{"slope", c.operands.real("alpha", 0.01)}})};
}
ModelValues onnxElu(const OnnxCall& c) {
  return {c.b.unary("elu", c.x(), {{"alpha", c.operands.real("alpha", 1)}})};
}
ModelValues onnxCelu(const OnnxCall& c) {
  return {c.b.unary("celu", c.x(), {{"alpha", c.operands.real("alpha", 1)}})};
}
// clamp(alpha x + beta, 0, 1).
ModelValues onnxHardSigmoid(const OnnxCall& c) {
  // 1/6 has no short decimal. If the attribute is the float32 value nearest to it, use 1/6.
  constexpr double kSixth = 1.0 / 6;
  const double alpha = c.operands.real("alpha", 0.2);
  const bool isSixth = static_cast<float>(alpha) == static_cast<float>(kSixth);
  return {c.b.unary("clamp",
                    c.b.affine(c.x(), {isSixth ? kSixth : alpha}, {c.operands.real("beta", 0.5)}),
                    {{"low", 0}, {"high", 1}})};
}
// The bounds are inputs or, in older operator sets, attributes; both are optional.
ModelValues onnxClip(const OnnxCall& c) {
  std::vector<std::pair<std::string, double>> bounds;
  if (c.at(1) || c.operands.has("min"))
    bounds.emplace_back("low", c.at(1) ? c.numberAt(1, 0) : c.operands.real("min"));
  if (c.at(2) || c.operands.has("max"))
    bounds.emplace_back("high", c.at(2) ? c.numberAt(2, 0) : c.operands.real("max"));
  if (bounds.empty())
    return {c.x()};
  return {c.b.unary("clamp", c.x(), bounds)};
}
// One slope, one per channel, or any slopes that are broadcast to x. Older exporters write the
// slopes of the channels as a list, whose dimension is the first one that is not the batch.
ModelValues onnxPRelu(const OnnxCall& c) {
  const Value x = c.x(), slope = c.operands.neededInput(1);
  const Index slopes = elements(slope->shape);
  if (x->ndim() >= 2 && (slopes == 1 || (slopes == x->shape[1] && slope->ndim() == 1)))
    return {c.b.prelu(x, slope)};
  // Dimension of the slopes that is broadcast to the channels, dimension 1 of x.
  const int dim = 1 - (x->ndim() - slope->ndim());
  if (x->ndim() >= 2 && dim >= 0 && dim < slope->ndim() && slopes == x->shape[1] &&
      slope->shape[static_cast<std::size_t>(dim)] == slopes)
    return {c.b.prelu(x, slope)};
  const Value below = c.b.unary("relu", c.b.unary("neg", x));
  return {c.b.binary("sub", c.b.unary("relu", x), c.b.binary("mul", slope, below))};
}
// x where it is above alpha, 0 elsewhere.
ModelValues onnxThresholdedRelu(const OnnxCall& c) {
  const Value x = c.x(), zero = c.b.number(0);
  return {c.b.where(c.b.compare("gt", x, c.b.number(c.operands.real("alpha", 1))), x, zero)};
}
// Moves x towards 0 by the bias where |x| is above lambd, and gives 0 elsewhere.
ModelValues onnxShrink(const OnnxCall& c) {
  const Value x = c.x();
  const double limit = c.operands.real("lambd", 0.5), bias = c.operands.real("bias", 0);
  return {c.b.where(c.b.compare("lt", x, c.b.number(-limit)), c.b.affine(x, {1}, {bias}),
                    c.b.where(c.b.compare("gt", x, c.b.number(limit)), c.b.affine(x, {1}, {-bias}),
                              c.b.number(0)))};
}
// One side or both.
ModelValues onnxIsInfinite(const OnnxCall& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value result = nullptr;
  for (const auto& [attribute, number] :
       {std::pair("detect_negative", -kInfinity), std::pair("detect_positive", kInfinity)})
    if (c.operands.flag(attribute, true)) {
      const Value isEqual = c.b.compare("eq", c.x(), c.b.number(number));
      result = result ? c.b.compare("or", result, isEqual) : isEqual;
    }
  return {result ? result : c.b.expand(c.b.number(0), c.x()->shape)};
}
ModelValues onnxWhere(const OnnxCall& c) {
  return {c.b.where(c.x(), c.operands.neededInput(1), c.operands.neededInput(2))};
}
// ONNX's numbers of element types.
constexpr Index kFloat32 = 1, kInt32 = 6, kInt64 = 7, kFloat16 = 10, kFloat64 = 11, kBfloat16 = 16;

// Converts to an element type. A field has real numbers of one type, so conversions between real
// types do nothing; one to integers rounds towards 0.
ModelValues converted(const OnnxCall& c, Index target) {
  const Value x = c.x();
  const bool isInteger = isOnnxInteger(target) || target == kOnnxFlags;
  if (!isInteger && target != kFloat32 && target != kFloat16 && target != kFloat64 &&
      target != kBfloat16)
    return {c.b.refuse(fmt::format("a Cast to ONNX's type of elements {}", target),
                       "numbers of 16, 32 or 64 bits, integers and flags", x->shape)};
  if (target == kOnnxFlags && !x->isKnown())
    return {c.operands.isFlagInput(0) ? x : c.b.compare("ne", x, c.b.number(0))};
  if (!x->isKnown()) {
    if (!isInteger || c.isInteger(0) || c.operands.isFlagInput(0))
      return {x};
    // Narrower integers would wrap around.
    if (target == kInt32 || target == kInt64)
      return {c.b.truncated(x)};
    return {c.b.refuse("a conversion to integers of fewer than 32 bits, or without sign",
                       "32 or 64 bits", x->shape)};
  }
  const ModelConstant source = c.b.numbersOf(x, "a constant");
  std::vector<double> numbers = source.numbers();
  if (isInteger)
    for (double& number : numbers)
      number = target == kOnnxFlags ? double(number != 0) : std::trunc(number);
  return {c.b.constant(ModelConstant::ofNumbers(source.shape(), std::move(numbers), isInteger)
                           .renamed(source.name())
                           .fixed(source.isFixed()))};
}
ModelValues onnxCast(const OnnxCall& c) {
  return converted(c, c.operands.integer("to"));
}
// To the type of another tensor. Which real type that has does not matter.
ModelValues onnxCastLike(const OnnxCall& c) {
  return converted(c, c.operands.isFlagInput(1) ? kOnnxFlags : c.isInteger(1) ? kInt64 : kFloat64);
}
// Folds one or more inputs from left to right.
ModelValues onnxOfAll(const OnnxCall& c) {
  Value result = c.x();
  for (std::size_t i = 1; i < c.operands.inputCount(); ++i)
    result = c.b.binary(c.function, result, c.operands.neededInput(i));
  return {result};
}
ModelValues onnxMean(const OnnxCall& c) {
  return {c.b.affine(onnxOfAll(c)[0], {1 / static_cast<double>(c.operands.inputCount())}, {0})};
}
ModelValues onnxSign(const OnnxCall& c) {
  return {c.b.sign(c.x())};
}
// Input 2 is the training mode, in which input 1 is the share of elements that are dropped.
ModelValues onnxDropout(const OnnxCall& c) {
  if (c.numberAt(2, 0) != 0 && c.numberAt(1, 0.5) != 0)
    return ModelValues(c.operands.operation().results.size(),
                       c.b.refuse("a Dropout that drops elements, as in training",
                                  "the model in eval mode", c.x()->shape));
  return {c.b.dropout(c.x(), c.numberAt(1, 0.5))};
}
ModelValues onnxSame(const OnnxCall& c) {
  return {c.x()};
}

constexpr OnnxRow kFunctionRows[] = {
    {"Abs", onnxFunction, "abs"},
    {"Acos", onnxFunction, "acos"},
    {"Acosh", onnxFunction, "acosh"},
    {"Add", onnxArithmetic, "add", 2},
    {"And", onnxComparison, "and", 2},
    {"Asin", onnxFunction, "asin"},
    {"Asinh", onnxFunction, "asinh"},
    {"Atan", onnxFunction, "atan"},
    {"Atanh", onnxFunction, "atanh"},
    {"Cast", onnxCast, "", 1, "round_mode=* saturate=* to"},
    {"CastLike", onnxCastLike, "", 2, "round_mode=* saturate=*"},
    {"Ceil", onnxFunction, "ceil"},
    {"Celu", onnxCelu, "", 1, "alpha"},
    {"Clip", onnxClip, "", 3, "max min"},
    {"Cos", onnxFunction, "cosine"},
    {"Cosh", onnxFunction, "cosh"},
    {"Div", onnxQuotient, "", 2},
    {"Dropout", onnxDropout, "", 3, "seed=*"},
    {"Elu", onnxElu, "", 1, "alpha"},
    {"Equal", onnxComparison, "eq", 2},
    {"Erf", onnxFunction, "erf"},
    {"Exp", onnxFunction, "exp"},
    {"Floor", onnxFunction, "floor"},
    {"Gelu", onnxGelu, "", 1, "approximate"},
    {"Greater", onnxComparison, "gt", 2},
    {"GreaterOrEqual", onnxComparison, "ge", 2},
    {"HardSigmoid", onnxHardSigmoid, "", 1, "alpha beta"},
    {"HardSwish", onnxFunction, "hardswish"},
    {"Identity", onnxSame},
    {"IsInf", onnxIsInfinite, "", 1, "detect_negative detect_positive"},
    {"IsNaN", onnxIsNaN},
    {"LeakyRelu", onnxLeakyRelu, "", 1, "alpha"},
    {"Less", onnxComparison, "lt", 2},
    {"LessOrEqual", onnxComparison, "le", 2},
    {"Log", onnxFunction, "log"},
    {"Max", onnxOfAll, "max", kAnyNumber},
    {"Mean", onnxMean, "add", kAnyNumber},
    {"Min", onnxOfAll, "min", kAnyNumber},
    {"Mish", onnxFunction, "mish"},
    {"Mod", onnxRemainder, "", 2, "fmod"},
    {"Mul", onnxArithmetic, "mul", 2},
    {"Neg", onnxFunction, "neg"},
    {"Not", onnxFunction, "not"},
    {"Or", onnxComparison, "or", 2},
    {"PRelu", onnxPRelu, "", 2},
    {"Pow", onnxPower, "", 2},
    {"Reciprocal", onnxFunction, "reciprocal"},
    {"Relu", onnxFunction, "relu"},
    {"Round", onnxFunction, "round"},
    {"Selu", onnxSelu, "", 1, "alpha gamma"},
    {"Shrink", onnxShrink, "", 1, "bias lambd"},
    {"Sigmoid", onnxFunction, "sigmoid"},
    {"Sign", onnxSign},
    {"Sin", onnxFunction, "sine"},
    {"Sinh", onnxFunction, "sinh"},
    {"Softplus", onnxFunction, "softplus"},
    {"Softsign", onnxFunction, "softsign"},
    {"Sqrt", onnxFunction, "sqrt"},
    {"Sub", onnxArithmetic, "sub", 2},
    {"Sum", onnxOfAll, "add", kAnyNumber},
    {"Swish", onnxSwish, "", 1, "alpha"},
    {"Tan", onnxFunction, "tan"},
    {"Tanh", onnxFunction, "tanh"},
    {"ThresholdedRelu", onnxThresholdedRelu, "", 1, "alpha"},
    {"Where", onnxWhere, "", 3},
    {"Xor", onnxComparison, "ne", 2}};

} // namespace

std::span<const OnnxRow> onnxFunctions() {
  return kFunctionRows;
}

} // namespace tenon
