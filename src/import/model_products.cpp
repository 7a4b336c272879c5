// SPDX-License-Identifier: BSD-2-Clause
// Products of matrices and what consists of them: linear layers, sums over products by letters, and attentions, also
// where they are spelled out. A factor that is a parameter is the weight of a layer.
#include "import/model_builder.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace tenon {

namespace {

constexpr Index kMostHeads = 4096; // of queries that share those of keys
constexpr double kNever = -std::numeric_limits<double>::infinity();

bool isCausalMask(const ModelConstant& mask) {
  const std::vector<Index>& shape = mask.shape();
  const Index keys = shape.back(), queries = shape[shape.size() - 2];
  if (mask.elements() != keys * queries || keys != queries || keys < 2)
    return false;
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      if (mask.numbers()[static_cast<std::size_t>(i * keys + j)] != (j > i ? kNever : 0))
        return false;
  return true;
}

bool leavesAllKeys(const ModelConstant& mask) {
  const auto keys = static_cast<std::size_t>(mask.shape().back());
  for (std::size_t row = 0; keys > 0 && row < mask.numbers().size(); row += keys) {
    const auto first = mask.numbers().begin() + static_cast<std::ptrdiff_t>(row);
    if (std::all_of(first, first + static_cast<std::ptrdiff_t>(keys),
                    [](double number) { return number == kNever; }))
      return false;
  }
  return true;
}

// Numbers that leave nothing of any score are -infinity, as long as each query sees a key.
ModelConstant withoutHugeNumbers(const ModelConstant& mask) {
  constexpr double kLeast = -1e37;
  std::vector<double> numbers = mask.numbers();
  std::ranges::replace_if(
      numbers, [](double number) { return number < kLeast; }, kNever);
  const ModelConstant made =
      ModelConstant::ofNumbers(mask.shape(), std::move(numbers)).fixed(mask.isFixed());
  return leavesAllKeys(made) ? made : mask;
}

} // namespace

ModelBuilder::Value ModelBuilder::turned(Value x) {
  std::vector<int> order(x->shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

ModelBuilder::Value ModelBuilder::linear(Value x, Value weight, Value bias) {
  check(x->rank() >= 1 && weight->rank() == 2,
        "the weight of a linear layer is no matrix, or its input has no dimensions");
  if (weight->shape[1] != x->shape.back())
    misfit(fmt::format("a linear layer of {} inputs is given [{}]", weight->shape[1],
                       fmt::join(x->shape, ",")));
  Shape shape = x->shape;
  shape.back() = weight->shape[0];
  check(!bias || bias->shape == Shape{shape.back()},
        "the bias of a linear layer does not have one number for each output");
  if (!weight->isConstant() || (bias && !bias->isConstant())) {
    const Value product = matmul(x, transpose(weight, {1, 0}));
    return bias ? binary("add", product, bias) : product;
  }
  // A layer on points of a field has at most three dimensions of space.
  constexpr int kMostField = 5;
  if (x->rank() > kMostField)
    return reshape(
        linear(reshape(x, {elements(shape) / std::max(shape.back(), Index(1)), x->shape.back()}),
               weight, bias),
        shape);
  ModelValue* made = make(ModelOp::Linear, {x, weight}, shape);
  if (bias)
    made->inputs.push_back(bias);
  return made;
}

ModelBuilder::Value ModelBuilder::foldedMatmul(Value a, Value b) {
  const Index rows = a->shape[0], inner = a->shape[1], columns = b->shape[1];
  for (const Index extent : {rows, inner, columns})
    spend(extent); // so that none is large
  spend(rows * columns);
  spend(rows * columns * inner);
  const ModelConstant p = fold(a), q = fold(b);
  std::vector<double> numbers(static_cast<std::size_t>(rows * columns), 0);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < inner; ++k)
      for (Index j = 0; j < columns; ++j)
        numbers[static_cast<std::size_t>(i * columns + j)] +=
            p.numbers()[static_cast<std::size_t>(i * inner + k)] *
            q.numbers()[static_cast<std::size_t>(k * columns + j)];
  return constant(ModelConstant::ofNumbers({rows, columns}, std::move(numbers))
                      .fixed(p.isFixed() && q.isFixed()));
}

ModelBuilder::Value ModelBuilder::matmul(Value a, Value b) {
  check(a->rank() >= 1 && b->rank() >= 1, "a product of matrices has a factor without dimensions");
  // Vectors are matrices with one row or column.
  if (a->rank() == 1 || b->rank() == 1) {
    const Value made = matmul(a->rank() == 1 ? reshape(a, {1, a->shape[0]}) : a,
                              b->rank() == 1 ? reshape(b, {b->shape[0], 1}) : b);
    Shape shape = made->shape;
    if (b->rank() == 1)
      shape.pop_back();
    if (a->rank() == 1)
      shape.erase(shape.end() - (b->rank() == 1 ? 1 : 2));
    return reshape(made, shape);
  }
  if (a->shape.back() != b->shape[b->shape.size() - 2])
    misfit(fmt::format("a product of matrices [{}] and [{}] does not fit", fmt::join(a->shape, ","),
                       fmt::join(b->shape, ",")));
  if (a->isConstant() && b->isConstant() && a->rank() == 2 && b->rank() == 2)
    return foldedMatmul(a, b);
  if (b->isConstant() && b->rank() == 2)
    return linear(a, transpose(b, {1, 0}), nullptr);
  if (a->isConstant() && a->rank() == 2)
    return turned(linear(turned(b), a, nullptr));
  if (const Value made = spelledAttention(a, b))
    return made;
  const Shape leading =
      broadcast({a->shape.begin(), a->shape.end() - 2}, {b->shape.begin(), b->shape.end() - 2});
  const auto enlarged = [&](Value x) {
    Shape shape = leading;
    shape.insert(shape.end(), x->shape.end() - 2, x->shape.end());
    return expand(x, shape);
  };
  a = enlarged(a);
  b = enlarged(b);
  Shape shape = a->shape;
  shape.back() = b->shape.back();
  return make(ModelOp::Matmul, {a, b}, shape);
}

// A sum over products, by the letters of dimensions: sums over what one factor has alone, and then products of
// matrices along the letters that both factors and the result have.
ModelBuilder::Value ModelBuilder::einsum(const std::string& equation, ModelValues factors) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> words = split(text.substr(0, arrow), ',');
  std::string result = arrow == text.npos ? "" : text.substr(arrow + 2);
  bool isKnown = arrow != text.npos && text.find('.') == text.npos &&
                 words.size() == factors.size() && !factors.empty();
  std::map<char, Index> extents;
  for (std::size_t i = 0; isKnown && i < words.size(); ++i) {
    check(static_cast<int>(words[i].size()) == factors[i]->rank(),
          "an equation has another number of letters than a factor dimensions");
    for (std::size_t d = 0; d < words[i].size(); ++d) {
      const char letter = words[i][d];
      isKnown =
          isKnown && std::isalpha(static_cast<unsigned char>(letter)) && words[i].find(letter) == d;
      check(extents.emplace(letter, factors[i]->shape[d]).first->second == factors[i]->shape[d],
            "the factors of an equation do not fit each other");
    }
  }
  for (std::size_t d = 0; isKnown && d < result.size(); ++d)
    isKnown = extents.contains(result[d]) && result.find(result[d]) == d;
  if (!isKnown)
    return refuse(fmt::format("einsum {}", equation),
                  "an equation with a result, and each letter once in a factor", {1});
  Lettered made{factors[0], words[0]};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::string later = result;
    for (std::size_t j = i + 1; j < words.size(); ++j)
      later += words[j];
    if (i > 0)
      made = product(made, {factors[i], words[i]}, later);
    made = summed(made, later);
  }
  return ordered(made, result);
}

// Without the letters that nothing further has.
ModelBuilder::Lettered ModelBuilder::summed(const Lettered& x, const std::string& kept) {
  std::vector<int> dims;
  std::string letters;
  for (std::size_t d = 0; d < x.letters.size(); ++d)
    if (kept.find(x.letters[d]) == kept.npos)
      dims.push_back(static_cast<int>(d));
    else
      letters += x.letters[d];
  return {dims.empty() ? x.value : reduce("sum", x.value, dims, false), letters};
}

ModelBuilder::Value ModelBuilder::ordered(const Lettered& x, const std::string& letters) {
  std::vector<int> permutation;
  for (const char letter : letters)
    permutation.push_back(static_cast<int>(x.letters.find(letter)));
  return transpose(x.value, permutation);
}

ModelBuilder::Lettered ModelBuilder::product(Lettered a, Lettered b, const std::string& kept) {
  a = summed(a, kept + b.letters);
  b = summed(b, kept + a.letters);
  const auto has = [](const std::string& letters, char c) {
    return letters.find(c) != letters.npos;
  };
  std::string along, rows, columns, sums;
  for (const char c : a.letters)
    (!has(b.letters, c) ? rows : has(kept, c) ? along : sums) += c;
  for (const char c : b.letters)
    if (!has(a.letters, c))
      columns += c;
  // Element by element, where no sum needs a matrix.
  if (sums.empty() || (rows.empty() && columns.empty())) {
    const std::string all = along + rows + columns + sums;
    const auto spread = [&](const Lettered& x) {
      std::string own;
      Shape shape;
      for (const char c : all) {
        own += has(x.letters, c) ? std::string(1, c) : "";
        shape.push_back(has(x.letters, c) ? x.value->shape[x.letters.find(c)] : 1);
      }
      return reshape(ordered(x, own), shape);
    };
    return summed({binary("mul", spread(a), spread(b)), all}, kept);
  }
  const auto extents = [](const Lettered& x, const std::string& letters) {
    Shape shape;
    for (const char c : letters)
      shape.push_back(x.value->shape[x.letters.find(c)]);
    return shape;
  };
  // As matrices along common dimensions.
  const auto matrices = [&](const Lettered& x, const std::string& first,
                            const std::string& second) {
    Shape shape = extents(x, along);
    shape.push_back(elements(extents(x, first)));
    shape.push_back(elements(extents(x, second)));
    return reshape(ordered(x, along + first + second), shape);
  };
  Shape shape = extents(a, along + rows);
  const Shape last = extents(b, columns);
  shape.insert(shape.end(), last.begin(), last.end());
  // What a weight multiplies stays a field.
  if (along.empty() && b.value->isConstant() && sums.size() == 1) {
    const Value weight = reshape(ordered(b, columns + sums),
                                 {elements(last), b.value->shape[b.letters.find(sums[0])]});
    return {reshape(linear(ordered(a, rows + sums), weight, nullptr), shape), rows + columns};
  }
  if (along.empty() && a.value->isConstant() && !b.value->isConstant() && sums.size() == 1) {
    Lettered made = product(std::move(b), std::move(a), kept);
    return made;
  }
  return {reshape(matmul(matrices(a, rows, sums), matrices(b, sums, columns)), shape),
          along + rows + columns};
}

ModelBuilder::Value ModelBuilder::addedMask(Value flags) {
  return where(flags, number(0), number(kNever));
}

// With the dimensions of the scores, of extent 1 where the mask has none; null if it does not fit.
ModelBuilder::Value ModelBuilder::maskFor(Value mask, const Shape& scores) {
  mask = withoutExpansion(mask);
  Shape shape(scores.size() - std::min(scores.size(), mask->shape.size()), 1);
  shape.insert(shape.end(), mask->shape.begin(), mask->shape.end());
  return broadcast(shape, scores) == scores ? reshape(mask, shape) : nullptr;
}

ModelBuilder::Value ModelBuilder::repeatedHeads(Value x, Index heads) {
  const int dim = x->rank() - 3;
  const Index have = x->shape[static_cast<std::size_t>(dim)];
  ModelValues values;
  for (Index head = 0; head < heads; ++head)
    values.push_back(slice(x, dim, head * have / heads, head * have / heads + 1));
  return concatenate(values, dim);
}

ModelBuilder::Value ModelBuilder::attention(Value q, Value k, Value v, double scale, Value mask,
                                            bool isCausal) {
  check(q->rank() >= 3 && k->rank() == q->rank() && v->rank() == q->rank(),
        "an attention needs queries, keys and values [..., sequence, features]");
  const Shape leads(q->shape.begin(), q->shape.end() - 2);
  const auto isLed = [&](Value x) {
    return std::equal(leads.begin(), leads.end(), x->shape.begin());
  };
  for (Value* x : {&k, &v})
    if (const Index have = (*x)->shape[leads.size() - 1];
        q->rank() > 3 && have > 0 && have < leads.back() && leads.back() % have == 0 &&
        leads.back() < kMostHeads)
      *x = repeatedHeads(*x, leads.back());
  Shape scored = q->shape;
  scored.back() = k->shape[leads.size()];
  const Value fitting = mask ? maskFor(mask, scored) : nullptr;
  if (isLed(k) && isLed(v) && (fitting || !mask)) {
    mask = fitting;
    if (mask && mask->isConstant() && !mask->constant->isTrained()) {
      mask = constant(withoutHugeNumbers(fold(mask)));
      if (!isCausal && isCausalMask(*mask->constant)) {
        mask = nullptr;
        isCausal = true;
      }
    }
    check(k->shape.back() == q->shape.back() && k->shape[leads.size()] == v->shape[leads.size()],
          "the queries, keys and values of an attention do not fit each other");
    Shape shape = q->shape;
    shape.back() = v->shape.back();
    ModelValue* made = make(ModelOp::Attention, {q, k, v}, shape);
    if (mask)
      made->inputs.push_back(mask);
    made->scale = {scale};
    made->isCausal = isCausal;
    return made;
  }
  Value scores = affine(matmul(q, turned(k)), {scale}, {0});
  const Index rows = scores->shape[scores->shape.size() - 2], columns = scores->shape.back();
  if (isCausal) {
    check(rows * columns <= Index(1) << 23, "a causal attention has too long a sequence");
    std::vector<double> numbers;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j)
        numbers.push_back(j > i ? kNever : 0);
    scores = binary("add", scores, constant(ModelConstant::ofNumbers({rows, columns}, numbers)));
  }
  if (mask)
    scores = binary("add", scores, mask);
  return matmul(softmax(scores, scores->rank() - 1), v);
}

// A softmax that is chosen unless it is NaN, and else 0, is that softmax.
ModelBuilder::Value ModelBuilder::withoutNaN(Value x) const {
  if (x->op != ModelOp::Where || x->inputs[0]->op != ModelOp::Compare ||
      x->inputs[0]->function != "not_equal" || !isFilledWith(x->inputs[1], 0))
    return x;
  const Value softmax = x->inputs[2];
  return softmax->op == ModelOp::Softmax && x->inputs[0]->inputs == ModelValues{softmax, softmax}
             ? softmax
             : x;
}

// With a mask that is added to the products, or where a constant chooses between them and -infinity. A query
// that sees no key is NaN in such a softmax, but 0 in the layer.
ModelBuilder::Value ModelBuilder::spelledAttention(Value a, Value b) {
  const auto isSoftmax = [this](Value x) {
    x = withoutNaN(x);
    return x->op == ModelOp::Softmax && x->rank() >= 3 && x->dim == x->rank() - 1;
  };
  // y = v p^T is the transpose of p v^T.
  if (!isSoftmax(a) && b->op == ModelOp::Transpose && b->rank() >= 3 && isSoftmax(turned(b))) {
    const Value made = spelledAttention(turned(b), turned(a));
    return made ? turned(made) : nullptr;
  }
  if (!isSoftmax(a) || b->rank() != a->rank() ||
      !std::equal(a->shape.begin(), a->shape.end() - 2, b->shape.begin()))
    return nullptr;
  const bool isZeroForNaN = withoutNaN(a) != a;
  a = withoutNaN(a);
  // scale q k^T, or none.
  const auto productOf = [&](Value x) {
    const bool isScaled = x->op == ModelOp::Affine && x->dim < 0 && x->shift[0] == 0;
    const Value product = isScaled ? x->inputs[0] : x;
    const bool isOne = product->op == ModelOp::Matmul && x->shape == a->shape;
    return std::pair(isOne ? product : nullptr, isScaled ? x->scale[0] : 1.0);
  };
  const Value scores = a->inputs[0];
  auto [product, scale] = productOf(scores);
  Value mask = nullptr;
  if (scores->op == ModelOp::Add && scores->inputs.size() == 2)
    for (const auto& [p, q] : {std::pair(scores->inputs[0], scores->inputs[1]),
                               std::pair(scores->inputs[1], scores->inputs[0])})
      if (!product && productOf(p).first) {
        std::tie(product, scale) = productOf(p);
        mask = q;
      }
  if (scores->op == ModelOp::Where && scores->inputs[0]->isConstant())
    for (const auto& [p, q] : {std::pair(scores->inputs[1], scores->inputs[2]),
                               std::pair(scores->inputs[2], scores->inputs[1])})
      if (!product && productOf(p).first && isFilledWith(q, kNever)) {
        std::tie(product, scale) = productOf(p);
        const Value flags = scores->inputs[0];
        mask = addedMask(p == scores->inputs[1] ? flags : unary("not", flags));
      }
  const bool isKnown = mask && mask->isConstant() && !mask->constant->isTrained();
  if (!product || (!isZeroForNaN && isKnown && !leavesAllKeys(fold(mask))))
    return nullptr;
  return attention(product->inputs[0], turned(product->inputs[1]), b, scale, mask, false);
}

} // namespace tenon
