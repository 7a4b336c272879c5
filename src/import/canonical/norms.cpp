// SPDX-License-Identifier: BSD-2-Clause
// Normalisations and reductions over dimensions: members of ModelBuilder, which append operators to
// the canonical graph. Exporters write weights of 1 and biases of 0 that are not parameters of the
// model; these are dropped. If only one of weight and bias exists, and the layer needs both, the
// other one is added as a constant. A weight that is computed from inputs cannot be a parameter of
// the layer; the norm is then followed by a product and a sum. Class ModelBuilder is in
// model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

ModelBuilder::Value ModelBuilder::reduce(const std::string& method, Value x, std::vector<int> dims,
                                         bool keeps) {
  for (int& d : dims)
    d = dimension(d, x->ndim());
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  Shape withOnes = x->shape, withoutDims; // the result's shape with `keeps`, and without
  for (int d = 0; d < x->ndim(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      withoutDims.push_back(x->shape[static_cast<std::size_t>(d)]);
    else
      withOnes[static_cast<std::size_t>(d)] = 1;
  if (x->isKnown())
    return foldedReduction(method.substr(0, method.find(" of first")), x, withOnes,
                           keeps ? withOnes : withoutDims);
  if (method == "product")
    return reshape(productAlong(x, dims), keeps ? withOnes : withoutDims);
  // min x = -max(-x); there is no layer for the minimum.
  if (method == "min" || method == "min of first")
    return affine(
        reduce(method == "min" ? "max" : "max of first", affine(x, {-1}, {0}), dims, keeps), {-1},
        {0});
  if (withOnes == x->shape)
    return keeps ? x : reshape(x, withoutDims);
  ModelValue* result = make(ModelOp::Reduce, {x}, withOnes);
  result->function = method;
  result->dims = dims;
  return keeps ? result : reshape(result, withoutDims);
}

// The derivative is 0 where the norm is 0, as in PyTorch.
ModelBuilder::Value ModelBuilder::vectorNorm(Value x, double order, const std::vector<int>& dims,
                                             bool keeps) {
  const Value zero = number(0), size = x->isComplex() || order != 2 ? unary("abs", x) : x;
  if (order == 2)
    return rootOfSquares(reduce("sum", binary("mul", size, size), dims, keeps));
  if (order == 1)
    return reduce("sum", size, dims, keeps);
  if (std::isinf(order))
    return reduce(order > 0 ? "max" : "min", size, dims, keeps);
  if (order == 0)
    return reduce("sum", compare("ne", size, zero), dims, keeps);
  if (!(order > 1))
    return refuse("a norm of this order", "norms of order 0 or infinity, or of at least 1", {1});
  const Value sum = reduce("sum", binary("pow", size, number(order)), dims, keeps),
              isZero = compare("eq", sum, zero);
  return where(isZero, zero, binary("pow", where(isZero, number(1), sum), number(1 / order)));
}

// A product over dimensions, by halves: elements i and i + n / 2 are multiplied until one is left.
ModelBuilder::Value ModelBuilder::productAlong(Value x, const std::vector<int>& dims) {
  for (const int d : dims)
    for (Index n = x->shape[static_cast<std::size_t>(d)]; n != 1;
         n = x->shape[static_cast<std::size_t>(d)]) {
      if (n == 0) {
        Shape shape = x->shape;
        shape[static_cast<std::size_t>(d)] = 1;
        x = refuse("the product of nothing", "at least one element", shape);
        break;
      }
      const Index half = n / 2;
      const Value pairs = binary("mul", slice(x, d, 0, half), slice(x, d, half, 2 * half));
      x = n % 2 == 0 ? pairs : concatenate({pairs, slice(x, d, n - 1, n)}, d);
    }
  return x;
}

// Elements that are not equal to the extreme have a place beyond all others.
ModelBuilder::Value ModelBuilder::placeOfExtreme(Value x, int dim, bool isMaximum, bool isLast) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const Index n = x->shape[d];
  check(n >= 1, "it has no elements");
  Shape shape(x->shape.size(), 1);
  shape[d] = n;
  std::vector<double> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Value extreme = reduce(isMaximum ? "max" : "min", x, {static_cast<int>(d)}, /*keeps=*/true);
  const Value places =
      where(compare("eq", x, extreme), constant(ModelConstant::ofNumbers(shape, numbers)),
            number(isLast ? -1 : static_cast<double>(n)));
  return reduce(isLast ? "max" : "min", places, {static_cast<int>(d)}, /*keeps=*/true);
}

// Reshapes one number per channel to [1, channels, 1, ...], which is broadcast to a field.
ModelBuilder::Value ModelBuilder::perChannel(Value x, int rank) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[1] = elements(x->shape);
  return reshape(x, shape);
}

ModelBuilder::Value ModelBuilder::batchNorm(Value x, Value weight, Value bias, Value mean,
                                            Value variance, double epsilon,
                                            std::optional<double> momentum) {
  check(x->ndim() >= 2, "a batch norm needs an input [batch, channels, ...]");
  const Shape channels = {x->shape[1]};
  // Statistics of the batch would couple the samples, also in evaluation.
  if (!mean || !variance)
    return refuse("a batch norm that takes the statistics of the batch", "the model in eval mode",
                  x->shape);
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        channels, std::vector<double>(static_cast<std::size_t>(channels[0]), number)));
  };
  weight = weight ? weight : filled(1);
  bias = bias ? bias : filled(0);
  for (const Value value : {weight, bias, mean, variance})
    check(value->shape == channels,
          "the weights and statistics of a batch norm must have one number per channel");
  const auto broadcastable = [&](Value value) { return perChannel(value, x->ndim()); };
  // Weights that are computed, or statistics that are trained, are ordinary values: use arithmetic.
  if (!weight->isConstant() || !bias->isConstant() || !mean->isKnown() || !variance->isKnown()) {
    const bool isPlain = mean->isKnown() && variance->isKnown();
    if (!isPlain && momentum && mode_ == ModelMode::Training)
      return refuse("a batch norm whose running statistics are parameters, in training",
                    "statistics that are buffers", x->shape);
    const Value normed =
        isPlain ? batchNorm(x, nullptr, nullptr, mean, variance, epsilon, momentum)
                : binary("div", binary("sub", x, broadcastable(mean)),
                         unary("sqrt", affine(broadcastable(variance), {1}, {epsilon})));
    return binary("add", binary("mul", normed, broadcastable(weight)), broadcastable(bias));
  }
  ModelValue* result = make(ModelOp::BatchNorm, {x, weight, bias, mean, variance}, x->shape);
  result->epsilon = epsilon;
  if (mode_ == ModelMode::Training)
    result->momentum = momentum;
  return result;
}

ModelBuilder::Value ModelBuilder::norm(ModelOp op, Value x, Value weight, Value bias,
                                       double epsilon, Index detail) {
  check(x->ndim() >= (op == ModelOp::LayerNorm ? 1 : 2),
        "a norm needs an input [batch, channels, ...]");
  Shape shape; // of the weight and the bias
  if (op == ModelOp::LayerNorm) {
    check(detail >= 1 && detail <= x->ndim(), "a layer norm has too many dimensions");
    shape.assign(x->shape.end() - detail, x->shape.end());
  } else {
    shape = {x->shape[1]};
    check(detail >= 1 && detail <= x->shape[1] && x->shape[1] % detail == 0,
          "the groups of a norm do not divide its channels");
  }
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        shape, std::vector<double>(static_cast<std::size_t>(elements(shape)), number)));
  };
  if (weight || bias) {
    weight = weight ? weight : filled(1);
    bias = bias ? bias : filled(0);
    for (const Value value : {weight, bias})
      check(value->shape == shape, "the weights of a norm must have the shape that it normalises");
    if (!weight->isConstant() || !bias->isConstant()) {
      const auto broadcastable = [&](Value value) {
        return op == ModelOp::LayerNorm ? value : perChannel(value, x->ndim());
      };
      return binary(
          "add",
          binary("mul", norm(op, x, nullptr, nullptr, epsilon, detail), broadcastable(weight)),
          broadcastable(bias));
    }
    // Exporters add weights of 1 and biases of 0, which are not parameters of the model.
    if (weight->constant->name().empty() && isFilledWith(weight, 1) && isFilledWith(bias, 0))
      weight = bias = nullptr;
  }
  ModelValue* result = make(op, {x}, x->shape);
  if (weight)
    result->inputs.insert(result->inputs.end(), {weight, bias});
  result->epsilon = epsilon;
  result->groups = op == ModelOp::GroupNorm ? detail : 1;
  result->count = op == ModelOp::LayerNorm ? static_cast<int>(detail) : 0;
  return result;
}

// y = x / sqrt(mean(x^2) + epsilon), times a weight.
ModelBuilder::Value ModelBuilder::rmsNorm(Value x, int count, Value weight, double epsilon) {
  check(count >= 1 && count <= x->ndim(), "it normalises more dimensions than there are");
  std::vector<int> dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), x->ndim() - count);
  const Value square = reduce("mean", binary("mul", x, x), dims, /*keeps=*/true);
  const Value result = binary("div", x, unary("sqrt", affine(square, {1}, {epsilon})));
  return weight ? binary("mul", result, weight) : result;
}

// log(sum(exp(x))) = log(sum(exp(x - m))) + m with the maximum m, to avoid overflow.
ModelBuilder::Value ModelBuilder::logSumExp(Value x, const std::vector<int>& dims, bool keeps) {
  const Value largest = reduce("max", x, dims, /*keeps=*/true);
  const Value sum = reduce("sum", unary("exp", binary("sub", x, largest)), dims, /*keeps=*/true);
  const Value result = binary("add", unary("log", sum), largest);
  Shape shape;
  for (int d = 0; d < x->ndim(); ++d)
    if (keeps || std::find(dims.begin(), dims.end(), d) == dims.end())
      shape.push_back(result->shape[static_cast<std::size_t>(d)]);
  return reshape(result, shape);
}

ModelBuilder::Value ModelBuilder::softmax(Value x, int dim) {
  ModelValue* result = make(ModelOp::Softmax, {x}, x->shape);
  result->dim = dimension(dim, x->ndim());
  return result;
}

} // namespace tenon
