// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's operators by tensors of indices. Only those that are constants and stand in one
// dimension have layers.
#include "import/pt2/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues indexed(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.refuse(fmt::format("{} by a tensor of indices", given.operation().type),
                   "an operator of an index map (TenonLinearOpCreateIndexMap) before the network",
                   x->shape)};
}
// What has no layer, though there is another way.
ModelValues otherwise(ModelBuilder& b, const Operands& given, const char* advice) {
  const ModelOperation& operation = given.operation();
  return ModelValues(
      operation.results.size(),
      b.refuse(fmt::format("the operator {}", operation.type), advice, self(given)->shape));
}
// By constant indices in one dimension.
ModelValues index(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const ModelValues indices = given.values("indices");
  const auto is = [](Value v) { return v != nullptr; };
  const auto one = std::find_if(indices.begin(), indices.end(), is);
  if (std::count_if(indices.begin(), indices.end(), is) == 1 && (*one)->isConstant() &&
      (*one)->rank() == 1 && !given.isFlagItem("indices", one - indices.begin()))
    return {b.gather(x, static_cast<int>(one - indices.begin()), *one)};
  return indexed(b, given, "");
}
ModelValues indexSelect(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, given, "");
  return {b.gather(x, b.dimension(given.integer("dim"), x->rank()), places)};
}
ModelValues gather(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  const int d = b.dimension(given.integer("dim"), x->rank());
  Shape shape = x->shape;
  b.check(places->rank() == x->rank(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  const Value list = places->shape == shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.gather(x, d, list)} : indexed(b, given, "");
}
ModelValues addAt(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  Value source = given.needed("source");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, given, "");
  if (given.has("alpha"))
    source = b.binary("mul", source, given.value("alpha"));
  return {b.scatterAdd(x, b.dimension(given.integer("dim"), x->rank()), places, source)};
}
// Places that are the same in all other dimensions.
ModelValues scatterAdd(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index"), source = given.needed("src");
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Value list = places->shape == source->shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.scatterAdd(x, d, list, source)} : indexed(b, given, "");
}
// Where flags hold; or added at constant places of the first dimension.
ModelValues putAt(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues indices = given.values("indices");
  const Value x = self(given), source = given.needed("values");
  if (indices.size() == 1 && indices[0] && indices[0]->isConstant() && indices[0]->rank() == 1 &&
      !given.isFlagItem("indices", 0) && given.flag("accumulate", false) && x->rank() > 0) {
    Shape shape = x->shape;
    shape[0] = indices[0]->shape[0];
    return {b.scatterAdd(x, 0, indices[0], b.expand(source, shape))};
  }
  if (indices.size() != 1 || !indices[0] || !given.isFlagItem("indices", 0) ||
      indices[0]->shape != x->shape || elements(source->shape) != 1 ||
      given.flag("accumulate", false))
    return {b.refuse(fmt::format("{} by a tensor of indices", given.operation().type),
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
