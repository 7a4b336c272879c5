// SPDX-License-Identifier: BSD-2-Clause
// Attention, softmax(q k^T scale + mask) v, as one value of the canonical graph. The methods are
// members of ModelBuilder. Queries q, keys k and values v are [..., sequence, features], where a
// dimension of heads (independent attentions) can precede the sequence; scores q k^T are [...,
// queries, keys].
//   attention()          appends the value, for a model that calls an attention operator
//   spelledAttention()   recognises products and a softmax that together are an attention
// A mask is added to the scores: -infinity hides a key from a query. A causal attention hides all
// keys after the query. Huge negative numbers in masks are treated as -infinity, unless a query
// would then see no key. Class ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tenon {

namespace {

constexpr Index kMaxHeads = 4096; // heads of queries that share keys and values
constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Whether the mask is -infinity above the diagonal and 0 elsewhere: the layer computes that without
// a mask.
bool isCausalMask(const ModelConstant& mask) {
  const std::vector<Index>& shape = mask.shape();
  const Index keys = shape.back(), queries = shape[shape.size() - 2];
  if (mask.elements() != keys * queries || keys != queries || keys < 2)
    return false;
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      if (mask.numbers()[static_cast<std::size_t>(i * keys + j)] != (j > i ? kHidden : 0))
        return false;
  return true;
}

// Whether each query sees at least one key.
bool leavesAllKeys(const ModelConstant& mask) {
  const auto keys = static_cast<std::size_t>(mask.shape().back());
  for (std::size_t row = 0; keys > 0 && row < mask.numbers().size(); row += keys) {
    const auto first = mask.numbers().begin() + static_cast<std::ptrdiff_t>(row);
    if (std::all_of(first, first + static_cast<std::ptrdiff_t>(keys),
                    [](double number) { return number == kHidden; }))
      return false;
  }
  return true;
}

// Replaces numbers below -1e37, which make any score vanish, by -infinity. A query that would then
// see no key gets NaN instead of a mean, so in that case the mask is left alone.
ModelConstant withoutHugeNumbers(const ModelConstant& mask) {
  constexpr double kHuge = -1e37;
  std::vector<double> numbers = mask.numbers();
  std::ranges::replace_if(
      numbers, [](double number) { return number < kHuge; }, kHidden);
  const ModelConstant result =
      ModelConstant::ofNumbers(mask.shape(), std::move(numbers)).fixed(mask.isFixed());
  return leavesAllKeys(result) ? result : mask;
}

} // namespace

ModelBuilder::Value ModelBuilder::addedMask(Value flags) {
  return where(flags, number(0), number(kHidden));
}

// Returns the mask with as many dimensions as the scores, with extent 1 where it is broadcast.
// Returns null if the shape of the mask does not match.
ModelBuilder::Value ModelBuilder::maskFor(Value mask, const Shape& scores) {
  mask = withoutExpansion(mask);
  Shape shape(scores.size() - std::min(scores.size(), mask->shape.size()), 1);
  shape.insert(shape.end(), mask->shape.begin(), mask->shape.end());
  return broadcast(shape, scores) == scores ? reshape(mask, shape) : nullptr;
}

// Repeats the heads of keys or values x (dimension -3) that several heads of queries share: head h
// of the queries uses stored head h * storedHeads / heads.
ModelBuilder::Value ModelBuilder::withHeadsOf(Value q, Value x) {
  if (q->ndim() < 4 || x->ndim() != q->ndim())
    return x;
  const int dim = x->ndim() - 3;
  const Index storedHeads = x->shape[static_cast<std::size_t>(dim)],
              heads = q->shape[static_cast<std::size_t>(dim)];
  if (storedHeads < 1 || storedHeads >= heads || heads % storedHeads != 0 || heads >= kMaxHeads)
    return x;
  ModelValues values;
  for (Index head = 0; head < heads; ++head)
    values.push_back(slice(x, dim, head * storedHeads / heads, head * storedHeads / heads + 1));
  return concatenate(values, dim);
}

ModelBuilder::Value ModelBuilder::attention(Value q, Value k, Value v, double scale, Value mask,
                                            bool isCausal) {
  check(q->ndim() >= 3 && k->ndim() == q->ndim() && v->ndim() == q->ndim(),
        "an attention needs queries, keys and values [..., sequence, features]");
  const Shape leading(q->shape.begin(), q->shape.end() - 2); // batch and heads
  const auto hasLeading = [&](Value x) {
    return std::equal(leading.begin(), leading.end(), x->shape.begin());
  };
  k = withHeadsOf(q, k);
  v = withHeadsOf(q, v);
  Shape scoresShape = q->shape;
  scoresShape.back() = k->shape[leading.size()];
  const Value reshapedMask = mask ? maskFor(mask, scoresShape) : nullptr;
  if (hasLeading(k) && hasLeading(v) && (reshapedMask || !mask)) {
    mask = reshapedMask;
    if (mask && mask->isKnown()) {
      const ModelConstant numbers = withoutHugeNumbers(fold(mask));
      mask = constant(numbers);
      if (!isCausal && isCausalMask(numbers)) {
        mask = nullptr;
        isCausal = true;
      }
    }
    check(k->shape.back() == q->shape.back() &&
              k->shape[leading.size()] == v->shape[leading.size()],
          "the queries, keys and values of an attention do not fit each other");
    Shape shape = q->shape;
    shape.back() = v->shape.back();
    ModelValue* result = make(ModelOp::Attention, {q, k, v}, shape);
    if (mask)
      result->inputs.push_back(mask);
    result->scale = {scale};
    result->isCausal = isCausal;
    return result;
  }
  if (isCausal) {
    const Value causal = causalMask(scoresShape[scoresShape.size() - 2], scoresShape.back());
    mask = mask ? binary("add", mask, causal) : causal;
  }
  return attentionSteps(q, k, v, scale, mask, 0).result;
}

// Returns 0 for the keys up to a query's place, -infinity for later ones.
ModelBuilder::Value ModelBuilder::causalMask(Index queries, Index keys) {
  check(queries * keys <= Index(1) << 23, "a causal attention has too long a sequence");
  std::vector<double> numbers;
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      numbers.push_back(j > i ? kHidden : 0);
  return constant(ModelConstant::ofNumbers({queries, keys}, std::move(numbers)));
}

ModelBuilder::AttentionSteps ModelBuilder::attentionSteps(Value q, Value k, Value v, double scale,
                                                          Value mask, double bound) {
  k = withHeadsOf(q, k);
  v = withHeadsOf(q, v);
  AttentionSteps steps = {};
  steps.products = affine(matmul(q, turned(k)), {scale}, {0});
  steps.bounded =
      bound > 0 ? affine(unary("tanh", affine(steps.products, {1 / bound}, {0})), {bound}, {0})
                : steps.products;
  steps.masked = mask ? binary("add", steps.bounded, mask) : steps.bounded;
  const int keys = steps.masked->ndim() - 1;
  steps.weights = softmax(steps.masked, keys);
  if (mask && !(mask->isKnown() && leavesAllKeys(fold(mask)))) {
    // The softmax of a query without keys would be NaN.
    const Value isBlind =
        compare("eq", reduce("max", mask, {mask->ndim() - 1}, /*keeps=*/true), number(kHidden));
    steps.weights =
        where(isBlind, number(0),
              softmax(binary("add", steps.bounded, where(isBlind, number(0), mask)), keys));
  }
  steps.result = matmul(steps.weights, v);
  return steps;
}

// Recognises where(s != s, 0, s) of a softmax s: a softmax with 0 in place of NaN. Returns s.
ModelBuilder::Value ModelBuilder::withoutNaN(Value x) const {
  if (x->op != ModelOp::Where || x->inputs[0]->op != ModelOp::Compare ||
      x->inputs[0]->function != "not_equal" || !isFilledWith(x->inputs[1], 0))
    return x;
  const Value softmax = x->inputs[2];
  return softmax->op == ModelOp::Softmax && x->inputs[0]->inputs == ModelValues{softmax, softmax}
             ? softmax
             : x;
}

// Recognises the argument of a softmax as scale q k^T + mask. The product is null if it is anything
// else.
ModelBuilder::Scores ModelBuilder::scoresOf(Value scores) {
  // Returns the product and its scale if x is scale q k^T.
  const auto productOf = [&](Value x) {
    const bool isScaled = x->op == ModelOp::Affine && x->dim < 0 && x->shift[0] == 0;
    const Value product = isScaled ? x->inputs[0] : x;
    const bool isProduct = product->op == ModelOp::Matmul && x->shape == scores->shape;
    return std::pair(isProduct ? product : nullptr, isScaled ? x->scale[0] : 1.0);
  };
  Value mask = nullptr;
  auto [product, scale] = productOf(scores);
  if (scores->op == ModelOp::Add && scores->inputs.size() == 2)
    for (const auto& [p, q] : {std::pair(scores->inputs[0], scores->inputs[1]),
                               std::pair(scores->inputs[1], scores->inputs[0])})
      if (!product && productOf(p).first) {
        std::tie(product, scale) = productOf(p);
        mask = q;
      }
  if (scores->op == ModelOp::Where && scores->inputs[0]->isKnown())
    for (const auto& [p, q] : {std::pair(scores->inputs[1], scores->inputs[2]),
                               std::pair(scores->inputs[2], scores->inputs[1])})
      if (!product && productOf(p).first && isFilledWith(q, kHidden)) {
        std::tie(product, scale) = productOf(p);
        const Value flags = scores->inputs[0];
        mask = addedMask(p == scores->inputs[1] ? flags : unary("not", flags));
      }
  return {product, scale, mask};
}

// Recognises a b = p v, where p is a softmax of scores with an added mask, or with -infinity chosen
// by a constant. A query that sees no key is NaN in such a softmax but 0 in the layer, so each
// query must see a key unless the model itself replaces NaN by 0.
ModelBuilder::Value ModelBuilder::spelledAttention(Value a, Value b) {
  const auto isSoftmax = [this](Value x) {
    x = withoutNaN(x);
    return x->op == ModelOp::Softmax && x->ndim() >= 3 && x->dim == x->ndim() - 1;
  };
  // y = v p^T is the transpose of p v^T.
  if (!isSoftmax(a) && b->op == ModelOp::Transpose && b->ndim() >= 3 && isSoftmax(turned(b))) {
    const Value result = spelledAttention(turned(b), turned(a));
    return result ? turned(result) : nullptr;
  }
  if (!isSoftmax(a) || b->ndim() != a->ndim() ||
      !std::equal(a->shape.begin(), a->shape.end() - 2, b->shape.begin()))
    return nullptr;
  const bool isZeroForNaN = withoutNaN(a) != a;
  a = withoutNaN(a);
  const auto [product, scale, mask] = scoresOf(a->inputs[0]);
  const bool isKnown = mask && mask->isKnown();
  if (!product || (!isZeroForNaN && isKnown && !leavesAllKeys(fold(mask))))
    return nullptr;
  return attention(product->inputs[0], turned(product->inputs[1]), b, scale, mask,
                   /*isCausal=*/false);
}

} // namespace tenon
