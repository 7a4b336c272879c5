// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: attention, with keys and values of earlier steps (a cache), and the rotation of
// features by their position. Each function reads the inputs and attributes of a node (OnnxCall c:
// c.x() is input 0, c.at(i) input i or null, c.operands has the attributes) and appends values to
// the canonical graph by the builder c.b. The table at the end has a row per operator
// (operator_rows.hpp).
#include "import/onnx/operator_rows.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// The inputs as [batch, heads, sequence, features]. In the file, heads are that dimension, or are
// adjacent in the features [batch, sequence, heads * features] (isFlat).
struct Heads {
  Value q, k, v;
  bool isFlat;
};
std::optional<Heads> headsOf(const OnnxCall& c) {
  Heads heads = {c.x(), c.operands.neededInput(1), c.operands.neededInput(2), false};
  const Index queries = c.operands.integer("q_num_heads", 0),
              keys = c.operands.integer("kv_num_heads", 0);
  const auto haveRank = [&](int rank) {
    return heads.q->ndim() == rank && heads.k->ndim() == rank && heads.v->ndim() == rank;
  };
  if (haveRank(4))
    return heads;
  if (!haveRank(3) || queries < 1 || keys < 1)
    return std::nullopt;
  heads.isFlat = true;
  const auto split = [&](Value& x, Index count) {
    c.b.check(count <= x->shape[2] && x->shape[2] % count == 0,
              "its heads do not divide its features");
    x = c.b.transpose(c.b.reshape(x, {x->shape[0], x->shape[1], count, x->shape[2] / count}),
                      {0, 2, 1, 3});
  };
  split(heads.q, queries);
  split(heads.k, keys);
  split(heads.v, keys);
  return heads;
}

// Which keys the attributes, and the lengths of the sequences (input 6), let a query see. Query i
// is at the place i + offset among the keys: the offset is the number of keys from the cache, or
// the length of a sequence less that of the queries.
class Visibility {
public:
  Visibility(const OnnxCall& c, const Heads& heads, Index cached)
      : c_(c), queries_(heads.q->shape[2]), keys_(heads.k->shape[2]), cached_(cached) {
    isCausal_ = c.operands.flag("is_causal", false);
    left_ = c.operands.integer("left_window_size", -1);
    right_ = c.operands.integer("right_window_size", -1);
    if (const Value lengths = c.at(6))
      lengths_ = c.b.reshape(lengths, {elements(lengths->shape), 1, 1, 1});
  }

  // Whether the layer's own causal attention, without a mask, is all there is.
  bool isPlainCausal() const {
    return isCausal_ && !lengths_ && cached_ == 0 && left_ < 0 && right_ < 0;
  }
  // 0 for visible keys and -infinity for others, which broadcasts to the scores; null if all are
  // visible.
  Value mask() {
    if (isPlainCausal())
      return nullptr;
    c_.b.check(queries_ * keys_ <= Index(1) << 23, "an attention with a window is too long");
    // The distance from the query's number to the key, less the offset.
    std::vector<double> numbers, places;
    for (Index i = 0; i < queries_; ++i)
      for (Index j = 0; j < keys_; ++j)
        numbers.push_back(static_cast<double>(j - i - cached_));
    for (Index j = 0; j < keys_; ++j)
      places.push_back(static_cast<double>(j));
    Value distance = c_.b.constant(ModelConstant::ofNumbers({queries_, keys_}, std::move(numbers)));
    if (lengths_)
      distance = c_.b.binary("sub", distance,
                             c_.b.affine(lengths_, {1}, {static_cast<double>(cached_ - queries_)}));
    if (isCausal_)
      add(c_.b.compare("le", distance, c_.b.number(0)));
    if (left_ >= 0)
      add(c_.b.compare("ge", distance, c_.b.number(static_cast<double>(-left_))));
    if (right_ >= 0)
      add(c_.b.compare("le", distance, c_.b.number(static_cast<double>(right_))));
    if (lengths_)
      add(c_.b.compare("lt", c_.b.constant(ModelConstant::ofNumbers({keys_}, std::move(places))),
                       lengths_));
    return visible_ ? c_.b.addedMask(visible_) : nullptr;
  }

private:
  void add(Value flags) { visible_ = visible_ ? c_.b.compare("and", visible_, flags) : flags; }

  const OnnxCall& c_;
  Index queries_, keys_, cached_, left_ = -1, right_ = -1;
  bool isCausal_ = false;
  Value lengths_ = nullptr, visible_ = nullptr;
};

// The mask of the file, which is added to the scores. Keys that it does not have are hidden.
Value fileMask(const OnnxCall& c, Index keys) {
  Value mask = c.at(3);
  if (!mask)
    return nullptr;
  c.b.check(mask->ndim() >= 1, "its mask has no dimensions");
  if (c.operands.isFlagInput(3))
    mask = c.b.addedMask(mask);
  const Index missing = keys - mask->shape.back();
  return missing > 0 ? c.b.pad(mask, mask->ndim() - 1, 0, missing, "values",
                               -std::numeric_limits<double>::infinity())
                     : mask;
}

// The results are y, the keys and values with those of the cache, and the scores or weights.
ModelValues onnxAttention(const OnnxCall& c) {
  const std::size_t count = c.operands.operation().results.size();
  const Index mode = c.operands.integer("qk_matmul_output_mode", 0);
  std::optional<Heads> heads = headsOf(c);
  if (!heads)
    return ModelValues(count,
                       c.b.refuse("an attention of other dimensions",
                                  "an attention [batch, heads, sequence, features]", c.x()->shape));
  Index cached = 0;
  if (const Value past = c.at(4)) {
    c.b.check(past->ndim() == 4 && c.at(5), "its cache needs keys and values of four dimensions");
    cached = past->shape[2];
    heads->k = c.b.concatenate({past, heads->k}, 2);
    heads->v = c.b.concatenate({c.at(5), heads->v}, 2);
  }
  Visibility visibility(c, *heads, cached);
  Value mask = fileMask(c, heads->k->shape[2]);
  if (const Value visible = visibility.mask())
    mask = mask ? c.b.binary("add", mask, visible) : visible;
  const double scale =
                   c.operands.real("scale", 1 / std::sqrt(static_cast<double>(heads->q->shape[3]))),
               bound = c.operands.real("softcap", 0);
  ModelBuilder::AttentionSteps steps = {};
  if (count > 3 || bound > 0) {
    if (visibility.isPlainCausal()) {
      const Value causal = c.b.causalMask(heads->q->shape[2], heads->k->shape[2]);
      mask = mask ? c.b.binary("add", mask, causal) : causal;
    }
    steps = c.b.attentionSteps(heads->q, heads->k, heads->v, scale, mask, bound);
  } else {
    steps.result =
        c.b.attention(heads->q, heads->k, heads->v, scale, mask, visibility.isPlainCausal());
  }
  Value y = steps.result;
  if (heads->isFlat)
    y = c.b.reshape(c.b.transpose(y, {0, 2, 1, 3}),
                    {y->shape[0], y->shape[2], y->shape[1] * y->shape[3]});
  ModelValues results = {y, heads->k, heads->v};
  if (count > 3) {
    c.b.check(mode >= 0 && mode <= 3, "its qk_matmul_output_mode is not 0 to 3");
    results.push_back(mode == 0   ? steps.products
                      : mode == 1 ? steps.bounded
                      : mode == 2 ? steps.masked
                                  : steps.weights);
  }
  return results;
}
// Turns pairs of features by the angles of each position in the sequence, whose cosines and sines
// are inputs 1 and 2 [batch, sequence, pairs], or tables of which the constant input 3 selects
// rows. Pairs are neighbours (interleaved), or features i and i + pairs. The rest of the features
// is unchanged.
ModelValues onnxRotary(const OnnxCall& c) {
  Value x = c.x();
  const Shape original = x->shape;
  const Index heads = c.operands.integer("num_heads", 0);
  c.b.check(
      x->ndim() == 4 || (x->ndim() == 3 && heads >= 1 && original[2] % heads == 0),
      "it needs [batch, heads, sequence, features], or [batch, sequence, features] and heads");
  // [batch, sequence, heads, features]
  x = x->ndim() == 4 ? c.b.transpose(x, {0, 2, 1, 3})
                     : c.b.reshape(x, {original[0], original[1], heads, original[2] / heads});
  const Index features = x->shape[3];
  Index turned = c.operands.integer("rotary_embedding_dim", 0);
  turned = turned == 0 ? features : turned;
  c.b.check(turned >= 2 && turned % 2 == 0 && turned <= features, "its features cannot be paired");
  const auto tableOf = [&](std::size_t place) {
    Value table = c.operands.neededInput(place);
    if (const Value rows = c.at(3)) {
      c.b.check(rows->isConstant(), "its positions are not constant");
      table = c.b.gather(table, 0, c.b.reshape(rows, {elements(rows->shape)}));
    }
    return c.b.reshape(
        table, {table->ndim() == 3 ? table->shape[0] : x->shape[0], x->shape[1], 1, turned / 2});
  };
  const Value cosine = tableOf(1), sine = tableOf(2);
  const bool isInterleaved = c.operands.flag("interleaved", false);
  const Shape pairs = {x->shape[0], x->shape[1], x->shape[2], turned / 2, 1};
  const Value part = c.b.slice(x, 3, 0, turned);
  const auto half = [&](Index i) { // the first or second of all pairs
    return isInterleaved ? c.b.slice(part, 3, i, turned, 2)
                         : c.b.slice(part, 3, i * turned / 2, (i + 1) * turned / 2);
  };
  const auto product = [&](Value a, Value b) { return c.b.binary("mul", a, b); };
  const Value real = c.b.binary("sub", product(cosine, half(0)), product(sine, half(1))),
              imaginary = c.b.binary("add", product(sine, half(0)), product(cosine, half(1)));
  const Value joined =
      isInterleaved ? c.b.reshape(c.b.concatenate(
                                      {c.b.reshape(real, pairs), c.b.reshape(imaginary, pairs)}, 4),
                                  part->shape)
                    : c.b.concatenate({real, imaginary}, 3);
  const Value all =
      turned == features ? joined : c.b.concatenate({joined, c.b.slice(x, 3, turned, features)}, 3);
  return {original.size() == 4 ? c.b.transpose(all, {0, 2, 1, 3}) : c.b.reshape(all, original)};
}

} // namespace

std::span<const OnnxRow> onnxAttentions() {
  static constexpr OnnxRow rows[] = {
      {"Attention", onnxAttention, "", 7,
       "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode "
       "right_window_size scale softcap softmax_precision=*"},
      {"RotaryEmbedding", onnxRotary, "", 4, "interleaved num_heads rotary_embedding_dim"}};
  return rows;
}

} // namespace tenon
