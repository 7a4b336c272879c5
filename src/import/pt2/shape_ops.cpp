// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's operators that give the same elements another shape or order, or ask for extents.
// Dimensions may be counted from the end.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues size(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const auto d = static_cast<std::size_t>(b.dimension(given.integer("dim"), x->rank()));
  return {b.number(static_cast<double>(x->shape[d]), true)};
}
ModelValues reshape(ModelBuilder& b, const Operands& given, const char*) {
  return {b.reshape(self(given), given.integers(given.has("shape") ? "shape" : "size", {}))};
}
ModelValues flatten(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int first = b.dimension(given.integer("start_dim", 0), x->rank());
  const int last = b.dimension(given.integer("end_dim", -1), x->rank());
  b.check(first <= last, "its dimensions are in the wrong order");
  Shape shape(x->shape.begin(), x->shape.begin() + first);
  shape.push_back(elements(Shape(x->shape.begin() + first, x->shape.begin() + last + 1)));
  shape.insert(shape.end(), x->shape.begin() + last + 1, x->shape.end());
  return {b.reshape(x, shape)};
}
ModelValues unflatten(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  std::vector<Index> sizes = given.integers("sizes", {}), shape = x->shape;
  const Index all = x->shape[static_cast<std::size_t>(d)];
  Index known = 1;
  for (const Index n : sizes)
    if (n != -1)
      known = n > 0 && known <= all / n ? known * n : all + 1; // more than there is
  for (Index& n : sizes)
    n = n == -1 ? all / std::max(known, Index(1)) : n;
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin() + d, sizes.begin(), sizes.end());
  return {b.reshape(x, shape)};
}
ModelValues expand(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(self(given), given.integers("size", {}))};
}
ModelValues expandAs(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(self(given), given.needed("other")->shape)};
}
ModelValues likeOther(ModelBuilder& b, const Operands& given, const char*) {
  return {b.reshape(self(given), given.needed("other")->shape)};
}
ModelValues unsqueeze(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  Shape shape = x->shape;
  shape.insert(shape.begin() + b.dimension(given.integer("dim"), x->rank() + 1), 1);
  return {b.reshape(x, shape)};
}
ModelValues squeeze(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  Shape shape;
  for (int d = 0; d < x->rank(); ++d) {
    const bool isNamed = !given.has("dim") || std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!isNamed || x->shape[static_cast<std::size_t>(d)] != 1)
      shape.push_back(x->shape[static_cast<std::size_t>(d)]);
  }
  return {b.reshape(x, shape)};
}
ModelValues permute(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> order;
  for (const Index d : given.integers("dims", {}))
    order.push_back(b.dimension(d, x->rank()));
  return {b.transpose(x, order)};
}
ModelValues transpose(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> order;
  for (int d = 0; d < x->rank(); ++d)
    order.push_back(d);
  if (x->rank() > 0)
    std::swap(order[static_cast<std::size_t>(b.dimension(given.integer("dim0", -1), x->rank()))],
              order[static_cast<std::size_t>(b.dimension(given.integer("dim1", -2), x->rank()))]);
  return {b.transpose(x, order)};
}
// Dimensions to other places, and the rest in its order.
ModelValues moveDimensions(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::vector<Index> from = given.integers("source", {}),
                           to = given.integers("destination", {});
  b.check(from.size() == to.size(), "its lists have different lengths");
  std::vector<int> order(static_cast<std::size_t>(x->rank()), -1);
  std::vector<bool> isMoved(order.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int d = b.dimension(from[i], x->rank());
    order[static_cast<std::size_t>(b.dimension(to[i], x->rank()))] = d;
    isMoved[static_cast<std::size_t>(d)] = true;
  }
  int next = 0;
  for (int& d : order) {
    while (d < 0 && next < x->rank() && isMoved[static_cast<std::size_t>(next)])
      ++next;
    d = d < 0 ? next++ : d;
  }
  return {b.transpose(x, order)};
}

} // namespace

std::span<const Pt2Row> pt2Shapes() {
  static constexpr Pt2Row rows[] = {
      {"_unsafe_view", reshape},   {"expand", expand},       {"expand_as", expandAs},
      {"flatten", flatten},        {"mT", transpose},        {"moveaxis", moveDimensions},
      {"movedim", moveDimensions}, {"permute", permute},     {"reshape", reshape},
      {"reshape_as", likeOther},   {"squeeze", squeeze},     {"swapaxes", transpose},
      {"sym_size", size},          {"t", transpose},         {"transpose", transpose},
      {"unflatten", unflatten},    {"unsqueeze", unsqueeze}, {"view", reshape},
      {"view_as", likeOther}};
  return rows;
}

} // namespace tenon
