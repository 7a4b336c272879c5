// SPDX-License-Identifier: BSD-2-Clause
// einsum, such as "nij,njk->nik" (sum over j of a[n,i,j] b[n,j,k]), as matrix products. A label,
// such as n, names a dimension of each factor that has it. Factors are multiplied from left to
// right. A label that occurs in one factor only, and not in the result, is summed first; labels of
// both factors and the result (n) become batch dimensions of the matrix product. In the example,
// product() computes
//   reshape a to [n, i, j] and b to [n, j, k]; matmul gives [n, i, k]
// The methods are members of ModelBuilder, which append operators to the canonical graph.
// ModelBuilder::einsum() is declared in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

namespace tenon {

namespace {

// An equation without spaces: the labels of each factor, and of the result if it has "->".
struct Equation {
  std::vector<std::string> factors;
  std::optional<std::string> result;
};

Equation parsed(const std::string& equation) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  Equation made = {split(text.substr(0, arrow), ','), std::nullopt};
  if (arrow != text.npos)
    made.result = text.substr(arrow + 2);
  return made;
}

// Without "->" the result has the labels that occur once, in alphabetical order after an ellipsis.
std::string impliedResult(const std::vector<std::string>& factors) {
  std::map<char, int> counts;
  bool hasEllipsis = false;
  for (const std::string& labels : factors) {
    hasEllipsis = hasEllipsis || labels.find('.') != labels.npos;
    for (const char c : labels)
      ++counts[c];
  }
  std::string result = hasEllipsis ? "..." : "";
  for (const auto& [label, count] : counts)
    if (count == 1 && label != '.')
      result += label;
  return result;
}

} // namespace

// Replaces "..." by labels that the equation does not use, aligned at the right: in a factor with k
// dimensions there, by the last k of them. A dimension of extent 1 that is longer in another factor
// is dropped, since it is broadcast. Returns false for an equation that is not valid.
bool ModelBuilder::withoutEllipsis(std::vector<std::string>& labels, std::string& result,
                                   ModelValues& factors) {
  constexpr std::string_view kEllipsis = "...";
  std::string pool;
  for (char c = 'A'; c <= 'Z'; ++c)
    if (result.find(c) == result.npos &&
        std::ranges::none_of(labels, [c](const std::string& l) { return l.find(c) != l.npos; }))
      pool += c;
  std::size_t longest = 0;
  Shape extents(pool.size(), 1); // of the labels of the pool, from the last
  const auto ellipsisOf = [&](std::size_t i) { return labels[i].find(kEllipsis); };
  const auto countOf = [&](std::size_t i) {
    return factors[i]->shape.size() + kEllipsis.size() - labels[i].size();
  };
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (ellipsisOf(i) == std::string::npos)
      continue;
    if (labels[i].size() > factors[i]->shape.size() + kEllipsis.size() || countOf(i) > pool.size())
      return false;
    longest = std::max(longest, countOf(i));
    for (std::size_t k = 0; k < countOf(i); ++k) {
      Index& extent = extents[k];
      extent = std::max(extent, factors[i]->shape[ellipsisOf(i) + countOf(i) - 1 - k]);
    }
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t first = ellipsisOf(i);
    if (first == std::string::npos)
      continue;
    std::string added;
    Shape shape = factors[i]->shape;
    for (std::size_t k = countOf(i); k-- > 0;)
      if (const std::size_t d = first + added.size(); shape[d] == 1 && extents[k] > 1)
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
      else
        added += pool[pool.size() - 1 - k];
    factors[i] = reshape(factors[i], shape);
    labels[i].replace(first, kEllipsis.size(), added);
  }
  if (const std::size_t first = result.find(kEllipsis); first != result.npos)
    result.replace(first, kEllipsis.size(), pool.substr(pool.size() - longest));
  return true;
}

// Replaces dimensions of a factor that have the same label by their diagonal: "nii" of [n, 3, 3]
// becomes "ni" of [n, 3]. A label can occur more than twice, so this is repeated.
ModelBuilder::Labelled ModelBuilder::withoutRepeats(Labelled x) {
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (const std::size_t first = x.labels.find(x.labels[d]); first < d) {
      const char label = x.labels[d];
      x.value = diagonal(x.value, static_cast<int>(first), static_cast<int>(d));
      std::erase(x.labels, label);
      x.labels += label;
      return withoutRepeats(x);
    }
  return x;
}

// The diagonal of square matrices becomes the last dimension: multiplies by the identity and sums
// rows.
ModelBuilder::Value ModelBuilder::diagonal(Value x, int first, int second) {
  const Index n = x->shape[static_cast<std::size_t>(first)];
  constexpr Index kMaxRows = 1024;
  if (x->shape[static_cast<std::size_t>(second)] != n || n > kMaxRows || first == second)
    return refuse("a diagonal of a matrix that is not square, or is large",
                  fmt::format("square matrices of at most {} rows", kMaxRows), x->shape);
  std::vector<int> order;
  for (int d = 0; d < x->ndim(); ++d)
    if (d != first && d != second)
      order.push_back(d);
  order.insert(order.end(), {first, second});
  std::vector<double> identity(static_cast<std::size_t>(n * n), 0);
  for (Index i = 0; i < n; ++i)
    identity[static_cast<std::size_t>(i * (n + 1))] = 1;
  const Value matrix = constant(ModelConstant::ofNumbers({n, n}, std::move(identity)));
  return reduce("sum", binary("mul", transpose(x, order), matrix), {x->ndim() - 1},
                /*keeps=*/false);
}

// Multiplies the factors from left to right. After each product, labels that neither later factors
// nor the result have are summed.
ModelBuilder::Value ModelBuilder::einsum(const std::string& equation, ModelValues factors) {
  if (const Value filter = filterProduct(equation, factors))
    return filter;
  const ModelValues asGiven = factors;
  const Equation read = parsed(equation);
  std::vector<std::string> factorLabels = read.factors;
  std::string result = read.result.value_or(impliedResult(factorLabels));
  bool isSupported = factorLabels.size() == factors.size() && !factors.empty() &&
                     withoutEllipsis(factorLabels, result, factors);
  std::map<char, Index> extents;
  for (std::size_t i = 0; isSupported && i < factorLabels.size(); ++i) {
    check(static_cast<int>(factorLabels[i].size()) == factors[i]->ndim(),
          "an equation has another number of labels than a factor dimensions");
    for (std::size_t d = 0; d < factorLabels[i].size(); ++d) {
      const char label = factorLabels[i][d];
      isSupported = isSupported && std::isalpha(static_cast<unsigned char>(label));
      check(extents.emplace(label, factors[i]->shape[d]).first->second == factors[i]->shape[d],
            "the factors of an equation do not fit each other");
    }
  }
  for (std::size_t d = 0; isSupported && d < result.size(); ++d)
    isSupported = extents.contains(result[d]) && result.find(result[d]) == d;
  if (!isSupported)
    return refuse(fmt::format("einsum {}", equation),
                  "an equation whose labels are alphabetic, each label of the result once", {1});
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Labelled plain = withoutRepeats({factors[i], factorLabels[i]});
    factors[i] = plain.value;
    factorLabels[i] = plain.labels;
  }
  Labelled partial{factors[0], factorLabels[0]};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::string later = result; // labels that are still needed after factor i
    for (std::size_t j = i + 1; j < factorLabels.size(); ++j)
      later += factorLabels[j];
    if (i > 0)
      partial = product(partial, {factors[i], factorLabels[i]}, later);
    partial = summed(partial, later);
  }
  const Value made = ordered(partial, result);
  noteWeightedInput(equation, asGiven, made);
  if (asGiven.size() == 2 && read.result)
    noteContraction(equation, asGiven[0], asGiven[1], made);
  return made;
}

// Sums over the labels that are not in `labelsToKeep`.
ModelBuilder::Labelled ModelBuilder::summed(const Labelled& x, const std::string& labelsToKeep) {
  std::vector<int> dims;
  std::string labels;
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (labelsToKeep.find(x.labels[d]) == labelsToKeep.npos)
      dims.push_back(static_cast<int>(d));
    else
      labels += x.labels[d];
  return {dims.empty() ? x.value : reduce("sum", x.value, dims, /*keeps=*/false), labels};
}

// Returns the value with its dimensions in the order of `labels`.
ModelBuilder::Value ModelBuilder::ordered(const Labelled& x, const std::string& labels) {
  std::vector<int> permutation;
  for (const char label : labels)
    permutation.push_back(static_cast<int>(x.labels.find(label)));
  return transpose(x.value, permutation);
}

// The labels of a product a b are sorted into four groups. In "nij,njk->nik" these are
//   along    in a, b and the result: n        rows   in a and the result: i
//   columns  in b and the result: k           sums   in a and b only: j
ModelBuilder::Labelled ModelBuilder::product(Labelled a, Labelled b,
                                             const std::string& labelsToKeep) {
  a = summed(a, labelsToKeep + b.labels);
  b = summed(b, labelsToKeep + a.labels);
  const auto has = [](const std::string& labels, char c) { return labels.find(c) != labels.npos; };
  std::string along, rows, columns, sums;
  for (const char c : a.labels)
    (!has(b.labels, c) ? rows : has(labelsToKeep, c) ? along : sums) += c;
  for (const char c : b.labels)
    if (!has(a.labels, c))
      columns += c;
  // If no sum needs a matrix product: elementwise, with extents of 1 for absent labels.
  if (sums.empty() || (rows.empty() && columns.empty())) {
    const std::string joinedLabels = along + rows + columns + sums;
    const auto spread = [&](const Labelled& x) {
      std::string ownLabels;
      Shape shape;
      for (const char c : joinedLabels) {
        ownLabels += has(x.labels, c) ? std::string(1, c) : "";
        shape.push_back(has(x.labels, c) ? x.value->shape[x.labels.find(c)] : 1);
      }
      return reshape(ordered(x, ownLabels), shape);
    };
    return summed({binary("mul", spread(a), spread(b)), joinedLabels}, labelsToKeep);
  }
  const auto extents = [](const Labelled& x, const std::string& labels) {
    Shape shape;
    for (const char c : labels)
      shape.push_back(x.value->shape[x.labels.find(c)]);
    return shape;
  };
  // Reshapes to matrices [along, first, second].
  const auto matrices = [&](const Labelled& x, const std::string& first,
                            const std::string& second) {
    Shape shape = extents(x, along);
    shape.push_back(elements(extents(x, first)));
    shape.push_back(elements(extents(x, second)));
    return reshape(ordered(x, along + first + second), shape);
  };
  Shape shape = extents(a, along + rows);
  const Shape last = extents(b, columns);
  shape.insert(shape.end(), last.begin(), last.end());
  // A weight becomes a linear layer, so the other factor stays a distributed field.
  if (along.empty() && isWeight(b.value) && sums.size() == 1) {
    const Value weight = reshape(ordered(b, columns + sums),
                                 {elements(last), b.value->shape[b.labels.find(sums[0])]});
    return {reshape(linear(ordered(a, rows + sums), weight, nullptr), shape), rows + columns};
  }
  // The weight is the first factor: the same with the factors exchanged.
  if (along.empty() && isWeight(a.value) && !isWeight(b.value) && sums.size() == 1)
    return product(std::move(b), std::move(a), labelsToKeep);
  return {reshape(matmul(matrices(a, rows, sums), matrices(b, sums, columns)), shape),
          along + rows + columns};
}

} // namespace tenon
