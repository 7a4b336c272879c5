// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: reshapes, transposes, and extents. Each function reads the arguments of an
// operation by name (Operands) and appends values to the canonical graph by the builder b; self()
// is the first argument. The table at the end has a row per family of operators: name, function,
// and the function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). Negative dimensions are counted from the end.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues size(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const auto d = static_cast<std::size_t>(b.dimension(operands.integer("dim"), x->ndim()));
  return {b.number(static_cast<double>(x->shape[d]), true)};
}
ModelValues reshape(ModelBuilder& b, const Operands& operands, const char*) {
  return {
      b.reshape(self(operands), operands.integers(operands.has("shape") ? "shape" : "size", {}))};
}
// Merges the dimensions first ... last.
ModelValues flatten(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int first = b.dimension(operands.integer("start_dim", 0), x->ndim());
  const int last = b.dimension(operands.integer("end_dim", -1), x->ndim());
  b.check(first <= last, "its dimensions are in the wrong order");
  Shape shape(x->shape.begin(), x->shape.begin() + first);
  shape.push_back(elements(Shape(x->shape.begin() + first, x->shape.begin() + last + 1)));
  shape.insert(shape.end(), x->shape.begin() + last + 1, x->shape.end());
  return {b.reshape(x, shape)};
}
// Divides one dimension into several; one of the sizes can be -1.
ModelValues unflatten(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  std::vector<Index> sizes = operands.integers("sizes", {}), shape = x->shape;
  const Index extent = x->shape[static_cast<std::size_t>(d)];
  Index product = 1;
  for (const Index n : sizes)
    if (n != -1)
      // Beyond the extent, if they do not divide it.
      product = n > 0 && product <= extent / n ? product * n : extent + 1;
  for (Index& n : sizes)
    n = n == -1 ? extent / std::max(product, Index(1)) : n;
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin() + d, sizes.begin(), sizes.end());
  return {b.reshape(x, shape)};
}
ModelValues expand(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.expand(self(operands), operands.integers("size", {}))};
}
ModelValues expandAs(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.expand(self(operands), operands.needed("other")->shape)};
}
ModelValues expandAll(ModelBuilder& b, const Operands& operands, const char*) {
  ModelValues values = operands.values("tensors");
  Shape shape;
  for (const Value value : values) {
    b.check(value != nullptr, "it has an absent tensor");
    shape = b.broadcast(shape, value->shape);
  }
  for (Value& value : values)
    value = b.expand(value, shape);
  return values;
}
ModelValues likeOther(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.reshape(self(operands), operands.needed("other")->shape)};
}
ModelValues unsqueeze(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  Shape shape = x->shape;
  shape.insert(shape.begin() + b.dimension(operands.integer("dim"), x->ndim() + 1), 1);
  return {b.reshape(x, shape)};
}
// Drops the named dimensions of extent 1, or all of them.
ModelValues squeeze(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<int> dims;
  for (const Index d : operands.integers("dim", {}))
    dims.push_back(b.dimension(d, x->ndim()));
  Shape shape;
  for (int d = 0; d < x->ndim(); ++d) {
    const bool isNamed =
        !operands.has("dim") || std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!isNamed || x->shape[static_cast<std::size_t>(d)] != 1)
      shape.push_back(x->shape[static_cast<std::size_t>(d)]);
  }
  return {b.reshape(x, shape)};
}
// A permutation of all dimensions.
ModelValues permute(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<int> order;
  for (const Index d : operands.integers("dims", {}))
    order.push_back(b.dimension(d, x->ndim()));
  return {b.transpose(x, order)};
}
// Without arguments (t, mT) the last two dimensions are exchanged; t leaves a vector as it is.
ModelValues transpose(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<int> order;
  for (int d = 0; d < x->ndim(); ++d)
    order.push_back(d);
  // swapaxes has other names than transpose and swapdims.
  const bool hasAxes = operands.has("axis0");
  const Index first = operands.integer(hasAxes ? "axis0" : "dim0", -1),
              second = operands.integer(hasAxes ? "axis1" : "dim1", x->ndim() > 1 ? -2 : -1);
  if (x->ndim() > 0)
    std::swap(order[static_cast<std::size_t>(b.dimension(first, x->ndim()))],
              order[static_cast<std::size_t>(b.dimension(second, x->ndim()))]);
  return {b.transpose(x, order)};
}
// All dimensions in the reverse order.
ModelValues reversed(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<int> order;
  for (int d = x->ndim(); d-- > 0;)
    order.push_back(d);
  return {b.transpose(x, order)};
}
ModelValues adjoint(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.conjugated(transpose(b, operands, variant)[0])};
}
ModelValues flattenAll(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.reshape(self(operands), {-1})};
}
// Turns the plane of two dimensions k times by 90 degrees, from the first towards the second.
ModelValues turn(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const std::vector<Index> dims = operands.integers("dims", {0, 1});
  b.check(dims.size() == 2, "it turns a plane of two dimensions");
  const int first = b.dimension(dims[0], x->ndim()), second = b.dimension(dims[1], x->ndim());
  b.check(first != second, "it turns a plane of two dimensions");
  std::vector<int> order;
  for (int d = 0; d < x->ndim(); ++d)
    order.push_back(d == first ? second : d == second ? first : d);
  switch ((operands.integer("k", 1) % 4 + 4) % 4) {
  case 1:
    return {b.transpose(b.flip(x, second), order)};
  case 2:
    return {b.flip(b.flip(x, first), second)};
  case 3:
    return {b.flip(b.transpose(x, order), second)};
  default:
    return {x};
  }
}
// Channels in the order of their numbers in each group: [groups, n] becomes [n, groups].
ModelValues shuffleChannels(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const Index groups = operands.integer("groups");
  b.check(x->ndim() >= 2 && groups >= 1 && x->shape[1] % groups == 0,
          "its groups do not divide the channels");
  Shape shape = x->shape;
  shape[1] /= groups;
  shape.insert(shape.begin() + 1, groups);
  std::vector<int> order;
  for (int d = 0; d <= x->ndim(); ++d)
    order.push_back(d);
  std::swap(order[1], order[2]);
  return {b.reshape(b.transpose(b.reshape(x, shape), order), x->shape)};
}
// Moves dimensions to other positions; the rest keep their order.
ModelValues moveDimensions(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const std::vector<Index> from = operands.integers("source", {}),
                           to = operands.integers("destination", {});
  b.check(from.size() == to.size(), "its lists have different lengths");
  std::vector<int> order(static_cast<std::size_t>(x->ndim()), -1);
  std::vector<bool> isMoved(order.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int d = b.dimension(from[i], x->ndim());
    order[static_cast<std::size_t>(b.dimension(to[i], x->ndim()))] = d;
    isMoved[static_cast<std::size_t>(d)] = true;
  }
  int next = 0;
  for (int& d : order) {
    while (d < 0 && next < x->ndim() && isMoved[static_cast<std::size_t>(next)])
      ++next;
    d = d < 0 ? next++ : d;
  }
  return {b.transpose(x, order)};
}

} // namespace

std::span<const Pt2Row> pt2Shapes() {
  static constexpr Pt2Row rows[] = {{"_unsafe_view", reshape},
                                    {"adjoint", adjoint},
                                    {"broadcast_tensors", expandAll},
                                    {"broadcast_to", expand},
                                    {"channel_shuffle", shuffleChannels},
                                    {"expand", expand},
                                    {"expand_as", expandAs},
                                    {"flatten", flatten},
                                    {"mH", adjoint},
                                    {"mT", transpose},
                                    {"matrix_H", adjoint},
                                    {"moveaxis", moveDimensions},
                                    {"movedim", moveDimensions},
                                    {"native_channel_shuffle", shuffleChannels},
                                    {"numpy_T", reversed},
                                    {"permute", permute},
                                    {"ravel", flattenAll},
                                    {"reshape", reshape},
                                    {"reshape_as", likeOther},
                                    {"rot90", turn},
                                    {"squeeze", squeeze},
                                    {"swapaxes", transpose},
                                    {"swapdims", transpose},
                                    {"sym_size", size},
                                    {"t", transpose},
                                    {"transpose", transpose},
                                    {"unflatten", unflatten},
                                    {"unsqueeze", unsqueeze},
                                    {"view", reshape},
                                    {"view_as", likeOther}};
  return rows;
}

} // namespace tenon
