// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators with tensors of indices. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Only constant indices along one dimension can be imported: a layer has the
// same indices in every run.
#include "import/pt2/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues indexed(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.refuse(fmt::format("{} by a tensor of indices", operands.operation().type),
                   "an operator of an index map (TenonLinearOpCreateIndexMap) before the network",
                   x->shape)};
}
// Refuses an operator for which there is a substitute, named in `advice`.
ModelValues otherwise(ModelBuilder& b, const Operands& operands, const char* advice) {
  const ModelOperation& operation = operands.operation();
  return ModelValues(
      operation.results.size(),
      b.refuse(fmt::format("the operator {}", operation.type), advice, self(operands)->shape));
}
// Indexing by one list of constant indices.
ModelValues index(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const ModelValues indices = operands.values("indices");
  const auto isPresent = [](Value v) { return v != nullptr; };
  const auto list = std::find_if(indices.begin(), indices.end(), isPresent);
  if (std::count_if(indices.begin(), indices.end(), isPresent) == 1 && (*list)->isConstant() &&
      (*list)->rank() == 1 && !operands.isFlagItem("indices", list - indices.begin()))
    return {b.gather(x, static_cast<int>(list - indices.begin()), *list)};
  return indexed(b, operands, "");
}
// Selects constant indices of one dimension.
ModelValues indexSelect(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, operands, "");
  return {b.gather(x, b.dimension(operands.integer("dim"), x->rank()), places)};
}
// Indices must be equal in all other dimensions, so whole slices are selected.
ModelValues gather(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  const int d = b.dimension(operands.integer("dim"), x->rank());
  Shape shape = x->shape;
  b.check(places->rank() == x->rank(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  const Value list = places->shape == shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.gather(x, d, list)} : indexed(b, operands, "");
}
// Adds slices of the source at constant indices of one dimension.
ModelValues addAt(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  Value source = operands.needed("source");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, operands, "");
  if (operands.has("alpha"))
    source = b.binary("mul", source, operands.value("alpha"));
  return {b.scatterAdd(x, b.dimension(operands.integer("dim"), x->rank()), places, source)};
}
// Indices must be equal in all other dimensions.
ModelValues scatterAdd(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index"),
              source = operands.needed("src");
  const int d = b.dimension(operands.integer("dim"), x->rank());
  const Value list = places->shape == source->shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.scatterAdd(x, d, list, source)} : indexed(b, operands, "");
}
// Writes one number where a mask is true, or adds at constant indices of the first dimension.
ModelValues putAt(ModelBuilder& b, const Operands& operands, const char*) {
  const ModelValues indices = operands.values("indices");
  const Value x = self(operands), source = operands.needed("values");
  if (indices.size() == 1 && indices[0] && indices[0]->isConstant() && indices[0]->rank() == 1 &&
      !operands.isFlagItem("indices", 0) && operands.flag("accumulate", false) && x->rank() > 0) {
    Shape shape = x->shape;
    shape[0] = indices[0]->shape[0];
    return {b.scatterAdd(x, 0, indices[0], b.expand(source, shape))};
  }
  if (indices.size() != 1 || !indices[0] || !operands.isFlagItem("indices", 0) ||
      indices[0]->shape != x->shape || elements(source->shape) != 1 ||
      operands.flag("accumulate", false))
    return {b.refuse(fmt::format("{} by a tensor of indices", operands.operation().type),
                     "flags of the tensor's shape, and one number", x->shape)};
  return {b.where(indices[0], b.reshape(source, {}), x)};
}

} // namespace

std::span<const Pt2Row> pt2Places() {
  static constexpr Pt2Row rows[] = {
      {"gather", gather},         {"im2col", otherwise, "a convolution"},
      {"index", index},           {"index_add", addAt},
      {"index_put", putAt},       {"index_select", indexSelect},
      {"scatter_add", scatterAdd}};
  return rows;
}

} // namespace tenon
