// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: differences, derivatives and integrals along dimensions of grids, and
// cumulative operations. Each function reads the arguments of an operation by name (Operands) and
// appends values to the canonical graph by the builder b; self() is the first argument. The table
// at the end has a row per family of operators: name, function, and the function's last argument
// `variant`, which selects what a shared function computes (operator_rows.hpp).
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Neighbours along a dimension of n elements: the first n - 1 of them, and the last n - 1.
struct Neighbours {
  Value before, after;

  Neighbours(ModelBuilder& b, Value x, int d) {
    const Index n = x->shape[static_cast<std::size_t>(d)];
    before = b.slice(x, d, 0, std::max(n - 1, Index(0)));
    after = b.slice(x, d, std::min(n, Index(1)), n);
  }
};
Value differencesAlong(ModelBuilder& b, Value x, int d) {
  const Neighbours of(b, x, d);
  return b.binary("sub", of.after, of.before);
}
// Differences of neighbours, repeated n times.
ModelValues differences(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", -1), x->ndim());
  const Index times = operands.integer("n", 1);
  if (times < 0 || times > 16)
    return {b.refuse("differences of such an order", "orders of at most 16", x->shape)};
  ModelValues all = {operands.value("prepend"), x, operands.value("append")};
  std::erase(all, nullptr);
  if (all.size() > 1)
    x = b.concatenate(all, d);
  for (Index i = 0; i < times; ++i)
    x = differencesAlong(b, x, d);
  return {x};
}

// -- integrals

// The sums of neighbours, times half of the distance of their points: `dx`, or the coordinates x.
Value trapezoids(ModelBuilder& b, const Operands& operands, int d) {
  const Value y = operands.needed("y"), x = operands.value("x");
  const Neighbours of(b, y, d);
  const Value sums = b.binary("add", of.before, of.after);
  if (!x)
    return b.affine(sums, {operands.real("dx", 1) / 2}, {0});
  Shape shape = x->shape;
  if (x->ndim() == 1) { // points along this dimension
    shape.assign(y->shape.size(), 1);
    shape[static_cast<std::size_t>(d)] = x->shape[0];
  } else {
    b.check(x->ndim() <= y->ndim(), "its coordinates have more dimensions than its values");
    shape.insert(shape.begin(), y->shape.size() - shape.size(), 1);
  }
  const Value widths = differencesAlong(b, b.reshape(x, shape), d);
  return b.binary("mul", sums, b.affine(widths, {0.5}, {0}));
}
ModelValues trapezoid(ModelBuilder& b, const Operands& operands, const char*) {
  const int d = b.dimension(operands.integer("dim", -1), operands.needed("y")->ndim());
  return {b.reduce("sum", trapezoids(b, operands, d), {d}, /*keeps=*/false)};
}
ModelValues cumulativeTrapezoid(ModelBuilder& b, const Operands& operands, const char*) {
  const int d = b.dimension(operands.integer("dim", -1), operands.needed("y")->ndim());
  return {b.cumulativeSum(trapezoids(b, operands, d), d)};
}

// -- derivatives

// The derivative along one dimension: central differences, and one-sided ones of first or second
// order at both ends. The points have one distance, or those between each two of them.
class Derivative {
public:
  Derivative(ModelBuilder& b, Value x, int d, Value distances, bool isSecondOrder)
      : b_(b), x_(x), d_(d), n_(x->shape[static_cast<std::size_t>(d)]), distances_(distances),
        isSecondOrder_(isSecondOrder) {
    b.check(n_ >= (isSecondOrder ? 3 : 2), "it differentiates along too few points");
    b.check(distances->ndim() == 0 || distances->shape == Shape{n_ - 1},
            "it needs a distance, or a coordinate for each point");
  }
  Value all() {
    ModelValues parts = {end(/*isLast=*/false)};
    if (n_ > 2)
      parts.push_back(center());
    parts.push_back(end(/*isLast=*/true));
    return b_.concatenate(parts, d_);
  }

private:
  Value times(Value p, Value q) { return b_.binary("mul", p, q); }
  Value over(Value p, Value q) { return b_.binary("div", p, q); }
  Value plus(Value p, Value q) { return b_.binary("add", p, q); }
  Value elements(Index begin, Index count) { return b_.slice(x_, d_, begin, begin + count); }
  // The distances [begin, begin + count), along this dimension.
  Value distances(Index begin, Index count) {
    if (distances_->ndim() == 0)
      return distances_;
    Shape shape(x_->shape.size(), 1);
    shape[static_cast<std::size_t>(d_)] = count;
    return b_.reshape(b_.slice(distances_, 0, begin, begin + count), shape);
  }
  // a x[i - 1] + b x[i] + c x[i + 1], such that it is exact for parabolas.
  Value center() {
    const Index count = n_ - 2;
    const Value before = elements(0, count), after = elements(2, count), low = distances(0, count),
                high = distances(1, count), both = plus(low, high);
    if (distances_->ndim() == 0)
      return over(b_.binary("sub", after, before), both);
    const Value a = over(high, times(low, both)), c = over(low, times(high, both)),
                middle = over(b_.binary("sub", high, low), times(low, high));
    return plus(b_.binary("sub", times(c, after), times(a, before)),
                times(middle, elements(1, count)));
  }
  // At the last point all is as at the first one, with the other sign.
  Value end(bool isLast) {
    const auto at = [&](Index i) { return elements(isLast ? n_ - 1 - i : i, 1); };
    const auto distance = [&](Index i) { return distances(isLast ? n_ - 2 - i : i, 1); };
    const Value near = distance(0);
    Value result = over(b_.binary("sub", at(1), at(0)), near);
    if (isSecondOrder_) {
      const Value far = distance(1), both = plus(near, far);
      result = b_.binary("sub",
                         b_.binary("sub", times(over(both, times(near, far)), at(1)),
                                   times(over(plus(near, both), times(near, both)), at(0))),
                         times(over(near, times(far, both)), at(2)));
    }
    return isLast ? b_.affine(result, {-1}, {0}) : result;
  }

  ModelBuilder& b_;
  const Value x_;
  const int d_;
  const Index n_;
  const Value distances_; // a number, or one for each two points
  const bool isSecondOrder_;
};
// The distances of points in each dimension: of one number, of numbers, or of coordinates.
ModelValues distancesOf(ModelBuilder& b, const Operands& operands, std::size_t count) {
  const std::string& type = operands.operation().type;
  ModelValues distances;
  if (type.find("tensorarray") != type.npos)
    for (const Value coordinates : operands.values("spacing")) {
      b.check(coordinates && coordinates->ndim() == 1, "its coordinates have not one dimension");
      distances.push_back(differencesAlong(b, coordinates, 0));
    }
  else if (type.find("scalarray") != type.npos)
    for (const double distance : operands.reals("spacing"))
      distances.push_back(b.number(distance));
  else
    distances.assign(count, b.number(operands.real("spacing", 1)));
  b.check(distances.size() == count, "it has another number of spacings than dimensions");
  return distances;
}
ModelValues gradient(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  std::vector<Index> dims = operands.integers("dim", {});
  for (int d = 0; !operands.has("dim") && d < x->ndim(); ++d)
    dims.push_back(d);
  const Index order = operands.integer("edge_order", 1);
  b.check(order == 1 || order == 2, "its order is not 1 or 2");
  const ModelValues distances = distancesOf(b, operands, dims.size());
  ModelValues results;
  for (std::size_t i = 0; i < dims.size(); ++i)
    results.push_back(
        Derivative(b, x, b.dimension(dims[i], x->ndim()), distances[i], order == 2).all());
  return results;
}

// -- cumulative operations

ModelValues cumulativeSum(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.cumulativeSum(self(operands),
                          b.dimension(operands.integer("dim"), self(operands)->ndim()))};
}
ModelValues cumulativeProduct(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.cumulativeProduct(self(operands), static_cast<int>(operands.integer("dim")))};
}
// log(sum(exp(x))) of the elements up to each one: those of 2, 4, 8, ... elements before it.
ModelValues cumulativeLogSum(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  for (Index by = 1; by < n; by *= 2)
    x = b.logAddExp(x, b.pad(b.slice(x, d, 0, n - by), d, by, 0, "values", -HUGE_VAL));
  return {x};
}

} // namespace

std::span<const Pt2Row> pt2Differences() {
  static constexpr Pt2Row rows[] = {{"cumprod", cumulativeProduct},
                                    {"cumsum", cumulativeSum},
                                    {"cumulative_trapezoid", cumulativeTrapezoid},
                                    {"diff", differences},
                                    {"gradient", gradient},
                                    {"logcumsumexp", cumulativeLogSum},
                                    {"trapezoid", trapezoid},
                                    {"trapz", trapezoid}};
  return rows;
}

} // namespace tenon
