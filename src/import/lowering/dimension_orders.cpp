// SPDX-License-Identifier: BSD-2-Clause
// Brings nodes into the orders that layers need: a transpose where dimensions change places, a
// reshape where extents of 1 are put in or left out. Extents of 1 are put in and left out behind
// the others where they can be, so that settings do not depend on the extents of the run. A reorder
// of what was reordered in the same way before is one of its source.
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

int Mapper::placeOf(const Placed& of, int dim) {
  const auto found = std::find(of.order.begin(), of.order.end(), dim);
  return found == of.order.end() ? -1 : static_cast<int>(found - of.order.begin());
}

Shape Mapper::extentsIn(const Shape& shape, const Order& order) {
  Shape extents;
  for (const int o : order)
    extents.push_back(o == kAdded ? 1 : shape[at(o)]);
  return extents;
}

int Mapper::inOrder(Value v, const Order& order) {
  const Placed now = place(v);
  return now.isRefused() ? kNoNode : arranged(now.node, now.order, v->shape, order);
}

int Mapper::arranged(int node, const Order& now, const Shape& shape, const Order& order) {
  if (now == order)
    return node;
  Order have = now, want = order;
  std::sort(have.begin(), have.end());
  std::sort(want.begin(), want.end());
  if (have == want)
    return transposed(node, now, order);
  const Order first = {0, 1};
  if (order == first && now.size() > 2 && std::equal(first.begin(), first.end(), now.begin()))
    return emit({node}, "flatten"); // [n, c, 1, 1] -> [n, c]
  if (isSameSequence(now, order) && movedPlaces(now, order) <= 1)
    return reshaped(node, extentsIn(shape, now), extentsIn(shape, order));
  // What stays, in its new order, then what is left out or put in.
  Order left = now, stays, added;
  for (const int o : order)
    if (const auto found = std::find(left.begin(), left.end(), o); found != left.end()) {
      stays.push_back(o);
      left.erase(found);
    } else {
      added.push_back(o);
    }
  Order middle = stays;
  middle.insert(middle.end(), left.begin(), left.end());
  node = transposed(node, now, middle);
  Order after = stays;
  after.insert(after.end(), added.begin(), added.end());
  node = reshaped(node, extentsIn(shape, middle), extentsIn(shape, after));
  return transposed(node, after, order);
}

int Mapper::transposed(int node, const Order& now, const Order& order) {
  if (now == order)
    return node;
  std::vector<bool> taken(now.size(), false);
  std::vector<Index> permutation;
  for (const int o : order)
    for (std::size_t k = 0; k < now.size(); ++k)
      if (now[k] == o && !taken[k]) {
        taken[k] = true;
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
  const int made = emit({node}, "transpose", {{"permutation", permutation}});
  transposes_.insert_or_assign(made, std::pair(node, permutation));
  return made;
}

std::ptrdiff_t Mapper::movedPlaces(const Order& now, const Order& order) {
  std::ptrdiff_t moved = 0;
  for (std::size_t d = 0; d < order.size(); ++d) {
    const bool isHad =
        order[d] != kAdded && std::find(now.begin(), now.end(), order[d]) != now.end();
    moved += isHad && (d >= now.size() || now[d] != order[d]);
  }
  return moved;
}

bool Mapper::isSameSequence(const Order& now, const Order& order) {
  const auto shared = [](const Order& of, const Order& with) {
    Order both;
    for (const int o : of)
      if (o != kAdded && std::find(with.begin(), with.end(), o) != with.end())
        both.push_back(o);
    return both;
  };
  return shared(now, order) == shared(order, now);
}

// Extents that stay in their places are 0, and the largest of the others is -1: so most settings
// hold for any batch.
int Mapper::reshaped(int node, const Shape& from, const Shape& to) {
  if (const auto found = reshapes_.find(node); found != reshapes_.end()) {
    const auto [source, before] = found->second;
    return reshaped(source, before, to);
  }
  if (from == to)
    return node;
  const int made = emit({node}, "reshape", {{"shape", reshapeSetting(from, to)}});
  reshapes_.insert_or_assign(made, std::pair(node, from));
  return made;
}

std::ptrdiff_t Mapper::fixedExtents(const Shape& setting) {
  return std::count_if(setting.begin(), setting.end(), [](Index n) { return n > 1; });
}

Shape Mapper::reshapeSetting(const Shape& from, const Shape& to) {
  Shape shape = to;
  const Index all = elements(to);
  std::size_t open = to.size();
  for (std::size_t d = 0; d < to.size(); ++d)
    if (d < from.size() && from[d] == to[d])
      shape[d] = to[d] == 1 ? 1 : 0;
    else if (to[d] > 1 && (open == to.size() || to[d] > to[open]))
      open = d;
  if (all > 0 && open < to.size())
    shape[open] = -1;
  return shape;
}

Mapper::Placed Mapper::withChannel(Value v, int dim) {
  const Placed now = place(v);
  if (now.isRefused() || (now.order.size() > 1 && now.order[1] == dim))
    return now;
  Order order = now.order;
  std::erase(order, dim);
  if (order.empty())
    order.push_back(kAdded); // a batch of one
  order.insert(order.begin() + 1, dim);
  return {arranged(now.node, now.order, v->shape, order), order};
}

// The dimensions beside the channels stay in the order that they have.
Mapper::Placed Mapper::withChannel(Value v, int dim, std::size_t rank) {
  const Placed now = place(v);
  if (now.isRefused())
    return now;
  Order order = now.order;
  for (const int absent : {kAdded, dim})
    std::erase(order, absent);
  for (int d = 0; d < v->rank(); ++d)
    if (d != dim && std::find(order.begin(), order.end(), d) == order.end())
      order.push_back(d);
  if (order.empty())
    order.push_back(kAdded);
  order.insert(order.begin() + 1, dim);
  order.resize(std::max(order.size(), rank), kAdded);
  return {arranged(now.node, now.order, v->shape, order), order};
}

Mapper::Joined Mapper::joined(const ModelValue& v) {
  Joined made{.nodes = {}, .order = plainOrder(v.rank())};
  // The order is that of the first input that has all dimensions of the result which are more than
  // 1.
  bool isFound = false;
  int like = -1;
  const auto offsetOf = [&](Value input) { return v.rank() - input->rank(); };
  for (const Value input : v.inputs) {
    if (input->isConstant())
      continue;
    const Placed x = place(input);
    made.isRefused = made.isRefused || x.isRefused();
    Order order = x.order;
    for (int& o : order)
      o = o == kAdded ? kAdded : o + offsetOf(input);
    bool hasAll = true;
    for (int d = 0; d < v.rank(); ++d)
      hasAll = hasAll && (v.shape[at(d)] == 1 ||
                          (d >= offsetOf(input) && input->shape[at(d - offsetOf(input))] != 1));
    if (!isFound && (hasAll || like == -1))
      like = x.node;
    if (!isFound && hasAll) {
      made.order = order;
      isFound = true;
    }
  }
  if (made.isRefused)
    return made;
  for (const Value input : v.inputs) {
    if (input->isKnown()) {
      made.nodes.push_back(constantIn(input, v.rank(), made.order, like));
      continue;
    }
    const Placed x = place(input);
    Order order = x.order;
    for (int& o : order)
      o = o == kAdded ? kAdded : o + offsetOf(input);
    Shape shape(at(offsetOf(input)), 1);
    shape.insert(shape.end(), input->shape.begin(), input->shape.end());
    made.nodes.push_back(arranged(x.node, order, shape, made.order));
  }
  return made;
}

int Mapper::constantIn(Value v, int rank, const Order& order, int like) {
  Shape shape(at(rank - v->rank()), 1);
  shape.insert(shape.end(), v->shape.begin(), v->shape.end());
  // Its dimensions in the order, and extents of 1 where it has none.
  std::vector<int> permutation;
  for (const int o : order)
    if (o != kAdded)
      permutation.push_back(o);
  for (int d = 0; d < rank; ++d)
    if (std::find(permutation.begin(), permutation.end(), d) == permutation.end())
      permutation.push_back(d); // of extent 1
  const ModelConstant wide = shaped(v->asConstant(), shape);
  return constantNode(shaped(wide.transposed(permutation), extentsIn(shape, order)), like);
}

// One number for all elements is a setting.
int Mapper::constantNode(const ModelConstant& constant, int like) {
  if (constant.isNumbers() && constant.name().empty() && !constant.numbers().empty()) {
    const std::vector<double>& numbers = constant.numbers();
    if (std::isfinite(numbers[0]) && isAllOf(numbers, numbers[0]))
      return emit({like}, "constant", {{"shape", constant.shape()}, {"value", numbers[0]}}, "", {},
                  true);
  }
  return emit({like}, "constant", {{"shape", constant.shape()}}, "", {{"value", constant}}, true);
}

ModelConstant Mapper::shaped(const ModelConstant& constant, const Shape& shape) const {
  const auto made = constant.reshaped(shape);
  return made ? *made : reshapedNumbers(weights_.folded(constant), shape);
}

} // namespace tenon
