// SPDX-License-Identifier: BSD-2-Clause
// Norms, and what is taken over dimensions. Weights that do nothing are left out, and those that
// lack are put in where a layer needs both.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

ModelBuilder::Value ModelBuilder::reduce(const std::string& method, Value x, std::vector<int> dims,
                                         bool keeps) {
  for (int& d : dims)
    d = dimension(d, x->rank());
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  Shape kept = x->shape, left;
  for (int d = 0; d < x->rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(x->shape[static_cast<std::size_t>(d)]);
    else
      kept[static_cast<std::size_t>(d)] = 1;
  if (x->isKnown())
    return foldedReduction(method, x, kept, keeps ? kept : left);
  if (method == "product")
    return refuse("a product over a dimension", "a sum, mean or maximum", keeps ? kept : left);
  if (method == "min")
    return affine(reduce("max", affine(x, {-1}, {0}), dims, keeps), {-1}, {0});
  if (kept == x->shape)
    return keeps ? x : reshape(x, left);
  ModelValue* made = make(ModelOp::Reduce, {x}, kept);
  made->function = method;
  made->dims = dims;
  return keeps ? made : reshape(made, left);
}

ModelBuilder::Value ModelBuilder::perChannel(Value x, int rank) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[1] = elements(x->shape);
  return reshape(x, shape);
}

ModelBuilder::Value ModelBuilder::batchNorm(Value x, Value weight, Value bias, Value mean,
                                            Value variance, double epsilon) {
  check(x->rank() >= 2, "a batch norm needs an input [batch, channels, ...]");
  const Shape channels = {x->shape[1]};
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
  const auto of = [&](Value value) { return perChannel(value, x->rank()); };
  // What is computed, or statistics that are trained, are values.
  if (!weight->isConstant() || !bias->isConstant() || !mean->isKnown() || !variance->isKnown()) {
    const bool isPlain = mean->isKnown() && variance->isKnown();
    const Value normed = isPlain ? batchNorm(x, nullptr, nullptr, mean, variance, epsilon)
                                 : binary("div", binary("sub", x, of(mean)),
                                          unary("sqrt", affine(of(variance), {1}, {epsilon})));
    return binary("add", binary("mul", normed, of(weight)), of(bias));
  }
  ModelValue* made = make(ModelOp::BatchNorm, {x, weight, bias, mean, variance}, x->shape);
  made->epsilon = epsilon;
  return made;
}

ModelBuilder::Value ModelBuilder::norm(ModelOp op, Value x, Value weight, Value bias,
                                       double epsilon, Index detail) {
  check(x->rank() >= (op == ModelOp::LayerNorm ? 1 : 2),
        "a norm needs an input [batch, channels, ...]");
  Shape shape;
  if (op == ModelOp::LayerNorm) {
    check(detail >= 1 && detail <= x->rank(), "a layer norm has too many dimensions");
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
      const auto of = [&](Value value) {
        return op == ModelOp::LayerNorm ? value : perChannel(value, x->rank());
      };
      return binary("add",
                    binary("mul", norm(op, x, nullptr, nullptr, epsilon, detail), of(weight)),
                    of(bias));
    }
    if (weight->constant->name().empty() && isFilledWith(weight, 1) && isFilledWith(bias, 0))
      weight = bias = nullptr;
  }
  ModelValue* made = make(op, {x}, x->shape);
  if (weight)
    made->inputs.insert(made->inputs.end(), {weight, bias});
  made->epsilon = epsilon;
  made->groups = op == ModelOp::GroupNorm ? detail : 1;
  made->count = op == ModelOp::LayerNorm ? static_cast<int>(detail) : 0;
  return made;
}

// x / sqrt(mean of squares + epsilon), times a weight.
ModelBuilder::Value ModelBuilder::rmsNorm(Value x, int count, Value weight, double epsilon) {
  check(count >= 1 && count <= x->rank(), "it normalises more dimensions than there are");
  std::vector<int> dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), x->rank() - count);
  const Value square = reduce("mean", binary("mul", x, x), dims, true);
  const Value made = binary("div", x, unary("sqrt", affine(square, {1}, {epsilon})));
  return weight ? binary("mul", made, weight) : made;
}

// The exponentials are of what differs from the largest.
ModelBuilder::Value ModelBuilder::logSumExp(Value x, const std::vector<int>& dims, bool keeps) {
  const Value most = reduce("max", x, dims, true);
  const Value sum = reduce("sum", unary("exp", binary("sub", x, most)), dims, true);
  const Value made = binary("add", unary("log", sum), most);
  Shape left;
  for (int d = 0; d < x->rank(); ++d)
    if (keeps || std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(made->shape[static_cast<std::size_t>(d)]);
  return reshape(made, left);
}

ModelBuilder::Value ModelBuilder::softmax(Value x, int dim) {
  ModelValue* made = make(ModelOp::Softmax, {x}, x->shape);
  made->dim = dimension(dim, x->rank());
  return made;
}

} // namespace tenon
