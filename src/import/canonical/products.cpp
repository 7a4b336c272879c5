// SPDX-License-Identifier: BSD-2-Clause
// Matrix products and linear layers: members of ModelBuilder, which append operators to the
// canonical graph. A factor that is a weight (a constant, or computed from parameters) becomes the
// weight of a linear layer, y = x W^T along the last dimension; only the other factor is then a
// distributed field:
//   matmul(x, W)    linear(x, W^T)
//   matmul(W, x)    (linear(x^T, W))^T
//   matmul(a, b)    an attention, if a is a softmax of scores, otherwise a Matmul of two fields
// A product of two constants is computed at import. Class ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

ModelBuilder::Value ModelBuilder::turned(Value x) {
  std::vector<int> order(x->shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

ModelBuilder::Value ModelBuilder::linear(Value x, Value weight, Value bias) {
  check(x->ndim() >= 1 && weight->ndim() == 2,
        "the weight of a linear layer is no matrix, or its input has no dimensions");
  if (weight->shape[1] != x->shape.back())
    misfit(fmt::format("a linear layer of {} inputs is given [{}]", weight->shape[1],
                       fmt::join(x->shape, ",")));
  Shape shape = x->shape;
  shape.back() = weight->shape[0];
  check(!bias || bias->shape == Shape{shape.back()},
        "the bias of a linear layer does not have one number for each output");
  if (const Value product = foldedProduct(x, transpose(weight, {1, 0})))
    return bias ? binary("add", product, bias) : product;
  if (bias && !isWeight(bias))
    return binary("add", linear(x, weight, nullptr), bias);
  if (!isWeight(weight)) {
    const Value product = matmul(x, transpose(weight, {1, 0}));
    return bias ? binary("add", product, bias) : product;
  }
  // A linear layer accepts fields with at most three dimensions of space; merge them otherwise.
  constexpr int kMaxField = 5;
  if (x->ndim() > kMaxField)
    return reshape(
        linear(reshape(x, {elements(shape) / std::max(shape.back(), Index(1)), x->shape.back()}),
               weight, bias),
        shape);
  ModelValue* result = make(ModelOp::Linear, {x, weight}, shape);
  if (bias)
    result->inputs.push_back(bias);
  return result;
}

// The dimensions before the matrices are broadcast to equal extents.
void ModelBuilder::equaliseStacks(Value& a, Value& b) {
  const Shape leading =
      broadcast({a->shape.begin(), a->shape.end() - 2}, {b->shape.begin(), b->shape.end() - 2});
  for (Value* x : {&a, &b}) {
    Shape shape = leading;
    shape.insert(shape.end(), (*x)->shape.end() - 2, (*x)->shape.end());
    *x = expand(*x, shape);
  }
}

// The product of known matrices, or of stacks of them, as a constant. Null for others, and for long
// products, which the network computes.
ModelBuilder::Value ModelBuilder::foldedProduct(Value a, Value b) {
  constexpr Index kMaxProducts = Index(1) << 24;
  if (!a->isKnown() || !b->isKnown() || a->ndim() < 1 || a->isComplex() || b->isComplex() ||
      elements(a->shape) == 0 || elements(b->shape) == 0 ||
      b->shape.back() > kMaxProducts / elements(a->shape))
    return nullptr;
  Shape shape = a->shape;
  shape.back() = b->shape.back();
  const Index inner = a->shape.back();
  if (b->ndim() == 2)
    return reshape(foldedMatmul(reshape(a, {elements(a->shape) / inner, inner}), b), shape);
  equaliseStacks(a, b);
  shape = a->shape;
  shape.back() = b->shape.back();
  const Index rows = shape[shape.size() - 2], count = elements(shape) / (rows * shape.back());
  if (count == 0 || count > kMaxProducts / (rows * inner * shape.back()))
    return nullptr;
  const Value p = reshape(a, {count * rows, inner}), q = reshape(b, {count * inner, shape.back()});
  ModelValues products;
  for (Index i = 0; i < count; ++i)
    products.push_back(foldedMatmul(slice(p, 0, i * rows, (i + 1) * rows),
                                    slice(q, 0, i * inner, (i + 1) * inner)));
  return reshape(concatenate(products, 0), shape);
}

ModelBuilder::Value ModelBuilder::matmul(Value a, Value b) {
  check(a->ndim() >= 1 && b->ndim() >= 1, "a product of matrices has a factor without dimensions");
  // A vector is a matrix with one row or column.
  if (a->ndim() == 1 || b->ndim() == 1) {
    const Value result = matmul(a->ndim() == 1 ? reshape(a, {1, a->shape[0]}) : a,
                                b->ndim() == 1 ? reshape(b, {b->shape[0], 1}) : b);
    Shape shape = result->shape;
    if (b->ndim() == 1)
      shape.pop_back();
    if (a->ndim() == 1)
      shape.erase(shape.end() - (b->ndim() == 1 ? 1 : 2));
    return reshape(result, shape);
  }
  if (a->isComplex() || b->isComplex())
    return complexEinsum("...ij,...jk->...ik", {a, b});
  if (a->shape.back() != b->shape[b->shape.size() - 2])
    misfit(fmt::format("a product of matrices [{}] and [{}] does not fit", fmt::join(a->shape, ","),
                       fmt::join(b->shape, ",")));
  if (const Value product = foldedProduct(a, b))
    return product;
  // A weight on the right is a linear layer.
  if (isWeight(b) && b->ndim() == 2)
    return linear(a, transpose(b, {1, 0}), nullptr);
  // A weight on the left: a b = (b^T a^T)^T.
  if (isWeight(a) && a->ndim() == 2)
    return turned(linear(turned(b), a, nullptr));
  if (const Value result = spelledAttention(a, b))
    return result;
  equaliseStacks(a, b);
  Shape shape = a->shape;
  shape.back() = b->shape.back();
  return make(ModelOp::Matmul, {a, b}, shape);
}

} // namespace tenon
