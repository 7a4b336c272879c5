// SPDX-License-Identifier: BSD-2-Clause
// Operators that move elements and compute nothing. A transpose is a word; a reshape is one where
// extents of 1 come and go, and a layer where dimensions are merged or divided.
#include "import/lowering/mapper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

Mapper::Placed Mapper::makeTranspose(const ModelValue& v) {
  Placed x = place(v.inputs[0]);
  std::vector<int> back(v.dims.size());
  for (std::size_t d = 0; d < v.dims.size(); ++d)
    back[at(v.dims[d])] = static_cast<int>(d);
  for (int& o : x.order)
    o = o == kAdded ? kAdded : back[at(o)];
  return x;
}

// The order after a reshape that only puts in or leaves out extents of 1; none if it does more.
std::optional<Mapper::Order> Mapper::orderWithoutUnits(const ModelValue& v, const Placed& x) const {
  const Value source = v.inputs[0];
  std::vector<int> old, now, spare;
  Shape oldExtents, nowExtents;
  for (int d = 0; d < source->rank(); ++d)
    if (source->shape[at(d)] != 1) {
      old.push_back(d);
      oldExtents.push_back(source->shape[at(d)]);
    }
  for (int d = 0; d < v.rank(); ++d)
    if (v.shape[at(d)] != 1) {
      now.push_back(d);
      nowExtents.push_back(v.shape[at(d)]);
    } else {
      spare.push_back(d);
    }
  if (oldExtents != nowExtents)
    return std::nullopt;
  Order order;
  for (const int o : x.order) {
    const auto found = std::find(old.begin(), old.end(), o);
    order.push_back(found == old.end() ? kAdded : now[at(static_cast<int>(found - old.begin()))]);
  }
  // One of the result stands where the node has one at that place, or at any.
  for (std::size_t i = 0; i < order.size(); ++i)
    if (const auto found = std::find(spare.begin(), spare.end(), static_cast<int>(i));
        order[i] == kAdded && found != spare.end()) {
      order[i] = static_cast<int>(i);
      spare.erase(found);
    }
  return order;
}

Mapper::Placed Mapper::makeReshape(const ModelValue& v) {
  const Value source = v.inputs[0];
  const Placed x = place(source);
  if (x.isRefused())
    return refused(v);
  if (const auto order = orderWithoutUnits(v, x))
    return {x.node, *order};
  const Order plain = plainOrder(v.rank()), before = plainOrder(source->rank());
  // From where extents of 1 stand as they do, if that fixes no more.
  const auto longOnes = [&](Order order) {
    std::erase_if(order, [&](int o) { return o == kAdded || source->shape[at(o)] == 1; });
    return order;
  };
  if (v.rank() > 0 && longOnes(x.order) == longOnes(before) && x.order != before) {
    const Shape from = extentsIn(source->shape, x.order);
    if (fixedExtents(reshapeSetting(from, v.shape)) <=
        fixedExtents(reshapeSetting(source->shape, v.shape)))
      return {reshaped(x.node, from, v.shape), plain};
  }
  const int node = inOrder(source);
  if (v.rank() == 2 && source->rank() > 2 && v.shape[0] == source->shape[0])
    return {emit({node}, "flatten"), plain};
  if (v.rank() > 0 && source->rank() > 0)
    return {reshaped(node, source->shape, v.shape), plain};
  return refuse(v, "a reshape of one number", "a tensor with dimensions");
}

Mapper::Placed Mapper::makeSlice(const ModelValue& v) {
  const Placed x = place(v.inputs[0]);
  const int place = placeOf(x, v.dim);
  if (x.isRefused())
    return refused(v);
  if (place < 0)
    return refuse(v, "a slice of a dimension of extent 1", "the whole dimension");
  NodeSettings settings = {{"dim", Index(place)}, {"begin", v.begin}, {"end", v.end}};
  if (v.step != 1)
    settings.emplace_back("step", v.step);
  return {emit({x.node}, "slice", std::move(settings)), x.order};
}

Mapper::Placed Mapper::makeConcatenate(const ModelValue& v) {
  const auto lead =
      std::find_if(v.inputs.begin(), v.inputs.end(), [](Value value) { return !value->isKnown(); });
  Placed first = place(lead == v.inputs.end() ? v.inputs[0] : *lead);
  if (placeOf(first, v.dim) < 0 || v.inputs[0]->shape.empty())
    first.order = plainOrder(v.rank());
  const int like = first.node;
  std::vector<int> nodes;
  for (const Value value : v.inputs) {
    nodes.push_back(value->isKnown() ? constantIn(value, v.rank(), first.order, like)
                                     : inOrder(value, first.order));
  }
  if (std::find(nodes.begin(), nodes.end(), kNoNode) != nodes.end())
    return refused(v);
  return {emit(nodes, "concatenate", {{"dim", Index(placeOf(first, v.dim))}}), first.order};
}

// Of any dimension: extents of 1 in front make it one of space.
Mapper::Placed Mapper::makePad(const ModelValue& v) {
  Order order = plainOrder(v.rank());
  while (order.size() < 3 || placeOf({0, order}, v.dim) < 2)
    order.insert(order.begin(), kAdded);
  if (order.size() > kMaxWindowed)
    return refuse(
        v,
        fmt::format("padding of dimension {} of [{}]", v.dim, fmt::join(v.inputs[0]->shape, ",")),
        "padding of space");
  const int x = inOrder(v.inputs[0], order);
  if (x == kNoNode)
    return refused(v);
  const std::size_t spatial = order.size() - 2, s = at(placeOf({0, order}, v.dim)) - 2;
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

Mapper::Placed Mapper::makePixelShuffle(const ModelValue& v) {
  return plain(v, "pixelshuffle", {{"upscale", v.factor}});
}

} // namespace tenon
