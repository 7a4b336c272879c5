// SPDX-License-Identifier: BSD-2-Clause
// Recognises operators that exporters write as several, such as GELU, so the imported network has
// the layers that its author wrote. A pattern that does not match exactly is left as it is.
//
// These are methods of ModelBuilder, which appends the values of a canonical graph
// (model_graph.hpp): a Value has an operator, inputs and a shape. A method is called when the last
// value of its pattern is about to be appended, with that value's inputs; it returns a value for
// the whole pattern, or null if the inputs are not the pattern. The earlier values stay in the
// graph; values that nothing reads are dropped later. Called by
//   productOf(), for p q               gelu(), silu(), weightedNorm()
//   sumOf(), for x + c                 weightedNorm()
//   quotientOf(), for x / y            softsign(), decomposedNorm()
//   where(condition, a, b)             softplus()
//   reshape(x, shape)                  groupedNorm()
//   concatenate(values, dim)           paddedByZeros(), foldedPadding(), foldedRoll()
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

namespace {

// Tolerance for constants such as sqrt(2), which may have been rounded to float32.
constexpr double kRoundingTolerance = 1e-7;

// A value x as scale * value + shift with two numbers. If x is not such an affine function of
// another value, it is 1 * x + 0.
struct Stem {
  const ModelValue* value;
  double scale = 1, shift = 0;
};

Stem stemOf(const ModelValue* x) {
  if (x->op == ModelOp::Affine && x->dim < 0)
    return {x->inputs[0], x->scale[0], x->shift[0]};
  return {x};
}

bool isFunction(const ModelValue* x, const char* function) {
  return x->op == ModelOp::Unary && x->function == function;
}

// Whether softplus(x) is x, to rounding, above this threshold.
bool isSmoothAbove(double threshold) {
  return std::log1p(std::exp(-threshold)) <= kRoundingTolerance * threshold;
}

} // namespace

// GELU(x) = x / 2 (1 + erf(x / sqrt 2)). The product of p = a x and q = s erf(x / sqrt 2) + s is
// 2 a s GELU(x).
ModelBuilder::Value ModelBuilder::gelu(Value p, Value q) {
  const Stem error = stemOf(q);
  if (!isFunction(error.value, "erf") || error.scale != error.shift)
    return nullptr;
  const Stem argument = stemOf(error.value->inputs[0]), factor = stemOf(p);
  if (factor.value != argument.value || argument.shift != 0 || factor.shift != 0 ||
      std::abs(argument.scale - std::sqrt(0.5)) > kRoundingTolerance)
    return nullptr;
  return affine(unary("gelu", argument.value), {2 * error.scale * factor.scale}, {0});
}

// SiLU: x sigmoid(x).
ModelBuilder::Value ModelBuilder::silu(Value p, Value q) {
  return isFunction(q, "sigmoid") && q->inputs[0] == p ? unary("silu", p) : nullptr;
}

// Softplus as PyTorch exports it, with a threshold above which it is x: where(x > threshold, x,
// softplus(x)). It is left as it is if the difference between x and softplus(x), which is
// log(1 + exp(-x)), is not yet small at the threshold.
ModelBuilder::Value ModelBuilder::softplus(Value condition, Value a, Value b) {
  if (!isFunction(b, "softplus") || b->inputs[0] != a || condition->op != ModelOp::Compare ||
      condition->function != "greater" || condition->inputs[0] != a)
    return nullptr;
  const Value threshold = condition->inputs[1];
  return threshold->isKnown() && elements(threshold->shape) == 1 &&
                 isSmoothAbove(fold(threshold).numbers().front())
             ? b
             : nullptr;
}

// Softsign: x / (1 + |x|).
ModelBuilder::Value ModelBuilder::softsign(Value x, Value divisor) {
  const Stem stem = stemOf(divisor);
  return isFunction(stem.value, "abs") && stem.scale == 1 && stem.shift == 1 &&
                 stem.value->inputs[0] == x
             ? unary("softsign", x)
             : nullptr;
}

// The value whose square root this is, also as rootOfSquares() writes it; null for others.
ModelBuilder::Value ModelBuilder::radicand(Value root) {
  if (isFunction(root, "sqrt"))
    return root->inputs[0];
  if (root->op != ModelOp::Where || !isFunction(root->inputs[2], "sqrt"))
    return nullptr;
  const Value isZero = root->inputs[0], sum = root->inputs[1], safe = root->inputs[2]->inputs[0];
  const bool comparesWithZero = isZero->op == ModelOp::Compare && isZero->function == "equal" &&
                                isZero->inputs[0] == sum && isFilledWith(isZero->inputs[1], 0);
  const bool isSafe = comparesWithZero && safe->op == ModelOp::Where && safe->inputs[0] == isZero &&
                      isFilledWith(safe->inputs[1], 1) && safe->inputs[2] == sum;
  return isSafe ? sum : nullptr;
}

// Norm over one dimension: (x - mean) / sqrt(mean((x - mean)^2) + epsilon).
ModelBuilder::Value ModelBuilder::decomposedNorm(Value difference, Value deviation) {
  const Value squares = radicand(deviation);
  if (difference->op != ModelOp::Subtract || !squares)
    return nullptr;
  const Value x = difference->inputs[0], mean = difference->inputs[1];
  const Stem variance = stemOf(squares);
  const auto isMean = [](Value value) {
    return value->op == ModelOp::Reduce && value->function == "mean";
  };
  if (!isMean(mean) || mean->inputs[0] != x || mean->dims.size() != 1 || !isMean(variance.value) ||
      variance.value->dims != mean->dims || variance.scale != 1)
    return nullptr;
  const Value square = variance.value->inputs[0];
  if (square->op != ModelOp::Multiply || square->inputs[0] != square->inputs[1])
    return nullptr;
  // The factor of the square can be another value with the same inputs as `difference`.
  const Value squared = square->inputs[0];
  if (squared->op != ModelOp::Subtract || squared->inputs != difference->inputs)
    return nullptr;
  ModelValue* result = make(ModelOp::DimensionNorm, {x}, x->shape);
  result->dim = mean->dims[0];
  result->epsilon = variance.shift;
  return result;
}

// Group norm: [n, c, ...] is reshaped to [n, groups, -1], normalised by an instance norm x (over
// the last dimension), and reshaped back to `shape`.
ModelBuilder::Value ModelBuilder::groupedNorm(Value x, const Shape& shape) {
  if (x->op != ModelOp::InstanceNorm || x->inputs[0]->op != ModelOp::Reshape ||
      x->inputs[0]->inputs[0]->shape != shape || x->shape.size() != 3 || shape.size() < 3 ||
      x->shape[1] == shape[1] || x->shape[0] != shape[0] || shape[1] % x->shape[1] != 0)
    return nullptr;
  if (x->inputs.size() > 1 && !(isFilledWith(x->inputs[1], 1) && isFilledWith(x->inputs[2], 0)))
    return nullptr;
  ModelValue* result = make(ModelOp::GroupNorm, {x->inputs[0]->inputs[0]}, shape);
  result->groups = x->shape[1];
  result->epsilon = x->epsilon;
  return result;
}

// Recognises a group norm without weights that is multiplied by, or added to, one number per
// channel (`function`: "mul" or "add"): the numbers become the norm's weight or bias.
ModelBuilder::Value ModelBuilder::weightedNorm(const std::string& function, Value x, Value c) {
  // Dimension of c that is broadcast to the channels, dimension 1 of x.
  const int dim = 1 - (x->ndim() - c->ndim());
  if (x->op != ModelOp::GroupNorm || dim < 0 || c->ndim() <= dim ||
      c->shape[static_cast<std::size_t>(dim)] != x->shape[1] || elements(c->shape) != x->shape[1])
    return nullptr;
  // Inputs 1 and 2 of a norm, if it has them, are weight and bias. Numbers can be added to a weight
  // of 1 and a bias of 0 that the exporter has made up, not to parameters of the model.
  const bool isPlain = x->inputs.size() == 1;
  const auto isFilled = [&](std::size_t i, double number) {
    return isPlain || (isFilledWith(x->inputs[i], number) && x->inputs[i]->constant &&
                       x->inputs[i]->constant->name().empty());
  };
  const bool isFactor = function == "mul";
  if (!isFilled(2, 0) || (isFactor ? !isFilled(1, 1) : function != "add"))
    return nullptr;
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        {x->shape[1]}, std::vector<double>(static_cast<std::size_t>(x->shape[1]), number)));
  };
  const Value weights = reshape(c, {x->shape[1]}), weight = isPlain ? filled(1) : x->inputs[1];
  if (!weights->isConstant())
    return nullptr;
  ModelValue* result =
      make(ModelOp::GroupNorm,
           {x->inputs[0], isFactor ? weights : weight, isFactor ? filled(0) : weights}, x->shape);
  result->groups = x->groups;
  result->epsilon = x->epsilon;
  return result;
}

// Zero padding: [zeros, x, zeros] along a dimension, in which values of zeros are optional.
ModelBuilder::Value ModelBuilder::paddedByZeros(const ModelValues& values, int dim) {
  const auto d = static_cast<std::size_t>(dim);
  const auto isOther = [](Value value) { return value->op != ModelOp::Zeros; };
  const auto content = std::find_if(values.begin(), values.end(), isOther);
  const auto extentOf = [&](auto first, auto last) {
    return std::accumulate(first, last, Index(0),
                           [&](Index sum, Value value) { return sum + value->shape[d]; });
  };
  if (content == values.end()) {
    Shape shape = values[0]->shape;
    shape[d] = extentOf(values.begin(), values.end());
    return zeros(shape);
  }
  if (std::count_if(values.begin(), values.end(), isOther) != 1)
    return nullptr;
  return pad(*content, dim, extentOf(values.begin(), content), extentOf(content + 1, values.end()),
             "values");
}

// Periodic padding: [end of x, x, begin of x] along a dimension, in which one part can be missing.
ModelBuilder::Value ModelBuilder::foldedPadding(const ModelValues& values, int dim) {
  if (values.size() > 3)
    return nullptr;
  const auto d = static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value base = values[i]; // the candidate for x
    const Index n = base->shape[d];
    const auto isPart = [&](std::size_t at, bool isEnd) {
      const Value part = values[at];
      const Index m = part->shape[d];
      return part->op == ModelOp::Slice && part->inputs[0] == base && part->dim == dim &&
             part->step == 1 && part->begin == (isEnd ? n - m : 0) && part->end == part->begin + m;
    };
    if (i > 1 || values.size() - i > 2)
      continue;
    if ((i == 1 && !isPart(0, /*isEnd=*/true)) ||
        (i + 1 < values.size() && !isPart(i + 1, /*isEnd=*/false)))
      continue;
    return pad(base, dim, i == 1 ? values[0]->shape[d] : 0,
               i + 1 < values.size() ? values[i + 1]->shape[d] : 0, "periodic");
  }
  return nullptr;
}

// Rotation: two slices of one value that are exchanged, [x[k:], x[:k]].
ModelBuilder::Value ModelBuilder::foldedRoll(const ModelValues& values, int dim) {
  if (values.size() != 2)
    return nullptr;
  const Value end = values[0], begin = values[1];
  for (const Value part : {end, begin})
    if (part->op != ModelOp::Slice || part->dim != dim || part->step != 1 ||
        part->inputs[0] != end->inputs[0])
      return nullptr;
  const Value base = end->inputs[0];
  const Index n = base->shape[static_cast<std::size_t>(dim)];
  return begin->begin == 0 && begin->end == end->begin && end->end == n
             ? roll(base, dim, n - end->begin)
             : nullptr;
}

} // namespace tenon
