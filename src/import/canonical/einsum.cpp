// SPDX-License-Identifier: BSD-2-Clause
// einsum, such as "nij,njk->nik" (sum over j of a[n,i,j] b[n,j,k]), as matrix products. A label,
// such as n, names a dimension of each factor that has it. Factors are multiplied from left to
// right. A label that occurs in one factor only, and not in the result, is summed first; labels of
// both factors and the result (n) become batch dimensions of the matrix product. In the example,
// product() computes
//   reshape a to [n, i, j] and b to [n, j, k]; matmul gives [n, i, k]
// The methods are members of ModelBuilder, which append operators to the canonical graph.
#include "import/canonical/model_builder.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace tenon {

// Multiplies the factors from left to right. After each product, labels that neither later factors
// nor the result have are summed.
ModelBuilder::Value ModelBuilder::einsum(const std::string& equation, ModelValues factors) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> factorLabels = split(text.substr(0, arrow), ',');
  std::string result = arrow == text.npos ? "" : text.substr(arrow + 2);
  // Equations without "->", ellipses and repeated labels in one factor are refused.
  bool isSupported = arrow != text.npos && text.find('.') == text.npos &&
                     factorLabels.size() == factors.size() && !factors.empty();
  std::map<char, Index> extents;
  for (std::size_t i = 0; isSupported && i < factorLabels.size(); ++i) {
    check(static_cast<int>(factorLabels[i].size()) == factors[i]->rank(),
          "an equation has another number of labels than a factor dimensions");
    for (std::size_t d = 0; d < factorLabels[i].size(); ++d) {
      const char label = factorLabels[i][d];
      isSupported = isSupported && std::isalpha(static_cast<unsigned char>(label)) &&
                    factorLabels[i].find(label) == d;
      check(extents.emplace(label, factors[i]->shape[d]).first->second == factors[i]->shape[d],
            "the factors of an equation do not fit each other");
    }
  }
  for (std::size_t d = 0; isSupported && d < result.size(); ++d)
    isSupported = extents.contains(result[d]) && result.find(result[d]) == d;
  if (!isSupported)
    return refuse(fmt::format("einsum {}", equation),
                  "an equation with a result, and each label once in a factor", {1});
  Labelled partial{factors[0], factorLabels[0]};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::string later = result; // labels that are still needed after factor i
    for (std::size_t j = i + 1; j < factorLabels.size(); ++j)
      later += factorLabels[j];
    if (i > 0)
      partial = product(partial, {factors[i], factorLabels[i]}, later);
    partial = summed(partial, later);
  }
  return ordered(partial, result);
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
  if (along.empty() && isWeight(a.value) && !isWeight(b.value) && sums.size() == 1) {
    Labelled swapped = product(std::move(b), std::move(a), labelsToKeep);
    return swapped;
  }
  return {reshape(matmul(matrices(a, rows, sums), matrices(b, sums, columns)), shape),
          along + rows + columns};
}

} // namespace tenon
