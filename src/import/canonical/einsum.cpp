// SPDX-License-Identifier: BSD-2-Clause
// Sums over products, by the labels of dimensions. What one factor has alone is summed first, and
// then come products of matrices along the labels that both factors and the result have.
#include "import/canonical/model_builder.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace tenon {

// A sum over products, by the labels of dimensions: sums over what one factor has alone, and then
// products of matrices along the labels that both factors and the result have.
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
          "an equation has another number of labels than a factor dimensions");
    for (std::size_t d = 0; d < words[i].size(); ++d) {
      const char label = words[i][d];
      isKnown =
          isKnown && std::isalpha(static_cast<unsigned char>(label)) && words[i].find(label) == d;
      check(extents.emplace(label, factors[i]->shape[d]).first->second == factors[i]->shape[d],
            "the factors of an equation do not fit each other");
    }
  }
  for (std::size_t d = 0; isKnown && d < result.size(); ++d)
    isKnown = extents.contains(result[d]) && result.find(result[d]) == d;
  if (!isKnown)
    return refuse(fmt::format("einsum {}", equation),
                  "an equation with a result, and each label once in a factor", {1});
  Labelled made{factors[0], words[0]};
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

// Without the labels that nothing further has.
ModelBuilder::Labelled ModelBuilder::summed(const Labelled& x, const std::string& kept) {
  std::vector<int> dims;
  std::string labels;
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (kept.find(x.labels[d]) == kept.npos)
      dims.push_back(static_cast<int>(d));
    else
      labels += x.labels[d];
  return {dims.empty() ? x.value : reduce("sum", x.value, dims, false), labels};
}

ModelBuilder::Value ModelBuilder::ordered(const Labelled& x, const std::string& labels) {
  std::vector<int> permutation;
  for (const char label : labels)
    permutation.push_back(static_cast<int>(x.labels.find(label)));
  return transpose(x.value, permutation);
}

ModelBuilder::Labelled ModelBuilder::product(Labelled a, Labelled b, const std::string& kept) {
  a = summed(a, kept + b.labels);
  b = summed(b, kept + a.labels);
  const auto has = [](const std::string& labels, char c) { return labels.find(c) != labels.npos; };
  std::string along, rows, columns, sums;
  for (const char c : a.labels)
    (!has(b.labels, c) ? rows : has(kept, c) ? along : sums) += c;
  for (const char c : b.labels)
    if (!has(a.labels, c))
      columns += c;
  // Element by element, where no sum needs a matrix.
  if (sums.empty() || (rows.empty() && columns.empty())) {
    const std::string all = along + rows + columns + sums;
    const auto spread = [&](const Labelled& x) {
      std::string own;
      Shape shape;
      for (const char c : all) {
        own += has(x.labels, c) ? std::string(1, c) : "";
        shape.push_back(has(x.labels, c) ? x.value->shape[x.labels.find(c)] : 1);
      }
      return reshape(ordered(x, own), shape);
    };
    return summed({binary("mul", spread(a), spread(b)), all}, kept);
  }
  const auto extents = [](const Labelled& x, const std::string& labels) {
    Shape shape;
    for (const char c : labels)
      shape.push_back(x.value->shape[x.labels.find(c)]);
    return shape;
  };
  // As matrices along common dimensions.
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
  // What a weight multiplies stays a field.
  if (along.empty() && isWeight(b.value) && sums.size() == 1) {
    const Value weight = reshape(ordered(b, columns + sums),
                                 {elements(last), b.value->shape[b.labels.find(sums[0])]});
    return {reshape(linear(ordered(a, rows + sums), weight, nullptr), shape), rows + columns};
  }
  if (along.empty() && isWeight(a.value) && !isWeight(b.value) && sums.size() == 1) {
    Labelled made = product(std::move(b), std::move(a), kept);
    return made;
  }
  return {reshape(matmul(matrices(a, rows, sums), matrices(b, sums, columns)), shape),
          along + rows + columns};
}

} // namespace tenon
