// SPDX-License-Identifier: BSD-2-Clause
// Sums over merged dimensions as sums over the dimensions before (merged_sums.hpp). The dimensions
// of a value before and after a reshape are divided into groups, the least runs with the same
// number of elements. From [2,8,6,4] to [2,1,8,24]:
//   before  0 | 1   | 2 3
//   after   0 | 1 2 | 3
#include "import/canonical/merged_sums.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

struct Group {
  std::vector<int> before, after;
};

// No groups if a value has no elements.
std::vector<Group> groupsOf(const Shape& before, const Shape& after) {
  std::vector<Group> groups;
  const auto taken = [](const Shape& shape, std::vector<int>& dims, std::size_t& next) {
    dims.push_back(static_cast<int>(next));
    return shape[next++];
  };
  if (elements(before) == 0)
    return groups;
  for (std::size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    Group& group = groups.emplace_back();
    Index m = i < before.size() ? taken(before, group.before, i) : 1,
          n = j < after.size() ? taken(after, group.after, j) : 1;
    while (m != n)
      if (m < n)
        m *= taken(before, group.before, i);
      else
        n *= taken(after, group.after, j);
  }
  return groups;
}

// The dimensions that were merged to those of `dims`, if each group is in them as a whole, but for
// extents of 1, or not at all. Empty otherwise.
std::vector<int> dimsBefore(const Shape& before, const Shape& after, const std::vector<int>& dims) {
  std::vector<int> found;
  for (const Group& group : groupsOf(before, after)) {
    bool isTaken = false, isLeft = false;
    for (const int d : group.after)
      if (after[static_cast<std::size_t>(d)] != 1)
        (std::ranges::find(dims, d) == dims.end() ? isLeft : isTaken) = true;
    if (isTaken && isLeft)
      return {};
    if (isTaken)
      found.insert(found.end(), group.before.begin(), group.before.end());
  }
  return found;
}

bool areMerged(const Shape& before, const std::vector<int>& dims) {
  return std::ranges::count_if(dims,
                               [&](int d) { return before[static_cast<std::size_t>(d)] != 1; }) > 1;
}

// The shape before the reshape of a factor that has extents of 1 in some dimensions after it: whole
// groups, or none of a group.
std::optional<Shape> factorBefore(const Shape& before, const Shape& after, const Shape& factor) {
  Shape shape(before.size(), 1);
  for (const Group& group : groupsOf(before, after)) {
    const auto isOne = [&](int d) { return factor[static_cast<std::size_t>(d)] == 1; };
    const auto isWhole = [&](int d) {
      return factor[static_cast<std::size_t>(d)] == after[static_cast<std::size_t>(d)];
    };
    if (std::ranges::all_of(group.after, isWhole))
      for (const int d : group.before)
        shape[static_cast<std::size_t>(d)] = before[static_cast<std::size_t>(d)];
    else if (!std::ranges::all_of(group.after, isOne))
      return std::nullopt;
  }
  return shape;
}

// A reshape, and the place of each dimension of the value in its result, where a transpose follows.
struct Merged {
  Value reshape = nullptr;
  std::vector<int> places;
};
Merged mergedIn(Value x) {
  Merged merged;
  const bool isTransposed = x->op == ModelOp::Transpose;
  for (int d = 0; d < x->ndim(); ++d)
    merged.places.push_back(isTransposed ? x->dims[static_cast<std::size_t>(d)] : d);
  const Value source = isTransposed ? x->inputs[0] : x;
  if (source->op == ModelOp::Reshape && !source->isComplex() && !source->isOfParameters())
    merged.reshape = source;
  return merged;
}

// The permutation that undoes another one.
std::vector<int> inverseOf(const std::vector<int>& places) {
  std::vector<int> inverse(places.size());
  for (std::size_t d = 0; d < places.size(); ++d)
    inverse[static_cast<std::size_t>(places[d])] = static_cast<int>(d);
  return inverse;
}

// Makes a value the same as another one, under its own name.
void become(ModelValue& v, Value other) {
  ModelValue made = *other;
  made.label = v.label;
  made.where = v.where;
  v = std::move(made);
}

// Values that are computed of a reshape element by element, as they are before it.
class BeforeReshape {
public:
  BeforeReshape(ModelBuilder& builder, Value reshape) : builder_(builder), reshape_(reshape) {}

  // Null if the value is computed in another way.
  Value of(Value x, int depth = 0) {
    constexpr int kMaxDepth = 16;
    if (x == reshape_)
      return x->inputs[0];
    if (depth > kMaxDepth || x->isConstant())
      return nullptr;
    if (const auto known = known_.find(x); known != known_.end())
      return known->second;
    return known_[x] = made(x, depth + 1);
  }

private:
  Value made(Value x, int depth) {
    if (x->op == ModelOp::Unary || (x->op == ModelOp::Affine && x->dim < 0)) {
      const Value argument = x->function == "dropout" ? nullptr : of(x->inputs[0], depth);
      if (!argument)
        return nullptr;
      return x->op == ModelOp::Affine ? builder_.affine(argument, x->scale, x->shift)
                                      : builder_.unary(x->function, argument, x->parameters);
    }
    struct Named {
      ModelOp op;
      const char* name;
    };
    constexpr Named kBinary[] = {{ModelOp::Add, "add"},
                                 {ModelOp::Subtract, "sub"},
                                 {ModelOp::Multiply, "mul"},
                                 {ModelOp::Divide, "div"}};
    const auto* const function = std::ranges::find(kBinary, x->op, &Named::op);
    if (function == std::end(kBinary))
      return nullptr;
    const Value a = of(x->inputs[0], depth), b = of(x->inputs[1], depth),
                p = a ? a : factor(x->inputs[0]), q = b ? b : factor(x->inputs[1]);
    return (a || b) && p && q ? builder_.binary(function->name, p, q) : nullptr;
  }
  // One that is the same for all elements of each merged dimension, such as their mean.
  Value factor(Value x) {
    Shape shape(reshape_->shape.size() - std::min(reshape_->shape.size(), x->shape.size()), 1);
    shape.insert(shape.end(), x->shape.begin(), x->shape.end());
    const auto before = shape.size() == reshape_->shape.size()
                            ? factorBefore(reshape_->inputs[0]->shape, reshape_->shape, shape)
                            : std::nullopt;
    return before && elements(*before) == elements(x->shape) ? builder_.reshape(x, *before)
                                                             : nullptr;
  }

  ModelBuilder& builder_;
  Value reshape_;
  std::map<Value, Value> known_;
};

// The first reshape among the values of which x is computed element by element.
Value reshapeBelow(Value x) {
  while (x->op == ModelOp::Unary || x->op == ModelOp::Affine || x->op == ModelOp::Add ||
         x->op == ModelOp::Subtract || x->op == ModelOp::Multiply || x->op == ModelOp::Divide)
    x = x->inputs[0];
  return x;
}

void separateReduction(ModelBuilder& b, ModelValue& v) {
  const Merged merged = mergedIn(reshapeBelow(v.inputs[0]));
  const bool isDirect = reshapeBelow(v.inputs[0]) == v.inputs[0];
  // What is computed of a transpose has its order of dimensions.
  if (!merged.reshape || v.function.ends_with("of first") ||
      (!isDirect && !std::ranges::is_sorted(merged.places)))
    return;
  std::vector<int> dims;
  for (const int d : v.dims)
    dims.push_back(merged.places[static_cast<std::size_t>(d)]);
  const Shape& field = merged.reshape->inputs[0]->shape;
  const std::vector<int> before = dimsBefore(field, merged.reshape->shape, dims);
  if (!areMerged(field, before))
    return;
  const Value x =
      isDirect ? merged.reshape->inputs[0] : BeforeReshape(b, merged.reshape).of(v.inputs[0]);
  if (!x || x->shape != field)
    return;
  Shape reduced = merged.reshape->shape;
  for (const int d : dims)
    reduced[static_cast<std::size_t>(d)] = 1;
  const Value sum = b.reshape(b.reduce(v.function, x, before, /*keeps=*/true), reduced);
  become(v, b.transpose(sum, merged.places));
}

// The value that reshapes, and transposes that only move extents of 1, are made of.
Value inSameOrder(Value x) {
  while (x->op == ModelOp::Reshape || x->op == ModelOp::Transpose) {
    std::vector<int> moved;
    for (const int d : x->dims)
      if (x->inputs[0]->shape[static_cast<std::size_t>(d)] != 1)
        moved.push_back(d);
    if (x->op == ModelOp::Transpose && !std::ranges::is_sorted(moved))
      break;
    x = x->inputs[0];
  }
  return x;
}

// Weights in the shape of a field whose dimensions `dims` were merged. A softmax over these is one
// over each of them.
Value separatedWeights(ModelBuilder& b, Value weights, const Shape& field, const Shape& shape,
                       const std::vector<int>& dims) {
  const Value softmax = inSameOrder(weights);
  if (softmax->op != ModelOp::Softmax || softmax->inputs[0]->op != ModelOp::Reshape)
    return b.reshape(weights, shape);
  const Value x = softmax->inputs[0]->inputs[0];
  const std::vector<int> own = dimsBefore(x->shape, softmax->shape, {softmax->dim});
  const auto extents = [](const Shape& of, const std::vector<int>& some) {
    Shape result;
    for (const int d : some)
      if (of[static_cast<std::size_t>(d)] != 1)
        result.push_back(of[static_cast<std::size_t>(d)]);
    return result;
  };
  if (extents(x->shape, own) != extents(field, dims))
    return b.reshape(weights, shape);
  const Value largest = b.stopped(b.reduce("max", x, own, /*keeps=*/true)),
              powers = b.unary("exp", b.binary("sub", x, largest));
  return b.reshape(b.binary("div", powers, b.reduce("sum", powers, own, /*keeps=*/true)), shape);
}

// A softmax over merged dimensions that are separated again, as of a map of each channel.
void separateSoftmax(ModelBuilder& b, ModelValue& v) {
  const Value softmax = v.inputs[0];
  const std::vector<int> dims = dimsBefore(v.shape, softmax->shape, {softmax->dim});
  if (areMerged(v.shape, dims))
    become(v, separatedWeights(b, softmax, v.shape, v.shape, dims));
}

void separateProduct(ModelBuilder& b, ModelValue& v) {
  const bool isColumn = v.shape.back() == 1;
  if (!isColumn && v.shape[v.shape.size() - 2] != 1)
    return;
  const Value field = v.inputs[isColumn ? 0 : 1], weights = v.inputs[isColumn ? 1 : 0];
  const Merged merged = mergedIn(field);
  if (!merged.reshape)
    return;
  // The dimension that is summed is the last one of the first factor, and the last but one of the
  // other.
  const auto sums = static_cast<std::size_t>(field->ndim() - (isColumn ? 1 : 2));
  const Value x = merged.reshape->inputs[0];
  const Shape& after = merged.reshape->shape;
  const std::vector<int> dims = dimsBefore(x->shape, after, {merged.places[sums]});
  if (!areMerged(x->shape, dims))
    return;
  // The weights with the field's dimensions, those of a stack and the one of the sum, in the order
  // before the field was transposed.
  Shape extents = weights->shape;
  extents[extents.size() - 2] = extents.back() = 1;
  extents[sums] = field->shape[sums];
  const Value ordered = b.transpose(b.reshape(weights, extents), inverseOf(merged.places));
  const std::optional<Shape> shape = factorBefore(x->shape, after, ordered->shape);
  if (!shape || elements(*shape) != elements(weights->shape))
    return;
  const Value product = b.binary("mul", x, separatedWeights(b, ordered, x->shape, *shape, dims));
  Shape reduced = after;
  reduced[static_cast<std::size_t>(merged.places[sums])] = 1;
  const Value sum = b.reshape(b.reduce("sum", product, dims, /*keeps=*/true), reduced);
  become(v, b.reshape(b.transpose(sum, merged.places), v.shape));
}

} // namespace

void separateMergedSums(ModelBuilder& builder) {
  ModelGraph& graph = builder.graph();
  const std::set<ModelBuilder::Value> needed = neededValues(graph);
  const std::size_t count = graph.values.size(); // the new ones are appended
  for (std::size_t i = 0; i < count; ++i) {
    ModelValue& v = graph.values[i];
    if (!needed.contains(&v) || v.isComplex() || v.isOfParameters())
      continue;
    builder.begin({.type = {}, .label = v.label, .where = v.where}, v.inputs);
    if (v.op == ModelOp::Reduce)
      separateReduction(builder, v);
    else if (v.op == ModelOp::Reshape && v.inputs[0]->op == ModelOp::Softmax)
      separateSoftmax(builder, v);
    else if (v.op == ModelOp::Matmul)
      separateProduct(builder, v);
  }
}

} // namespace tenon
