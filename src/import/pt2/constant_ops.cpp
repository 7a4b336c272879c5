// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators that create constants, and weight normalisation. Each function reads the
// arguments of an operation by name (Operands) and appends values to the canonical graph by the
// builder b; self() is the first argument. The table at the end has a row per family of operators:
// name, function, and the function's last argument `variant`, which selects what a shared function
// computes (operator_rows.hpp). A shape can be computed from the extents of the run, so sizes are
// bounded.
#include "import/pt2/operator_rows.hpp"

#include <cmath>
#include <numbers>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// The number as the type of the result stores it: that of dtype, or of the argument of *_like and
// new_* operators.
double stored(const Operands& operands, double number) {
  const bool isTyped = operands.has("dtype");
  const Index type = operands.integer("dtype", 0);
  if (isTyped ? type == TorchType::kBool : operands.isFlag("self"))
    return number != 0 ? 1 : 0;
  return (isTyped ? TorchType::isInteger(type) : operands.isInteger("self")) ? std::trunc(number)
                                                                             : number;
}
// *_like operators take the shape from their argument.
ModelValues filled(ModelBuilder& b, const Operands& operands, double number) {
  const Shape shape = operands.has("size") ? operands.integers("size", {}) : self(operands)->shape;
  b.checkShape(shape);
  return {b.expand(b.number(stored(operands, number)), shape)};
}
ModelValues zeros(ModelBuilder& b, const Operands& operands, const char*) {
  return filled(b, operands, 0);
}
// One that is written to is made of zeros (operator_table.cpp); the numbers of another are
// arbitrary, if it has any.
ModelValues empty(ModelBuilder& b, const Operands& operands, const char*) {
  const Shape shape = operands.has("size") ? operands.integers("size", {}) : self(operands)->shape;
  b.checkShape(shape);
  if (elements(shape) == 0)
    return filled(b, operands, 0);
  return {b.refuse("an empty tensor that nothing fills", "zeros, or full", shape)};
}
ModelValues ones(ModelBuilder& b, const Operands& operands, const char*) {
  return filled(b, operands, 1);
}
ModelValues full(ModelBuilder& b, const Operands& operands, const char*) {
  return filled(b, operands, operands.real("fill_value"));
}
// The intersection of both triangles of a matrix of ones.
ModelValues identity(ModelBuilder& b, const Operands& operands, const char*) {
  operands.has("dtype"); // has 0 and 1 in every type
  const Index rows = operands.integer("n"), columns = operands.integer("m", rows);
  constexpr Index kMaxRows = 4096;
  b.check(rows >= 0 && columns >= 0 && rows <= kMaxRows && columns <= kMaxRows,
          "an identity is too large");
  const Value square = b.expand(b.number(1), {rows, columns});
  return {b.triangle(b.triangle(square, /*isUpper=*/true, 0), /*isUpper=*/false, 0)};
}
ModelValues scalarTensor(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.number(stored(operands, operands.real("s")))};
}
// [start, end) by steps.
ModelValues range(ModelBuilder& b, const Operands& operands, const char*) {
  const double first = operands.real("start", 0), last = operands.real("end"),
               step = operands.real("step", 1);
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  b.check(count >= 0 && count <= double(Index(1) << 23), "its number of steps is out of range");
  std::vector<double> numbers;
  bool areIntegers = true;
  for (double i = 0; i < count; ++i) {
    numbers.push_back(first + i * step);
    areIntegers = areIntegers && numbers.back() == std::floor(numbers.back());
  }
  // The type is that of the arguments, unless one is requested.
  const Index type =
      operands.integer("dtype", areIntegers ? TorchType::kInt64 : TorchType::kFloat32);
  const Shape shape = {static_cast<Index>(numbers.size())};
  if (TorchType::isInteger(type) && !areIntegers)
    return {b.refuse("a range of integers with steps that are none", "integers", shape)};
  return {b.constant(ModelConstant::ofNumbers(shape, std::move(numbers),
                                              /*isInteger=*/TorchType::isInteger(type)))};
}
// Equidistant numbers including both ends.
ModelValues linspace(ModelBuilder& b, const Operands& operands, const char*) {
  const double first = operands.real("start"), last = operands.real("end");
  const Index steps = operands.integer("steps");
  b.check(steps >= 1 && steps <= Index(1) << 23, "its number of steps is out of range");
  std::vector<double> numbers;
  for (Index i = 0; i < steps; ++i)
    numbers.push_back(steps == 1 ? first
                                 : first + (last - first) * static_cast<double>(i) /
                                               static_cast<double>(steps - 1));
  return {b.constant(ModelConstant::ofNumbers({steps}, std::move(numbers)))};
}
// Powers of a base with equidistant exponents.
ModelValues logspace(ModelBuilder& b, const Operands& operands, const char*) {
  const double base = operands.real("base", 10);
  b.check(base > 0, "its base is not positive");
  return {b.unary("exp", b.affine(linspace(b, operands, "")[0], {std::log(base)}, {0}))};
}
// The indices of a triangle of a matrix, rows and columns; `variant` "upper" or "lower".
ModelValues indicesOfTriangle(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Index rows = operands.integer("row"), columns = operands.integer("col"),
              offset = operands.integer("offset", 0);
  b.check(rows >= 0 && columns >= 0, "its extents are negative");
  b.spend(rows);
  b.spend(columns);
  b.spend(rows * columns);
  std::vector<double> ofRows, ofColumns;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      if (*variant == 'u' ? j - i >= offset : j - i <= offset) {
        ofRows.push_back(static_cast<double>(i));
        ofColumns.push_back(static_cast<double>(j));
      }
  const auto count = static_cast<Index>(ofRows.size());
  ofRows.insert(ofRows.end(), ofColumns.begin(), ofColumns.end());
  return {b.constant(ModelConstant::ofNumbers({2, count}, std::move(ofRows), /*isInteger=*/true))};
}
// Windows of signals, by their cosine series or ("bartlett") as a triangle. A periodic one (the
// default) is the beginning of the symmetric one with an element more.
ModelValues windowOf(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Index n = operands.integer("window_length");
  b.check(n >= 0 && n <= Index(1) << 23, "its length is out of range");
  const auto steps = static_cast<double>(operands.flag("periodic", true) ? n : n - 1);
  const std::string_view kind = variant;
  const double alpha = kind == "hann"      ? 0.5
                       : kind == "hamming" ? operands.real("alpha", 0.54)
                                           : 0.42;
  const double beta = kind == "hamming" ? operands.real("beta", 0.46) : 0.5,
               gamma = kind == "blackman" ? 0.08 : 0;
  std::vector<double> numbers;
  for (Index i = 0; i < n; ++i) {
    const double at = n == 1 ? 0 : static_cast<double>(i) / steps;
    const double series = alpha - beta * std::cos(2 * std::numbers::pi * at) +
                          gamma * std::cos(4 * std::numbers::pi * at);
    numbers.push_back(n == 1 ? 1 : kind == "bartlett" ? 1 - std::abs(2 * at - 1) : series);
  }
  return {b.constant(ModelConstant::ofNumbers({n}, std::move(numbers)))};
}
// The frequencies of a transform of n points at distance d: 0, 1, ..., and then the negative ones.
ModelValues frequencies(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Index n = operands.integer("n");
  const double d = operands.real("d", 1);
  b.check(n >= 1 && n <= Index(1) << 23 && d != 0, "its number of points is out of range");
  const bool isOfReal = *variant == 'r';
  std::vector<double> numbers;
  for (Index i = 0; i < (isOfReal ? n / 2 + 1 : n); ++i)
    numbers.push_back(static_cast<double>(isOfReal || 2 * i < n ? i : i - n) /
                      (static_cast<double>(n) * d));
  const auto count = static_cast<Index>(numbers.size());
  return {b.constant(ModelConstant::ofNumbers({count}, std::move(numbers)))};
}
// Returns the coordinates of all points of a grid, from those along each dimension.
ModelValues meshOfPoints(ModelBuilder& b, const Operands& operands, const char*) {
  const ModelValues axes = operands.values("tensors");
  const bool isSwapped = operands.text("indexing", "ij") == "xy" && axes.size() > 1;
  Shape extents;
  for (const Value axis : axes) {
    b.check(axis && axis->ndim() == 1, "its coordinates have not one dimension");
    extents.push_back(axis->shape[0]);
  }
  ModelValues coordinates;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    Shape shape(axes.size(), 1);
    shape[d] = extents[d];
    Value value = b.expand(b.reshape(axes[d], shape), extents);
    if (isSwapped) {
      std::vector<int> order(axes.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
      std::swap(order[0], order[1]);
      value = b.transpose(value, order);
    }
    coordinates.push_back(value);
  }
  return coordinates;
}
// The weight g v / |v|. The norm is over all dimensions but `dim`, or over all of them.
ModelValues weightNorm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value v = operands.needed("v"), g = operands.needed("g");
  const Index dim = operands.integer("dim", 0);
  Shape normShape(v->shape.size(), 1);
  std::vector<int> dims;
  // PyTorch's -1 means the norm over all dimensions.
  const int separateDim = dim == -1 ? -1 : b.dimension(dim, v->ndim());
  for (int d = 0; d < v->ndim(); ++d)
    if (d != separateDim)
      dims.push_back(d);
    else
      normShape[static_cast<std::size_t>(d)] = v->shape[static_cast<std::size_t>(d)];
  b.check(elements(g->shape) == elements(normShape), "it needs one norm for each output");
  const Value norm = b.unary("sqrt", b.reduce("sum", b.binary("mul", v, v), dims, /*keeps=*/true));
  return {b.binary("mul", v, b.binary("div", b.reshape(g, normShape), norm))};
}

} // namespace

std::span<const Pt2Row> pt2Constants() {
  static constexpr Pt2Row rows[] = {{"_weight_norm", weightNorm},
                                    {"arange", range},
                                    {"bartlett_window", windowOf, "bartlett"},
                                    {"blackman_window", windowOf, "blackman"},
                                    {"empty", empty},
                                    {"empty_like", empty},
                                    {"eye", identity},
                                    {"fft_fftfreq", frequencies, "complex"},
                                    {"fft_rfftfreq", frequencies, "real"},
                                    {"full", full},
                                    {"full_like", full},
                                    {"hamming_window", windowOf, "hamming"},
                                    {"hann_window", windowOf, "hann"},
                                    {"linspace", linspace},
                                    {"logspace", logspace},
                                    {"meshgrid", meshOfPoints},
                                    {"new_empty", empty},
                                    {"new_full", full},
                                    {"new_ones", ones},
                                    {"new_zeros", zeros},
                                    {"ones", ones},
                                    {"ones_like", ones},
                                    {"scalar_tensor", scalarTensor},
                                    {"tril_indices", indicesOfTriangle, "lower"},
                                    {"triu_indices", indicesOfTriangle, "upper"},
                                    {"zero", zeros},
                                    {"zeros", zeros},
                                    {"zeros_like", zeros}};
  return rows;
}

} // namespace tenon
