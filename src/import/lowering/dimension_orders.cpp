// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper that emit the transposes and reshapes which bring a node's dimensions into the
// order that a layer needs. An order lists, for each dimension of the node, the dimension of the
// value, or kAdded for an added dimension of extent 1 (mapper.hpp). A node [c, h, n, w] of a value
// [n, c, h, w] has the order {1, 2, 0, 3}.
//   the same dimensions in another sequence                   transpose
//   the same sequence, but other dimensions of extent 1       reshape
//   both differ                                               transpose, reshape, transpose
// Where possible, dimensions of extent 1 are added and dropped behind the others: the settings of
// the reshape then do not depend on the extents of the run. A reorder of a reorder is replaced by
// one reorder of the first one's source.
#include "import/lowering/mapper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

Mapper::Order Mapper::plainOrder(int rank) {
  Order order(at(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool Mapper::isAll(const std::vector<Index>& numbers, Index value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](Index n) { return n == value; });
}

int Mapper::positionOf(const OrderedNode& value, int dim) {
  const auto found = std::find(value.order.begin(), value.order.end(), dim);
  return found == value.order.end() ? -1 : static_cast<int>(found - value.order.begin());
}

Shape Mapper::extentsIn(const Shape& shape, const Order& order) {
  Shape extents;
  for (const int o : order)
    extents.push_back(o == kAdded ? 1 : shape[at(o)]);
  return extents;
}

int Mapper::nodeInOrder(Value v, const Order& order) {
  const OrderedNode source = nodeOf(v);
  return source.isRefused() ? kNoNode : reorderedNode(source.node, source.order, v->shape, order);
}

int Mapper::reorderedNode(int node, const Order& currentOrder, const Shape& shape,
                          const Order& order) {
  if (currentOrder == order)
    return node;
  Order currentDims = currentOrder, wantedDims = order;
  std::sort(currentDims.begin(), currentDims.end());
  std::sort(wantedDims.begin(), wantedDims.end());
  if (currentDims == wantedDims)
    return transposedNode(node, currentOrder, order);
  const Order batchAndChannels = {0, 1};
  if (order == batchAndChannels && currentOrder.size() > 2 &&
      std::equal(batchAndChannels.begin(), batchAndChannels.end(), currentOrder.begin()))
    return emit({node}, "flatten"); // [n, c, 1, 1] -> [n, c]
  if (isSameSequence(currentOrder, order) && movedPlaces(currentOrder, order) <= 1)
    return reshapedNode(node, extentsIn(shape, currentOrder), extentsIn(shape, order));
  // General case: transpose the common dimensions into their new sequence with dropped ones last,
  // reshape to drop those and append added ones, transpose those to their positions.
  // Example: {0, kAdded, 1} to {1, 2, 0} has common {1, 0}, dropped {kAdded}, added {2}.
  Order dropped = currentOrder, common, added;
  for (const int o : order)
    if (const auto found = std::find(dropped.begin(), dropped.end(), o); found != dropped.end()) {
      common.push_back(o);
      dropped.erase(found);
    } else {
      added.push_back(o);
    }
  Order middle = common;
  middle.insert(middle.end(), dropped.begin(), dropped.end());
  node = transposedNode(node, currentOrder, middle);
  Order after = common;
  after.insert(after.end(), added.begin(), added.end());
  node = reshapedNode(node, extentsIn(shape, middle), extentsIn(shape, after));
  return transposedNode(node, after, order);
}

int Mapper::transposedNode(int node, const Order& currentOrder, const Order& order) {
  if (currentOrder == order)
    return node;
  // All added dimensions are -1 in an order, so mark the positions of currentOrder that are used.
  std::vector<bool> isUsed(currentOrder.size(), false);
  std::vector<Index> permutation;
  for (const int o : order)
    for (std::size_t k = 0; k < currentOrder.size(); ++k)
      if (currentOrder[k] == o && !isUsed[k]) {
        isUsed[k] = true;
        permutation.push_back(static_cast<Index>(k));
        break;
      }
  if (const auto found = transposes_.find(node); found != transposes_.end()) {
    const auto& [source, before] = found->second;
    for (Index& d : permutation)
      d = before[at(static_cast<int>(d))];
    node = source;
  }
  if (std::is_sorted(permutation.begin(), permutation.end()))
    return node;
  const int result = emit({node}, "transpose", {{"permutation", permutation}});
  transposes_.insert_or_assign(result, std::pair(node, permutation));
  return result;
}

std::ptrdiff_t Mapper::movedPlaces(const Order& currentOrder, const Order& order) {
  std::ptrdiff_t moved = 0;
  for (std::size_t d = 0; d < order.size(); ++d) {
    const bool isCommon = order[d] != kAdded && std::find(currentOrder.begin(), currentOrder.end(),
                                                          order[d]) != currentOrder.end();
    moved += isCommon && (d >= currentOrder.size() || currentOrder[d] != order[d]);
  }
  return moved;
}

bool Mapper::isSameSequence(const Order& currentOrder, const Order& order) {
  const auto commonDims = [](const Order& first, const Order& second) {
    Order common;
    for (const int o : first)
      if (o != kAdded && std::find(second.begin(), second.end(), o) != second.end())
        common.push_back(o);
    return common;
  };
  return commonDims(currentOrder, order) == commonDims(order, currentOrder);
}

// The setting of a reshape has 0 for unchanged extents and -1 for the largest other extent, which
// the layer computes. So most settings are valid for any batch size.
int Mapper::reshapedNode(int node, const Shape& from, const Shape& to) {
  if (const auto found = reshapes_.find(node); found != reshapes_.end()) {
    const auto [source, before] = found->second;
    return reshapedNode(source, before, to);
  }
  if (from == to)
    return node;
  const int result = emit({node}, "reshape", {{"shape", reshapeSetting(from, to)}});
  reshapes_.insert_or_assign(result, std::pair(node, from));
  return result;
}

std::ptrdiff_t Mapper::fixedExtents(const Shape& setting) {
  return std::count_if(setting.begin(), setting.end(), [](Index n) { return n > 1; });
}

Shape Mapper::reshapeSetting(const Shape& from, const Shape& to) {
  Shape shape = to;
  const Index count = elements(to);
  std::size_t unknownDim = to.size();
  for (std::size_t d = 0; d < to.size(); ++d)
    if (d < from.size() && from[d] == to[d])
      shape[d] = to[d] == 1 ? 1 : 0;
    else if (to[d] > 1 && (unknownDim == to.size() || to[d] > to[unknownDim]))
      unknownDim = d;
  if (count > 0 && unknownDim < to.size())
    shape[unknownDim] = -1;
  return shape;
}

Mapper::OrderedNode Mapper::withChannel(Value v, int dim) {
  const OrderedNode source = nodeOf(v);
  if (source.isRefused() || (source.order.size() > 1 && source.order[1] == dim))
    return source;
  Order order = source.order;
  std::erase(order, dim);
  if (order.empty())
    order.push_back(kAdded); // a batch of one
  order.insert(order.begin() + 1, dim);
  return {reorderedNode(source.node, source.order, v->shape, order), order};
}

// Dimensions other than the channels keep their order.
Mapper::OrderedNode Mapper::withChannel(Value v, int dim, std::size_t rank) {
  const OrderedNode source = nodeOf(v);
  if (source.isRefused())
    return source;
  Order order = source.order;
  for (const int droppedDim : {kAdded, dim})
    std::erase(order, droppedDim);
  for (int d = 0; d < v->ndim(); ++d)
    if (d != dim && std::find(order.begin(), order.end(), d) == order.end())
      order.push_back(d);
  if (order.empty())
    order.push_back(kAdded);
  order.insert(order.begin() + 1, dim);
  order.resize(std::max(order.size(), rank), kAdded);
  return {reorderedNode(source.node, source.order, v->shape, order), order};
}

Mapper::JoinInputs Mapper::joinInputs(const ModelValue& v) {
  JoinInputs result{.nodes = {}, .order = plainOrder(v.ndim())};
  // Use the order of the first input that has all dimensions of the result whose extent is not 1.
  bool isFound = false;
  int like = -1; // node whose layout constants get
  // Dimension d of an input corresponds to dimension d + offset of the result (numpy's rule).
  const auto offsetOf = [&](Value input) { return v.ndim() - input->ndim(); };
  for (const Value input : v.inputs) {
    if (input->isConstant())
      continue;
    const OrderedNode x = nodeOf(input);
    result.isRefused = result.isRefused || x.isRefused();
    Order order = x.order;
    for (int& o : order)
      o = o == kAdded ? kAdded : o + offsetOf(input);
    bool hasAll = true;
    for (int d = 0; d < v.ndim(); ++d)
      hasAll = hasAll && (v.shape[at(d)] == 1 ||
                          (d >= offsetOf(input) && input->shape[at(d - offsetOf(input))] != 1));
    if (!isFound && (hasAll || like == -1))
      like = x.node;
    if (!isFound && hasAll) {
      result.order = order;
      isFound = true;
    }
  }
  if (result.isRefused)
    return result;
  for (const Value input : v.inputs) {
    if (input->isKnown()) {
      result.nodes.push_back(constantIn(input, v.ndim(), result.order, like));
      continue;
    }
    const OrderedNode x = nodeOf(input);
    Order order = x.order;
    for (int& o : order)
      o = o == kAdded ? kAdded : o + offsetOf(input);
    Shape shape(at(offsetOf(input)), 1);
    shape.insert(shape.end(), input->shape.begin(), input->shape.end());
    result.nodes.push_back(reorderedNode(x.node, order, shape, result.order));
  }
  return result;
}

int Mapper::constantIn(Value v, int rank, const Order& order, int like) {
  Shape shape(at(rank - v->ndim()), 1);
  shape.insert(shape.end(), v->shape.begin(), v->shape.end());
  // Permute its dimensions to the order; dimensions that the order lacks have extent 1 and come
  // last.
  std::vector<int> permutation;
  for (const int o : order)
    if (o != kAdded)
      permutation.push_back(o);
  for (int d = 0; d < rank; ++d)
    if (std::find(permutation.begin(), permutation.end(), d) == permutation.end())
      permutation.push_back(d);
  const ModelConstant wide = shaped(v->asConstant(), shape);
  return constantNode(shaped(wide.transposed(permutation), extentsIn(shape, order)), like);
}

// A constant with equal elements needs no storage: the number is a setting.
int Mapper::constantNode(const ModelConstant& constant, int like) {
  if (constant.isNumbers() && constant.name().empty() && !constant.numbers().empty()) {
    const std::vector<double>& numbers = constant.numbers();
    if (std::isfinite(numbers[0]) && isAllOf(numbers, numbers[0]))
      return emit({like}, "constant", {{"shape", constant.shape()}, {"value", numbers[0]}},
                  /*name=*/"", /*parameters=*/{}, /*isFrozen=*/true);
  }
  return emit({like}, "constant", {{"shape", constant.shape()}}, /*name=*/"", {{"value", constant}},
              /*isFrozen=*/true);
}

ModelConstant Mapper::shaped(const ModelConstant& constant, const Shape& shape) const {
  const auto recipe = constant.reshaped(shape);
  return recipe ? *recipe : reshapedNumbers(weights_.folded(constant), shape);
}

} // namespace tenon
