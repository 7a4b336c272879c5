// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators with tensors of indices. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Elements at constant indices are moved; at indices that are computed, or are
// inputs, they are sums over all elements of a dimension with flags.
#include "import/pt2/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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
// Constant indices of one or several dimensions, broadcast to one shape, as PyTorch reads them: the
// indexed dimensions are merged to one, of which a list selects elements.
struct Lists {
  std::vector<int> order;           // the dimensions, with the indexed ones adjacent
  std::size_t first = 0, count = 0; // the indexed dimensions in that order
  Shape shape;                      // of the indices
  std::vector<Index> places;        // in the merged dimension
};
// Returns none if the indices are not constant integers.
std::optional<Lists> listsOf(ModelBuilder& b, const Operands& operands, Value x) {
  const ModelValues indices = operands.values("indices");
  std::vector<int> indexed, others;
  Lists lists;
  for (int d = 0; d < x->ndim(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const Value list = i < indices.size() ? indices[i] : nullptr;
    if (list && (!list->isKnown() || operands.isFlagItem("indices", d)))
      return std::nullopt;
    (list ? indexed : others).push_back(d);
    if (list)
      lists.shape = b.broadcast(lists.shape, list->shape);
  }
  if (indexed.empty() || indices.size() > x->shape.size())
    return std::nullopt;
  // Dimensions that are not adjacent come first in the result.
  const bool areAdjacent = indexed.back() - indexed.front() + 1 == static_cast<int>(indexed.size());
  lists.first = areAdjacent ? static_cast<std::size_t>(indexed.front()) : 0;
  lists.count = indexed.size();
  lists.order = others;
  lists.order.insert(lists.order.begin() + static_cast<std::ptrdiff_t>(lists.first),
                     indexed.begin(), indexed.end());
  lists.places.assign(static_cast<std::size_t>(elements(lists.shape)), 0);
  for (const int d : indexed) {
    const Index n = x->shape[static_cast<std::size_t>(d)];
    const std::vector<Index> numbers = b.integersOf(
        b.expand(indices[static_cast<std::size_t>(d)], lists.shape), "a list of indices");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      b.check(numbers[i] >= -n && numbers[i] < n, "an index is out of range");
      lists.places[i] = lists.places[i] * n + (numbers[i] < 0 ? numbers[i] + n : numbers[i]);
    }
  }
  return lists;
}
// x with the indexed dimensions merged.
Value merged(ModelBuilder& b, Value x, const Lists& lists) {
  x = b.transpose(x, lists.order);
  const auto begin = x->shape.begin() + static_cast<std::ptrdiff_t>(lists.first),
             end = begin + static_cast<std::ptrdiff_t>(lists.count);
  Shape shape(x->shape.begin(), begin);
  shape.push_back(elements(Shape(begin, end)));
  shape.insert(shape.end(), end, x->shape.end());
  return b.reshape(x, shape);
}
// The shape of x with `part` in place of the merged dimension.
Shape withPart(const Value& x, const Lists& lists, const Shape& part) {
  Shape shape = x->shape;
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(lists.first));
  shape.insert(at, part.begin(), part.end());
  return shape;
}
// One list of indices that are computed; no flags.
ModelValues computedIndex(ModelBuilder& b, const Operands& operands, Value x) {
  const ModelValues indices = operands.values("indices");
  int d = -1;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i]) {
      if (d >= 0 || operands.isFlagItem("indices", static_cast<int>(i)))
        return indexed(b, operands, "");
      d = static_cast<int>(i);
    }
  return d < 0 ? indexed(b, operands, "")
               : ModelValues{b.taken(x, d, indices[static_cast<std::size_t>(d)])};
}
ModelValues index(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const std::optional<Lists> lists = listsOf(b, operands, x);
  if (!lists)
    return computedIndex(b, operands, x);
  const Value from = merged(b, x, *lists);
  return {b.reshape(b.gather(from, static_cast<int>(lists->first), b.integers(lists->places)),
                    withPart(from, *lists, lists->shape))};
}
// Elements at indices of the flattened tensor.
ModelValues take(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  const Value flat = b.reshape(x, {elements(x->shape)}),
              list = b.reshape(places, {elements(places->shape)});
  return {b.reshape(places->isKnown() ? b.gather(flat, 0, list) : b.taken(flat, 0, list),
                    places->shape)};
}
// Selects constant indices of one dimension.
ModelValues indexSelect(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  if (places->ndim() != 1)
    return indexed(b, operands, "");
  return {places->isConstant() ? b.gather(x, d, places) : b.taken(x, d, places)};
}
// Whole slices if constant indices are equal in all other dimensions.
ModelValues gather(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  Shape shape = x->shape;
  b.check(places->ndim() == x->ndim(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  const bool isOfSlices = places->isKnown() && places->shape == shape;
  const Value list = isOfSlices ? b.placesAlong(places, d) : nullptr;
  return {list ? b.gather(x, d, list) : b.takenAlong(x, d, places)};
}
// The same with indices and elements that are broadcast in the other dimensions.
ModelValues takeAlong(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("indices");
  if (!operands.has("dim") || places->ndim() != x->ndim())
    return indexed(b, operands, "");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const auto at = static_cast<std::size_t>(d);
  Shape from = x->shape, to = places->shape;
  from[at] = to[at] = 1;
  from = to = b.broadcast(from, to);
  from[at] = x->shape[at];
  to[at] = places->shape[at];
  return {b.takenAlong(b.expand(x, from), d, b.expand(places, to))};
}
// Adds slices of the source at indices of one dimension.
ModelValues addAt(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  Value source = operands.needed("source");
  if (places->ndim() != 1)
    return indexed(b, operands, "");
  if (operands.has("alpha"))
    source = b.binary("mul", source, operands.value("alpha"));
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  if (places->isConstant())
    return {b.scatterAdd(x, d, places, source)};
  Shape list(x->shape.size(), 1);
  list[static_cast<std::size_t>(d)] = places->shape[0];
  return {b.addedAlong(x, d, b.reshape(places, list), source)};
}
// Whole slices if constant indices are equal in all other dimensions.
ModelValues scatterAdd(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index"),
              source = operands.needed("src");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  if (places->shape != source->shape)
    return indexed(b, operands, "");
  const Value list = places->isKnown() ? b.placesAlong(places, d) : nullptr;
  return {list ? b.scatterAdd(x, d, list, source) : b.addedAlong(x, d, places, source)};
}
// Writes slices at constant indices of one dimension.
ModelValues copyAt(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  if (places->ndim() > 1 || !places->isKnown())
    return indexed(b, operands, "");
  return {b.scatter(x, b.dimension(operands.integer("dim"), x->ndim()),
                    b.reshape(places, {elements(places->shape)}), operands.needed("source"))};
}
// Writes one number at constant indices of one dimension.
ModelValues fillAt(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  if (places->ndim() > 1 || !places->isKnown())
    return indexed(b, operands, "");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  std::vector<double> flags(static_cast<std::size_t>(n), 0);
  for (const Index place : b.integersOf(places, "a list of indices")) {
    b.check(place >= -n && place < n, "an index is out of range");
    flags[static_cast<std::size_t>(place < 0 ? place + n : place)] = 1;
  }
  Shape shape(x->shape.size(), 1);
  shape[static_cast<std::size_t>(d)] = n;
  return {b.where(b.constant(ModelConstant::ofNumbers(shape, std::move(flags))),
                  operands.needed("value"), x)};
}
// The positions in x, in row-major order, of the places that constant indices of a dimension name.
std::vector<Index> positionsAlong(ModelBuilder& b, Value x, int d, Value places) {
  const std::vector<Index> numbers = b.integersOf(places, "a list of indices");
  const Index n = x->shape[static_cast<std::size_t>(d)];
  std::vector<Index> positions;
  forEachPlace(places->shape, [&](const std::vector<Index>& index, Index at) {
    const Index number = numbers[static_cast<std::size_t>(at)];
    b.check(number >= -n && number < n, "an index is out of range");
    Index position = 0;
    for (int i = 0; i < x->ndim(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      position = position * x->shape[place] + (i != d       ? index[place]
                                               : number < 0 ? number + n
                                                            : number);
    }
    positions.push_back(position);
  });
  return positions;
}
// Writes elements, or one number, at indices of one dimension. Elements can be written at computed
// indices if there is one along the dimension: no two are then written to one place.
ModelValues writeAt(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), places = operands.needed("index");
  const bool isNumber = operands.has("value");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const auto at = static_cast<std::size_t>(d);
  b.check(places->ndim() == x->ndim(), "its indices have another number of dimensions");
  Value source = operands.needed(isNumber ? "value" : "src");
  if (isNumber)
    source = b.expand(b.reshape(source, Shape(x->shape.size(), 1)), places->shape);
  for (int i = 0; i < x->ndim(); ++i)
    source = b.slice(source, i, 0, places->shape[static_cast<std::size_t>(i)]);
  if (places->isKnown() && !isNumber)
    return {b.scatterElements(x, positionsAlong(b, x, d, places), source, /*adds=*/false)};
  Shape across = x->shape;
  across[at] = places->shape[at];
  if (places->shape != across || (!isNumber && across[at] != 1))
    return indexed(b, operands, "");
  const auto sums = [&](Value v) { return b.addedAlong(b.zeros(x->shape), d, places, v); };
  const Value isWritten = b.compare("gt", sums(b.expand(b.number(1), places->shape)), b.number(0));
  return {b.where(isWritten, isNumber ? operands.needed("value") : sums(source), x)};
}
// Writes or adds at constant indices.
ModelValues putAtLists(ModelBuilder& b, const Operands& operands, const Lists& lists) {
  const Value x = self(operands), to = merged(b, x, lists);
  const auto count = static_cast<Index>(lists.places.size());
  const int d = static_cast<int>(lists.first);
  const Value source =
      b.reshape(b.expand(operands.needed("values"), withPart(to, lists, lists.shape)),
                withPart(to, lists, {count}));
  const Value places = b.integers(lists.places);
  const Value result = operands.flag("accumulate", false) ? b.scatterAdd(to, d, places, source)
                                                          : b.scatter(to, d, places, source);
  std::vector<int> inverse(lists.order.size());
  Shape shape;
  for (std::size_t i = 0; i < lists.order.size(); ++i) {
    inverse[static_cast<std::size_t>(lists.order[i])] = static_cast<int>(i);
    shape.push_back(x->shape[static_cast<std::size_t>(lists.order[i])]);
  }
  return {b.transpose(b.reshape(result, shape), inverse)};
}
// Writes one number where a mask is true, or writes or adds at constant indices.
ModelValues putAt(ModelBuilder& b, const Operands& operands, const char*) {
  const ModelValues indices = operands.values("indices");
  const Value x = self(operands), source = operands.needed("values");
  if (const std::optional<Lists> lists = listsOf(b, operands, x))
    return putAtLists(b, operands, *lists);
  if (indices.size() != 1 || !indices[0] || !operands.isFlagItem("indices", 0) ||
      indices[0]->shape != x->shape || elements(source->shape) != 1 ||
      operands.flag("accumulate", false))
    return {b.refuse(fmt::format("{} by a tensor of indices", operands.operation().type),
                     "flags of the tensor's shape, and one number", x->shape)};
  return {b.where(indices[0], b.reshape(source, {}), x)};
}

} // namespace

std::span<const Pt2Row> pt2Places() {
  static constexpr Pt2Row rows[] = {{"gather", gather},
                                    {"index", index},
                                    {"index_add", addAt},
                                    {"index_copy", copyAt},
                                    {"index_fill", fillAt},
                                    {"index_put", putAt},
                                    {"index_select", indexSelect},
                                    {"scatter", writeAt},
                                    {"scatter_add", scatterAdd},
                                    {"take", take},
                                    {"take_along_dim", takeAlong}};
  return rows;
}

} // namespace tenon
