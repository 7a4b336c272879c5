// SPDX-License-Identifier: BSD-2-Clause
// Elementwise functions, arithmetic and comparisons: members of ModelBuilder, which append values
// to the canonical graph. In order of preference, an operation becomes
//   a constant         if all inputs are known constants (folding.cpp)
//   one function       if it completes a pattern of exporters, such as GELU (patterns.cpp)
//   an affine value    scale x + shift, if one input is a known constant (asAffine())
//   a binary operator  Add, Subtract, Multiply, Divide, Compare, Where
// A "known" constant is one that training does not change. Shapes are broadcast as in numpy. Class
// ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon {

namespace {

// Returns f(a, b) element by element, where a list of one number is broadcast.
std::vector<double> elementwise(std::vector<double> a, const std::vector<double>& b,
                                double (*f)(double, double)) {
  const std::size_t count = std::max(a.size(), b.size());
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  return result;
}

std::vector<double> products(const std::vector<double>& a, const std::vector<double>& b) {
  return elementwise(a, b, [](double p, double q) { return p * q; });
}

std::vector<double> sums(const std::vector<double>& a, const std::vector<double>& b) {
  return elementwise(a, b, [](double p, double q) { return p + q; });
}

bool areAll(const std::vector<double>& numbers, double value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == value; });
}

} // namespace

ModelBuilder::Value ModelBuilder::unary(const std::string& function, Value x,
                                        std::vector<std::pair<std::string, double>> parameters) {
  if (function == "identity" || (function == "clamp" && parameters.empty()))
    return x;
  if (x->isKnown())
    return foldedUnary(function, x, parameters);
  if (x->isComplex())
    if (const Value result = complexUnary(function, x))
      return result;
  if (function == "neg")
    return affine(x, {-1}, {0});
  if (function == "not") // of a comparison's result, 0 or 1
    return affine(x, {-1}, {1});
  ModelValue* result = make(ModelOp::Unary, {x}, x->shape);
  result->function = function;
  result->parameters = std::move(parameters);
  return result;
}

ModelBuilder::Value ModelBuilder::affine(Value x, std::vector<double> scale,
                                         std::vector<double> shift, int dim) {
  if (x->isComplex() && dim < 0 && areAll(shift, 0))
    return complex(affine(pairsOf(x), scale, {0}));
  // A constant that is trained must remain a value.
  if (x->isKnown() && dim < 0) {
    std::vector<double> numbers = fold(x).numbers();
    for (double& number : numbers) // -0 + 0 would be 0
      number = shift[0] == 0 ? scale[0] * number : scale[0] * number + shift[0];
    return constant(
        ModelConstant::ofNumbers(x->shape, std::move(numbers)).fixed(x->asConstant().isFixed()));
  }
  // Two affine maps in a row become one.
  if (x->op == ModelOp::Affine && (dim < 0 || x->dim < 0 || x->dim == dim)) {
    shift = sums(products(scale, x->shift), shift);
    scale = products(scale, x->scale);
    dim = dim < 0 ? x->dim : dim;
    x = x->inputs[0];
  }
  if (areAll(scale, 1) && areAll(shift, 0))
    return x;
  ModelValue* result = make(ModelOp::Affine, {x}, x->shape);
  result->scale = std::move(scale);
  result->shift = std::move(shift);
  result->dim = dim;
  return result;
}

// Writes f(x, c) as scale x + shift, if c is a number or has one number per index of one dimension.
ModelBuilder::Value ModelBuilder::asAffine(const std::string& function, Value x, Value c) {
  // A constant that is trained must remain a separate value.
  if (!c->isKnown() || broadcast(x->shape, c->shape) != x->shape)
    return nullptr;
  int dim = -1;
  const int extra = x->ndim() - c->ndim(); // dimensions that c does not have, in front
  for (int d = 0; d < c->ndim(); ++d) {
    if (c->shape[static_cast<std::size_t>(d)] == 1)
      continue;
    if (dim >= 0)
      return nullptr;
    dim = d + extra;
  }
  const std::vector<double> numbers = fold(c).numbers();
  if (numbers.empty())
    return nullptr;
  const auto changed = [&](double (*f)(double)) {
    std::vector<double> result = numbers;
    std::transform(result.begin(), result.end(), result.begin(), f);
    return result;
  };
  if (function == "add")
    return affine(x, {1}, numbers, dim);
  if (function == "sub")
    return affine(x, {1}, changed([](double n) { return -n; }), dim);
  if (function == "mul")
    return affine(x, numbers, {0}, dim);
  return affine(x, changed([](double n) { return 1 / n; }), {0}, dim);
}

// Removes an explicit broadcast before an operation that broadcasts by itself.
ModelBuilder::Value ModelBuilder::withoutExpansion(Value x) {
  return x->op == ModelOp::Expand ? x->inputs[0] : x;
}

ModelBuilder::Value ModelBuilder::binary(const std::string& function, Value a, Value b) {
  if (a->isKnown() && b->isKnown())
    return foldedBinary(function, a, b);
  if (a->isComplex() || b->isComplex())
    return complexBinary(function, a, b);
  using Method = Value (ModelBuilder::*)(Value, Value);
  static const std::map<std::string, Method> operations = {
      {"add", &ModelBuilder::sumOf},     {"sub", &ModelBuilder::differenceOf},
      {"mul", &ModelBuilder::productOf}, {"div", &ModelBuilder::quotientOf},
      {"pow", &ModelBuilder::powerOf},   {"truediv", &ModelBuilder::quotientOf},
      {"max", &ModelBuilder::maximumOf}, {"min", &ModelBuilder::minimumOf}};
  // An explicit broadcast of an input is omitted where the operation itself gives the same shape.
  const Shape shape = broadcast(a->shape, b->shape);
  for (Value* value : {&a, &b}) {
    const Value unexpanded = withoutExpansion(*value), partner = value == &a ? b : a;
    if (broadcast(unexpanded->shape, partner->shape) == shape)
      *value = unexpanded;
  }
  if (const bool isTruncated = function == "truncdiv"; isTruncated || function == "floordiv")
    return roundedQuotientOf(a, b, isTruncated);
  if (const bool isTruncated = function == "fmod"; isTruncated || function == "mod")
    return remainderOf(a, b, isTruncated);
  const auto found = operations.find(function);
  return found == operations.end() ? refuseBinary(function, a, b) : (this->*found->second)(a, b);
}

ModelBuilder::Value ModelBuilder::refuseBinary(const std::string& function, Value a, Value b) {
  return refuse(fmt::format("the operation {} of two tensors", function),
                "sums, differences, products and quotients", broadcast(a->shape, b->shape));
}

// Writes f(x, c) as a layer with weights c; null if there is no such layer.
ModelBuilder::Value ModelBuilder::withConstant(const std::string& function, Value x, Value c) {
  if (!c->isConstant())
    return nullptr;
  const Value result = weightedNorm(function, x, c);
  return result ? result : asAffine(function, x, c);
}

ModelBuilder::Value ModelBuilder::sumOf(Value a, Value b) {
  if (a->isKnown() || (a->isConstant() && !b->isConstant()))
    std::swap(a, b);
  // A bias after a matrix product belongs to the linear layer.
  for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)})
    if (p->op == ModelOp::Linear && p->inputs.size() == 2 && q->isConstant() &&
        q->shape == Shape{p->shape.back()})
      return linear(p->inputs[0], p->inputs[1], q);
    else if (const Value biased = biasedFilter(p, q))
      return biased;
  if (const Value result = withConstant("add", a, b))
    return result;
  return make(ModelOp::Add, {a, b}, broadcast(a->shape, b->shape));
}

ModelBuilder::Value ModelBuilder::differenceOf(Value a, Value b) {
  if (const Value result = withConstant("sub", a, b))
    return result;
  if (a->isKnown())
    return binary("add", affine(b, {-1}, {0}), a);
  return make(ModelOp::Subtract, {a, b}, broadcast(a->shape, b->shape));
}

ModelBuilder::Value ModelBuilder::productOf(Value a, Value b) {
  if (a->isKnown() || (a->isConstant() && !b->isConstant()))
    std::swap(a, b);
  if (const Value result = withConstant("mul", a, b))
    return result;
  for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)}) {
    if (const Value result = gelu(p, q))
      return result;
    if (const Value result = silu(p, q))
      return result;
  }
  return make(ModelOp::Multiply, {a, b}, broadcast(a->shape, b->shape));
}

ModelBuilder::Value ModelBuilder::quotientOf(Value a, Value b) {
  if (const Value result = withConstant("div", a, b))
    return result;
  if (a->isKnown())
    return binary("mul", unary("reciprocal", b), a);
  if (const Value result = decomposedNorm(a, b))
    return result;
  if (const Value result = softsign(a, b))
    return result;
  return make(ModelOp::Divide, {a, b}, broadcast(a->shape, b->shape));
}

ModelBuilder::Value ModelBuilder::maximumOf(Value a, Value b) {
  return extremeOf(a, b, {"gt", "lt"});
}

ModelBuilder::Value ModelBuilder::minimumOf(Value a, Value b) {
  return extremeOf(a, b, {"lt", "gt"});
}

// Maximum or minimum of two tensors. Where neither is strictly larger, the result is their mean. If
// they are equal, the mean has the gradient 1/2 for each, as in PyTorch; if one is NaN, so is the
// mean. A clamp has the whole derivative there, or none, so it cannot be used.
// A maximum has the relations "gt", "lt", a minimum the reverse.
ModelBuilder::Value ModelBuilder::extremeOf(Value a, Value b,
                                            std::pair<const char*, const char*> relations) {
  // A bound that bounds nothing: the mean below would be infinite.
  const double none = relations.first == std::string_view("gt") ? -HUGE_VAL : HUGE_VAL;
  const Shape shape = broadcast(a->shape, b->shape);
  if (isFilledWith(a, none))
    return expand(b, shape);
  if (isFilledWith(b, none))
    return expand(a, shape);
  const Value mean = binary("add", affine(a, {0.5}, {0}), affine(b, {0.5}, {0}));
  return where(compare(relations.first, a, b), a, where(compare(relations.second, a, b), b, mean));
}

ModelBuilder::Value ModelBuilder::compare(const std::string& function, Value a, Value b) {
  if (a->isKnown() && b->isKnown())
    return foldedBinary(function, a, b);
  // Logical operators on 0 and 1.
  if (function == "and")
    return binary("mul", a, b);
  if (function == "or")
    return unary("not", binary("mul", unary("not", a), unary("not", b)));
  static const std::map<std::string, std::string> relations = {
      {"gt", "greater"},    {"ge", "greater_equal"}, {"lt", "less"},
      {"le", "less_equal"}, {"eq", "equal"},         {"ne", "not_equal"}};
  const auto found = relations.find(function);
  check(found != relations.end(), "its relation is not known");
  ModelValue* result = make(ModelOp::Compare, {a, b}, broadcast(a->shape, b->shape));
  result->function = found->second;
  return result;
}

ModelBuilder::Value ModelBuilder::sign(Value x) {
  return binary("sub", compare("gt", x, number(0)), compare("lt", x, number(0)));
}

ModelBuilder::Value ModelBuilder::rootOfSquares(Value sum) {
  if (sum->isKnown())
    return unary("sqrt", sum);
  const Value isZero = compare("eq", sum, number(0));
  return where(isZero, sum, unary("sqrt", where(isZero, number(1), sum)));
}

ModelBuilder::Value ModelBuilder::stopped(Value x) {
  if (x->isKnown())
    return x;
  return x->isComplex() ? complex(stopped(pairsOf(x))) : unary("stopgradient", x);
}

// If condition, a and b are all known constants, the result is computed now.
ModelBuilder::Value ModelBuilder::where(Value condition, Value a, Value b) {
  const Shape shape = broadcast(condition->shape, broadcast(a->shape, b->shape));
  if (condition->isKnown() && a->isKnown() && b->isKnown())
    return foldedWhere(expand(condition, shape), expand(a, shape), expand(b, shape));
  if (const Value result = softplus(condition, a, b))
    return result;
  return make(ModelOp::Where, {condition, a, b}, shape);
}

// The slope is one number, or one per channel.
ModelBuilder::Value ModelBuilder::dropout(Value x, double rate) {
  if (mode_ == ModelMode::Inference || rate == 0)
    return x;
  if (x->isComplex() || !(rate > 0 && rate < 1))
    return refuse("a dropout of complex numbers, or of all elements, in training",
                  "dropout of real numbers, with a probability of less than 1", x->shape);
  ModelValue* result = make(ModelOp::Unary, {x}, x->shape);
  result->function = "dropout";
  result->parameters = {{"rate", rate}};
  return result;
}

ModelBuilder::Value ModelBuilder::prelu(Value x, Value slope) {
  check(x->ndim() >= 2, "a prelu needs an input [batch, channels, ...]");
  check(elements(slope->shape) == 1 || elements(slope->shape) == x->shape[1],
        "a prelu needs one slope, or one for each channel");
  if (!slope->isConstant()) { // max(x, 0) - slope max(-x, 0)
    return binary("sub", unary("relu", x),
                  binary("mul", unary("relu", unary("neg", x)), perChannel(slope, x->ndim())));
  }
  return make(ModelOp::PRelu, {x, slope}, x->shape);
}

} // namespace tenon
