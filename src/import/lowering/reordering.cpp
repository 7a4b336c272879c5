// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper for operators that rearrange or join elements without arithmetic. A value of
// the graph is represented by a node of the network and an order: entry k is the value's dimension
// that is dimension k of the node, or kAdded for an added dimension of extent 1 (mapper.hpp). A
// transpose therefore changes the order of a value only, and so does a reshape that only adds or
// drops extents of 1; other reshapes, slices, concatenations and paddings are layers.
#include "import/lowering/mapper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

// Dimension d of the result is dimension v.dims[d] of the input, so the input's dimensions in the
// order are renamed by the inverse permutation.
Mapper::OrderedNode Mapper::makeTranspose(const ModelValue& v) {
  OrderedNode x = nodeOf(v.inputs[0]);
  std::vector<int> inverse(v.dims.size());
  for (std::size_t d = 0; d < v.dims.size(); ++d)
    inverse[at(v.dims[d])] = static_cast<int>(d);
  for (int& o : x.order)
    o = o == kAdded ? kAdded : inverse[at(o)];
  return x;
}

// Returns the order after a reshape that only adds or drops extents of 1; none for other reshapes.
std::optional<Mapper::Order> Mapper::orderWithoutUnits(const ModelValue& v,
                                                       const OrderedNode& x) const {
  const Value source = v.inputs[0];
  std::vector<int> sourceDims, resultDims, unitDims;
  Shape sourceExtents, resultExtents;
  for (int d = 0; d < source->ndim(); ++d)
    if (source->shape[at(d)] != 1) {
      sourceDims.push_back(d);
      sourceExtents.push_back(source->shape[at(d)]);
    }
  for (int d = 0; d < v.ndim(); ++d)
    if (v.shape[at(d)] != 1) {
      resultDims.push_back(d);
      resultExtents.push_back(v.shape[at(d)]);
    } else {
      unitDims.push_back(d);
    }
  if (sourceExtents != resultExtents)
    return std::nullopt;
  Order order;
  for (const int o : x.order) {
    const auto found = std::find(sourceDims.begin(), sourceDims.end(), o);
    order.push_back(found == sourceDims.end()
                        ? kAdded
                        : resultDims[at(static_cast<int>(found - sourceDims.begin()))]);
  }
  // An added dimension of the node becomes the result's dimension of extent 1 at the same position.
  for (std::size_t i = 0; i < order.size(); ++i)
    if (const auto found = std::find(unitDims.begin(), unitDims.end(), static_cast<int>(i));
        order[i] == kAdded && found != unitDims.end()) {
      order[i] = static_cast<int>(i);
      unitDims.erase(found);
    }
  return order;
}

Mapper::OrderedNode Mapper::makeReshape(const ModelValue& v) {
  const Value source = v.inputs[0];
  const OrderedNode x = nodeOf(source);
  if (x.isRefused())
    return refused(v);
  if (const auto order = orderWithoutUnits(v, x))
    return {x.node, *order};
  const Order plain = plainOrder(v.ndim()), sourceOrder = plainOrder(source->ndim());
  // Reshape the node as it is if its extents of 1 are the only difference in order, and the setting
  // does not fix more extents than a reshape from the plain order.
  const auto withoutUnits = [&](Order order) {
    std::erase_if(order, [&](int o) { return o == kAdded || source->shape[at(o)] == 1; });
    return order;
  };
  if (v.ndim() > 0 && withoutUnits(x.order) == withoutUnits(sourceOrder) &&
      x.order != sourceOrder) {
    const Shape from = extentsIn(source->shape, x.order);
    if (fixedExtents(reshapeSetting(from, v.shape)) <=
        fixedExtents(reshapeSetting(source->shape, v.shape)))
      return {reshapedNode(x.node, from, v.shape), plain};
  }
  const int node = nodeInOrder(source);
  if (v.ndim() == 2 && source->ndim() > 2 && v.shape[0] == source->shape[0])
    return {emit({node}, "flatten"), plain};
  if (v.ndim() > 0 && source->ndim() > 0)
    return {reshapedNode(node, source->shape, v.shape), plain};
  return refuse(v, "a reshape of one number", "a tensor with dimensions");
}

// A slice works along any dimension, so the order of the input is kept.
Mapper::OrderedNode Mapper::makeSlice(const ModelValue& v) {
  const OrderedNode x = nodeOf(v.inputs[0]);
  const int position = positionOf(x, v.dim);
  if (x.isRefused())
    return refused(v);
  if (position < 0)
    return refuse(v, "a slice of a dimension of extent 1", "the whole dimension");
  NodeSettings settings = {{"dim", Index(position)}, {"begin", v.begin}, {"end", v.end}};
  if (v.step != 1)
    settings.emplace_back("step", v.step);
  return {emit({x.node}, "slice", std::move(settings)), x.order};
}

// All inputs are brought to the order of the first one that is not a constant.
Mapper::OrderedNode Mapper::makeConcatenate(const ModelValue& v) {
  const auto lead =
      std::find_if(v.inputs.begin(), v.inputs.end(), [](Value value) { return !value->isKnown(); });
  OrderedNode first = nodeOf(lead == v.inputs.end() ? v.inputs[0] : *lead);
  if (positionOf(first, v.dim) < 0 || v.inputs[0]->shape.empty())
    first.order = plainOrder(v.ndim());
  const int like = first.node;
  std::vector<int> nodes;
  for (const Value value : v.inputs) {
    nodes.push_back(value->isKnown() ? constantIn(value, v.ndim(), first.order, like)
                                     : nodeInOrder(value, first.order));
  }
  if (std::find(nodes.begin(), nodes.end(), kNoNode) != nodes.end())
    return refused(v);
  return {emit(nodes, "concatenate", {{"dim", Index(positionOf(first, v.dim))}}), first.order};
}

// A rotation as a concatenation of both parts, for dimensions that cannot be padded.
Mapper::OrderedNode Mapper::makeRoll(const ModelValue& v) {
  const OrderedNode x = nodeOf(v.inputs[0]);
  const int position = positionOf(x, v.dim);
  if (x.isRefused())
    return refused(v);
  const Index n = v.shape[at(v.dim)], by = (v.low[0] % n + n) % n;
  const auto part = [&](Index begin, Index end) {
    return emit({x.node}, "slice", {{"dim", Index(position)}, {"begin", begin}, {"end", end}});
  };
  return {emit({part(n - by, n), part(0, n - by)}, "concatenate", {{"dim", Index(position)}}),
          x.order};
}

// The layer pads dimensions of space; extents of 1 in front make any dimension one of space.
Mapper::OrderedNode Mapper::makePad(const ModelValue& v) {
  Order order = plainOrder(v.ndim());
  while (order.size() < 3 || positionOf({/*node=*/0, order}, v.dim) < 2)
    order.insert(order.begin(), kAdded);
  const bool isRoll = v.modes[0] == "periodic" && v.low[0] == -v.high[0];
  if (order.size() > kMaxWindowed && isRoll)
    return makeRoll(v);
  if (order.size() > kMaxWindowed)
    return refuse(
        v,
        fmt::format("padding of dimension {} of [{}]", v.dim, fmt::join(v.inputs[0]->shape, ",")),
        "padding of space");
  const int x = nodeInOrder(v.inputs[0], order);
  if (x == kNoNode)
    return refused(v);
  const std::size_t spatial = order.size() - 2, s = at(positionOf({/*node=*/0, order}, v.dim)) - 2;
  std::vector<Index> low(spatial, 0), high(spatial, 0);
  std::vector<std::string> modes(spatial, "none");
  low[s] = v.low[0];
  high[s] = v.high[0];
  const bool isZero = v.modes[0] == "values" && v.padValue == 0.0;
  modes[s] = isZero ? "zero" : v.modes[0];
  NodeSettings settings = {{"padding", low},
                           {"padding_high", high},
                           {"boundary", fmt::format("{}", fmt::join(modes, ","))}};
  if (v.modes[0] == "values" && !isZero)
    settings.emplace_back("boundary_constant", v.padValue.value_or(0));
  return {emit({x}, "pad", std::move(settings)), order};
}

Mapper::OrderedNode Mapper::makePixelShuffle(const ModelValue& v) {
  return emitInPlainOrder(v, "pixelshuffle", {{"upscale", v.factor}});
}

} // namespace tenon
