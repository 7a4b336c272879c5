// SPDX-License-Identifier: BSD-2-Clause
// Fields at points that a model computes (grid_sample), and losses of classes. The methods are
// members of ModelBuilder, which append values to a canonical graph. Both choose elements by
// computed indices, which no layer of Tenon does. They are products with weights that are functions
// of all indices of a dimension instead: an element has the weight 1, or that of its distance to
// the point, and all others have 0. So the work is proportional to points times elements. Class
// ModelBuilder is in model_builder.hpp.
//
//   place u of a point, linear     weight of element i: relu(1 - |u - i|)
//   class t of an element          weight of class i:   1 if i = t, else 0
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

namespace {

constexpr Index kReach = 3; // elements beyond an end that a cubic interpolation reads

std::vector<double> numbersFrom(Index first, Index count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), static_cast<double>(first));
  return numbers;
}

} // namespace

ModelBuilder::Value ModelBuilder::oneHot(Value x, int dim, Index n) {
  Shape shape = x->shape, indices(x->shape.size() + 1, 1);
  shape.insert(shape.begin() + dim, 1);
  indices[static_cast<std::size_t>(dim)] = n;
  return compare("eq", reshape(x, shape),
                 constant(ModelConstant::ofNumbers(indices, numbersFrom(0, n))));
}

namespace {

// Indices of n elements, counted from the beginning. Constant ones are checked.
ModelBuilder::Value fromBegin(ModelBuilder& b, ModelBuilder::Value indices, Index n) {
  if (indices->isKnown())
    for (const Index i : b.integersOf(indices, "a list of indices"))
      b.check(i >= -n && i < n, "an index is out of range");
  return b.where(b.compare("lt", indices, b.number(0)),
                 b.affine(indices, {1}, {static_cast<double>(n)}), indices);
}

} // namespace

// In the product an infinity or NaN would not be hidden by the flag 0 of its row.
ModelBuilder::Value ModelBuilder::chosenRows(Value flags, Value rows) {
  constexpr Index kMaxExamined = Index(1) << 20; // numbers that are read from the file for this
  const bool isExamined =
      rows->isKnown() && !rows->asConstant().isInteger() && elements(rows->shape) <= kMaxExamined;
  if (!isExamined || std::ranges::all_of(weights_.allNumbers(rows->asConstant()),
                                         [](double x) { return std::isfinite(x); }))
    return matmul(flags, rows);
  Shape shape = flags->shape;
  shape.push_back(1);
  return reduce("sum", where(reshape(flags, shape), rows, number(0)), {flags->ndim() - 1},
                /*keeps=*/false);
}

// The rows of the matrix of all slices of x.
ModelBuilder::Value ModelBuilder::taken(Value x, int dim, Value indices) {
  const int d = dimension(dim, x->ndim()), inserted = indices->ndim();
  const Index n = x->shape[static_cast<std::size_t>(d)], count = elements(indices->shape);
  std::vector<int> order = {d}, back; // the dimension first; and the indices between the others
  for (int e = 0; e < x->ndim(); ++e)
    if (e != d)
      order.push_back(e);
  for (int e = 0; e < d; ++e)
    back.push_back(inserted + e);
  for (int e = 0; e < inserted; ++e)
    back.push_back(e);
  for (int e = d; e + 1 < x->ndim(); ++e)
    back.push_back(inserted + e);
  const Value ordered = transpose(x, order);
  Shape shape = indices->shape;
  shape.insert(shape.end(), ordered->shape.begin() + 1, ordered->shape.end());
  checkShape(shape);
  const Index rest = elements(Shape(ordered->shape.begin() + 1, ordered->shape.end()));
  const Value flags = oneHot(fromBegin(*this, reshape(indices, {count}), n), 1, n);
  return transpose(reshape(chosenRows(flags, reshape(ordered, {n, rest})), shape), back);
}

ModelBuilder::Value ModelBuilder::takenAlong(Value x, int dim, Value indices) {
  const int d = dimension(dim, x->ndim());
  check(indices->ndim() == x->ndim(), "its indices have another number of dimensions");
  const Index n = x->shape[static_cast<std::size_t>(d)];
  // In the other dimensions the indices can be fewer than the elements.
  for (int e = 0; e < x->ndim(); ++e)
    if (e != d)
      x = slice(x, e, 0, indices->shape[static_cast<std::size_t>(e)]);
  Shape shape = x->shape;
  shape.insert(shape.begin() + d, 1);
  return reduce("sum",
                where(oneHot(fromBegin(*this, indices, n), d + 1, n), reshape(x, shape), number(0)),
                {d + 1}, /*keeps=*/false);
}

ModelBuilder::Value ModelBuilder::addedAlong(Value x, int dim, Value indices, Value source) {
  const int d = dimension(dim, x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  check(indices->ndim() == x->ndim() && source->ndim() == x->ndim(),
        "its indices have another number of dimensions");
  Shape shape = source->shape;
  shape.insert(shape.begin() + d, 1);
  const Value sum = reduce(
      "sum", where(oneHot(fromBegin(*this, indices, n), d, n), reshape(source, shape), number(0)),
      {d + 1}, /*keeps=*/false);
  if (sum->shape != x->shape)
    return refuse("additions at computed indices to some indices of the other dimensions",
                  "indices and a source with the extents of the result in these", x->shape);
  return binary("add", x, sum);
}

// The mean is that of the weights of all elements. An ignored element has the weight 0.
ModelBuilder::Value ModelBuilder::likelihoodLoss(Value logarithms, Value targets, Value weights,
                                                 std::optional<Index> ignoredClass,
                                                 const std::string& reduction) {
  check(logarithms->ndim() >= 2 && targets->ndim() + 1 == logarithms->ndim(),
        "a loss of classes needs [n, classes, ...] and targets [n, ...]");
  check(reduction == "none" || reduction == "mean" || reduction == "sum",
        "its reduction is not none, mean or sum");
  const Value isTarget = oneHot(targets, 1, logarithms->shape[1]), zero = number(0);
  const auto chosen = [&](Value x) {
    return reduce("sum", where(isTarget, x, zero), {1}, /*keeps=*/false);
  };
  Value loss = affine(chosen(logarithms), {-1}, {0}), weight = nullptr;
  if (weights)
    weight = chosen(perChannel(weights, logarithms->ndim()));
  if (ignoredClass) {
    const Value isCounted = compare("ne", targets, number(static_cast<double>(*ignoredClass)));
    weight = where(isCounted, weight ? weight : number(1), zero);
    loss = where(isCounted, loss, zero);
  }
  if (weight)
    loss = binary("mul", loss, weight);
  if (reduction == "none")
    return loss;
  std::vector<int> dims(loss->shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (reduction == "sum" || !weight)
    return reduce(reduction, loss, dims, /*keeps=*/false);
  return binary("div", reduce("sum", loss, dims, /*keeps=*/false),
                reduce("sum", weight, dims, /*keeps=*/false));
}

ModelBuilder::Value ModelBuilder::placesOf(Value coordinates, Index n, const Sampling& how) {
  const auto count = static_cast<double>(n);
  Value u = how.alignsCorners ? affine(coordinates, {(count - 1) / 2}, {(count - 1) / 2})
                              : affine(coordinates, {count / 2}, {(count - 1) / 2});
  const bool isCubic = how.method == Sampling::Method::Cubic;
  if (how.outside == Sampling::Outside::Reflection) {
    // Reflected at the ends; a field of one element is constant.
    const double low = how.alignsCorners ? 0 : -0.5, span = how.alignsCorners ? count - 1 : count;
    if (span == 0)
      return affine(u, {0}, {0});
    const Value distance = unary("abs", affine(u, {1}, {-low}));
    const Value turn = affine(binary("mod", distance, number(2 * span)), {1}, {-span});
    u = affine(unary("abs", turn), {-1}, {span + low});
  }
  if (how.outside == Sampling::Outside::Zeros)
    return u;
  // Beyond the ends a cubic interpolation still depends on the place, as far as its weights reach.
  const double beyond = isCubic ? 2 : 0;
  return unary("clamp", u, {{"low", -beyond}, {"high", count - 1 + beyond}});
}

ModelBuilder::Value ModelBuilder::weightsAround(Value places, Index n, const Sampling& how) {
  using Method = Sampling::Method;
  const bool isExtended = how.method == Method::Cubic && how.outside != Sampling::Outside::Zeros;
  const Index first = isExtended ? -kReach : 0, count = isExtended ? n + 2 * kReach : n;
  Shape shape = places->shape, indices(places->shape.size() + 1, 1);
  shape.push_back(1);
  indices.back() = count;
  const Value own = constant(ModelConstant::ofNumbers(indices, numbersFrom(first, count)));
  const Value u = reshape(places, shape);
  if (how.method == Method::Nearest)
    return compare("eq", unary("round", u), own);
  const Value distance = unary("abs", binary("sub", u, own));
  if (how.method == Method::Linear)
    return unary("relu", affine(distance, {-1}, {1}));
  // Keys' cubic with the factor -3/4.
  constexpr double kFactor = -0.75;
  const auto cubic = [&](double a, double b, double c, double d) { // a x^3 + b x^2 + c x + d
    const Value square = affine(binary("mul", affine(distance, {a}, {b}), distance), {1}, {c});
    return affine(binary("mul", square, distance), {1}, {d});
  };
  const Value near = cubic(kFactor + 2, -(kFactor + 3), 0, 1),
              far = cubic(kFactor, -5 * kFactor, 8 * kFactor, -4 * kFactor);
  const Value weights = where(compare("le", distance, number(1)), near,
                              where(compare("lt", distance, number(2)), far, number(0)));
  if (!isExtended)
    return weights;
  // An element beyond an end is the last one, or the one that is as far from the end inside.
  const bool isBorder = how.outside == Sampling::Outside::Border;
  const auto source = [&](Index i) {
    if (isBorder)
      return std::clamp(i, Index(0), n - 1);
    const Index period = how.alignsCorners ? std::max(2 * (n - 1), Index(1)) : 2 * n;
    i = (i % period + period) % period;
    return i < n ? i : how.alignsCorners ? period - i : period - 1 - i;
  };
  return along(weights, weights->ndim() - 1, n,
               [&](Index i, Index j) { return double(source(j + first) == i); });
}

ModelBuilder::Value ModelBuilder::sampled(Value x, Value points, const Sampling& how) {
  const int space = x->ndim() - 2;
  check(space >= 1 && space <= 3 && points->ndim() == x->ndim() && points->shape.back() == space &&
            points->shape[0] == x->shape[0],
        "it needs a field [n, channels, space...] and points [n, ..., coordinates]");
  Shape shape(points->shape.begin(), points->shape.end() - 1);
  const Index count = elements(shape) / std::max(shape[0], Index(1));
  const Value flat = reshape(points, {shape[0], count, space});
  const std::string names = std::string("hwd").substr(0, static_cast<std::size_t>(space));
  std::string equation = "nc" + names;
  ModelValues factors = {x};
  for (int s = 0; s < space; ++s) {
    const Index n = x->shape[static_cast<std::size_t>(s + 2)];
    const int coordinate = space - 1 - s;
    const Value u = reshape(slice(flat, 2, coordinate, coordinate + 1), {shape[0], count});
    factors.push_back(weightsAround(placesOf(u, n, how), n, how));
    equation += std::string(",np") + names[static_cast<std::size_t>(s)];
  }
  shape.insert(shape.begin() + 1, x->shape[1]);
  return reshape(einsum(equation + "->ncp", factors), shape);
}

ModelBuilder::Value ModelBuilder::affineGrid(Value theta, const std::vector<Index>& size,
                                             bool alignsCorners) {
  const std::size_t space = size.size();
  check(theta->ndim() == 3 && theta->shape[1] == static_cast<Index>(space) &&
            theta->shape[2] == static_cast<Index>(space) + 1,
        "its maps do not have the dimensions of its size");
  checkShape(size);
  check(elements(size) <= kMaxModelNumbers / 4, "its grid is too large");
  // [points, coordinates + 1]; the last column is that of the shift.
  std::vector<double> grid;
  forEachPlace(size, [&](const std::vector<Index>& index, Index) {
    for (std::size_t d = space; d-- > 0;) {
      const auto n = static_cast<double>(size[d]), i = static_cast<double>(index[d]);
      grid.push_back(!alignsCorners ? (2 * i + 1) / n - 1 : n > 1 ? 2 * i / (n - 1) - 1 : 0);
    }
    grid.push_back(1);
  });
  const Index points = elements(size);
  const Value base =
      constant(ModelConstant::ofNumbers({points, static_cast<Index>(space) + 1}, std::move(grid)));
  Shape shape = {theta->shape[0]};
  shape.insert(shape.end(), size.begin(), size.end());
  shape.push_back(static_cast<Index>(space));
  return reshape(einsum("pk,nck->npc", {base, theta}), shape);
}

} // namespace tenon
