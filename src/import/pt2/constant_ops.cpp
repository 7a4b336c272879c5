// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's operators that make constants. A shape may come from the run's extents, so that all of
// them have a bound.
#include "import/pt2/operator_rows.hpp"

#include <cmath>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues filled(ModelBuilder& b, const Operands& given, double number) {
  const Shape shape = given.has("size") ? given.integers("size", {}) : self(given)->shape;
  b.checkShape(shape);
  return {b.expand(b.number(number), shape)};
}
ModelValues zeros(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, 0);
}
ModelValues ones(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, 1);
}
ModelValues full(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, given.real("fill_value"));
}
ModelValues identity(ModelBuilder& b, const Operands& given, const char*) {
  const Index rows = given.integer("n"), columns = given.integer("m", rows);
  constexpr Index kMaxRows = 4096;
  b.check(rows >= 0 && columns >= 0 && rows <= kMaxRows && columns <= kMaxRows,
          "an identity is too large");
  const Value all = b.expand(b.number(1), {rows, columns});
  return {b.triangle(b.triangle(all, true, 0), false, 0)};
}
ModelValues scalarTensor(ModelBuilder& b, const Operands& given, const char*) {
  return {b.number(given.real("s"))};
}
ModelValues range(ModelBuilder& b, const Operands& given, const char*) {
  const double first = given.real("start", 0), last = given.real("end"),
               step = given.real("step", 1);
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  b.check(count >= 0 && count <= double(Index(1) << 23), "its number of steps is out of range");
  std::vector<double> numbers;
  bool areIntegers = true;
  for (double i = 0; i < count; ++i) {
    numbers.push_back(first + i * step);
    areIntegers = areIntegers && numbers.back() == std::floor(numbers.back());
  }
  // The type is that of its arguments, or the one that is requested.
  const Index type = given.integer("dtype", areIntegers ? 5 : 7);
  return {b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers,
                                              type >= 1 && type <= 5))};
}
ModelValues linspace(ModelBuilder& b, const Operands& given, const char*) {
  const double first = given.real("start"), last = given.real("end");
  const Index steps = given.integer("steps");
  b.check(steps >= 1 && steps <= Index(1) << 23, "its number of steps is out of range");
  std::vector<double> numbers;
  for (Index i = 0; i < steps; ++i)
    numbers.push_back(steps == 1 ? first
                                 : first + (last - first) * static_cast<double>(i) /
                                               static_cast<double>(steps - 1));
  return {b.constant(ModelConstant::ofNumbers({steps}, std::move(numbers)))};
}
// Of coordinates along each dimension, those of all points.
ModelValues meshOfPoints(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues axes = given.values("tensors");
  const bool isSwapped = given.text("indexing", "ij") == "xy" && axes.size() > 1;
  Shape all;
  for (const Value axis : axes) {
    b.check(axis && axis->rank() == 1, "its coordinates have not one dimension");
    all.push_back(axis->shape[0]);
  }
  ModelValues made;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    Shape shape(axes.size(), 1);
    shape[d] = all[d];
    Value value = b.expand(b.reshape(axes[d], shape), all);
    if (isSwapped) {
      std::vector<int> order(axes.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
      std::swap(order[0], order[1]);
      value = b.transpose(value, order);
    }
    made.push_back(value);
  }
  return made;
}
// The weight v g / |v|, the norm over all dimensions but one, or over all.
ModelValues weightNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value v = given.needed("v"), g = given.needed("g");
  const Index dim = given.integer("dim", 0);
  Shape kept(v->shape.size(), 1);
  std::vector<int> dims;
  // PyTorch's -1 stands for the norm of all of it.
  const int apart = dim == -1 ? -1 : b.dimension(dim, v->rank());
  for (int d = 0; d < v->rank(); ++d)
    if (d != apart)
      dims.push_back(d);
    else
      kept[static_cast<std::size_t>(d)] = v->shape[static_cast<std::size_t>(d)];
  b.check(elements(g->shape) == elements(kept), "it needs one norm for each output");
  const Value norm = b.unary("sqrt", b.reduce("sum", b.binary("mul", v, v), dims, true));
  return {b.binary("mul", v, b.binary("div", b.reshape(g, kept), norm))};
}

} // namespace

std::span<const Pt2Row> pt2Constants() {
  static constexpr Pt2Row rows[] = {{"_weight_norm", weightNorm},
                                    {"arange", range},
                                    {"eye", identity},
                                    {"full", full},
                                    {"full_like", full},
                                    {"linspace", linspace},
                                    {"meshgrid", meshOfPoints},
                                    {"new_full", full},
                                    {"new_ones", ones},
                                    {"new_zeros", zeros},
                                    {"ones", ones},
                                    {"ones_like", ones},
                                    {"scalar_tensor", scalarTensor},
                                    {"zeros", zeros},
                                    {"zeros_like", zeros}};
  return rows;
}

} // namespace tenon
