// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: reductions and softmax. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). A reduction without dimensions is over all of them.
#include "import/pt2/operator_rows.hpp"

#include <cmath>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues softmax(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.softmax(self(operands), static_cast<int>(operands.integer("dim")))};
}
// A row of -infinity has softmax NaN; PyTorch returns 0.
ModelValues safeSoftmax(ModelBuilder& b, const Operands& operands, const char*) {
  const Value result = softmax(b, operands, "")[0];
  return {b.where(b.compare("ne", result, result), b.number(0), result)};
}
// The dimensions of a reduction; all of them if none is named.
std::vector<int> dimsOf(ModelBuilder& b, const Operands& operands, Value x) {
  std::vector<int> dims;
  for (const Index d : operands.integers("dim", {}))
    dims.push_back(b.dimension(d, x->ndim()));
  const bool areAll = dims.empty();
  for (int d = 0; areAll && d < x->ndim(); ++d)
    dims.push_back(d);
  return dims;
}
ModelValues reduction(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  return {b.reduce(variant, x, dimsOf(b, operands, x), operands.flag("keepdim", false))};
}
// Reductions of booleans: any (maximum) and all (minimum).
ModelValues holds(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands),
              flags = operands.isFlag("self") ? x : b.compare("ne", x, b.number(0));
  return {b.reduce(variant, flags, dimsOf(b, operands, x), operands.flag("keepdim", false))};
}
// The index of the largest or smallest element of a dimension, or of all.
ModelValues place(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value x = self(operands);
  const bool keeps = operands.flag("keepdim", false), isOfAll = !operands.has("dim");
  if (isOfAll)
    x = b.reshape(x, {elements(x->shape)});
  const int d = isOfAll ? 0 : b.dimension(operands.integer("dim"), x->ndim());
  const Value result = b.placeOfExtreme(x, d, *variant == 'm', /*isLast=*/false);
  Shape shape = isOfAll && keeps ? Shape(self(operands)->shape.size(), 1) : result->shape;
  if (!keeps)
    shape.erase(shape.begin() + d);
  return {b.reshape(result, shape)};
}
// Maximum or minimum of all elements, along a dimension (with their indices, whose elements have
// the derivative), or of two tensors.
ModelValues extreme(ModelBuilder& b, const Operands& operands, const char* variant) {
  if (operands.has("other"))
    return {b.binary(variant, self(operands), operands.value("other"))};
  if (operands.operation().results.size() < 2)
    return reduction(b, operands, variant);
  const bool isMaximum = std::string_view(variant) == "max";
  return {reduction(b, operands, isMaximum ? "max of first" : "min of first")[0],
          place(b, operands, isMaximum ? "maximum" : "least")[0]};
}
// sum((x - mean)^2) / (n - correction); the correction is 1 by default.
Value variance(ModelBuilder& b, const Operands& operands) {
  const Value x = self(operands);
  if (x->isComplex())
    return b.refuse("a variance of complex numbers", "that of their real and imaginary parts",
                    x->shape);
  const std::vector<int> dims = dimsOf(b, operands, x);
  double count = 1;
  for (const int d : dims)
    count *= static_cast<double>(x->shape[static_cast<std::size_t>(d)]);
  const double correction =
      operands.has("correction") ? operands.real("correction") : operands.flag("unbiased", true);
  b.check(count > correction, "a variance of too few elements");
  const Value difference = b.binary("sub", x, b.reduce("mean", x, dims, /*keeps=*/true));
  return b.affine(b.reduce("mean", b.binary("mul", difference, difference), dims,
                           operands.flag("keepdim", false)),
                  {count / (count - correction)}, {0});
}
ModelValues varianceOf(ModelBuilder& b, const Operands& operands, const char*) {
  return {variance(b, operands)};
}
ModelValues deviationOf(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.rootOfSquares(variance(b, operands))};
}
// Returns the variance or standard deviation, and the mean.
ModelValues meanAnd(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands), v = variance(b, operands);
  return {std::string_view(variant) == "std" ? b.rootOfSquares(v) : v,
          b.reduce("mean", x, dimsOf(b, operands, x), operands.flag("keepdim", false))};
}
ModelValues logSumExp(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.logSumExp(x, dimsOf(b, operands, x), operands.flag("keepdim", false))};
}
// x - log(sum(exp(x))).
ModelValues logSoftmax(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.binary(
      "sub", x, b.logSumExp(x, {b.dimension(operands.integer("dim"), x->ndim())}, /*keeps=*/true))};
}
// The norms of order 1, 2 and infinity, which are those of the magnitudes of complex numbers.
ModelValues norm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands)->isComplex() ? b.unary("abs", self(operands)) : self(operands);
  const double order = operands.has("p") ? operands.real("p", 2) : operands.real("ord", 2);
  const std::vector<int> dims = dimsOf(b, operands, x);
  const bool keeps = operands.flag("keepdim", false);
  if (order == 1)
    return {b.reduce("sum", b.unary("abs", x), dims, keeps)};
  if (std::isinf(order))
    return {b.reduce(order > 0 ? "max" : "min", b.unary("abs", x), dims, keeps)};
  if (order != 2)
    return {b.refuse("a norm of this order", "the norms of order 1, 2 and infinity", {1})};
  return {b.rootOfSquares(b.reduce("sum", b.binary("mul", x, x), dims, keeps))};
}

} // namespace

std::span<const Pt2Row> pt2Reductions() {
  static constexpr Pt2Row rows[] = {{"_log_softmax", logSoftmax},   {"_safe_softmax", safeSoftmax},
                                    {"_softmax", softmax},          {"all", holds, "min"},
                                    {"amax", reduction, "max"},     {"amin", reduction, "min"},
                                    {"any", holds, "max"},          {"argmax", place, "maximum"},
                                    {"argmin", place, "least"},     {"linalg_vector_norm", norm},
                                    {"log_softmax", logSoftmax},    {"logsumexp", logSumExp},
                                    {"max", extreme, "max"},        {"mean", reduction, "mean"},
                                    {"min", extreme, "min"},        {"norm", norm},
                                    {"prod", reduction, "product"}, {"softmax", softmax},
                                    {"std", deviationOf},           {"std_mean", meanAnd, "std"},
                                    {"sum", reduction, "sum"},      {"var", varianceOf},
                                    {"var_mean", meanAnd, "var"}};
  return rows;
}

} // namespace tenon
