// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: reductions and softmax. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp). A reduction without dimensions is over all of them.
#include "import/pt2/operator_rows.hpp"

#include <numeric>
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
ModelValues norm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const double order = operands.has("p") ? operands.real("p", 2) : operands.real("ord", 2);
  return {b.vectorNorm(x, order, dimsOf(b, operands, x), operands.flag("keepdim", false))};
}
// A norm of vectors, or (`variant` "matrix", or two dimensions with an order) of matrices, of which
// only that of Frobenius is one of all their elements.
ModelValues normOfMatrices(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  const bool isMatrix = *variant != '\0';
  std::vector<Index> dims = operands.integers("dim", {});
  if (dims.empty() && isMatrix)
    dims = {-2, -1};
  const bool hasText = operands.operation().type.find("str") != std::string::npos ||
                       (isMatrix && !operands.has("ord"));
  const std::size_t count = dims.empty() ? x->shape.size() : dims.size();
  if (hasText ? operands.text("ord", "fro") != "fro" : count == 2 && operands.has("ord"))
    return {b.refuse("a norm of matrices by their singular values or sums",
                     "the norm of Frobenius, or norms of vectors", {1})};
  std::vector<int> over;
  for (const Index d : dims)
    over.push_back(b.dimension(d, x->ndim()));
  for (int d = 0; dims.empty() && d < x->ndim(); ++d)
    over.push_back(d);
  return {b.vectorNorm(x, hasText ? 2 : operands.real("ord", 2), over,
                       operands.flag("keepdim", false))};
}
// The norm of a difference.
ModelValues distance(ModelBuilder& b, const Operands& operands, const char*) {
  const Value apart = b.binary("sub", self(operands), operands.needed("other"));
  std::vector<int> dims(apart->shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return {b.vectorNorm(apart, operands.real("p", 2), dims, /*keeps=*/false)};
}
// Slices of a dimension, of which those with a larger norm than a bound are scaled to it.
ModelValues boundedNorms(ModelBuilder& b, const Operands& operands, const char*) {
  constexpr double kEpsilon = 1e-7; // PyTorch's
  const Value x = self(operands);
  const int own = b.dimension(operands.integer("dim"), x->ndim());
  std::vector<int> dims;
  for (int d = 0; d < x->ndim(); ++d)
    if (d != own)
      dims.push_back(d);
  const double bound = operands.real("maxnorm");
  const Value norm = b.vectorNorm(x, operands.real("p"), dims, /*keeps=*/true);
  const Value factor = scaled(b, b.unary("reciprocal", b.affine(norm, {1}, {kEpsilon})), bound);
  return {b.binary("mul", x, b.where(b.compare("gt", norm, b.number(bound)), factor, b.number(1)))};
}
// The elements that are not NaN, summed or averaged (`variant`).
ModelValues numbersOnly(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands), isNumber = b.compare("eq", x, x);
  const std::vector<int> dims = dimsOf(b, operands, x);
  const bool keeps = operands.flag("keepdim", false);
  const Value sum = b.reduce("sum", b.where(isNumber, x, b.number(0)), dims, keeps);
  return {*variant == 's' ? sum : b.binary("div", sum, b.reduce("sum", isNumber, dims, keeps))};
}
// The smallest and the largest elements.
ModelValues extremes(ModelBuilder& b, const Operands& operands, const char*) {
  return {reduction(b, operands, "min")[0], reduction(b, operands, "max")[0]};
}
ModelValues countOfNonZero(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.reduce("sum", b.compare("ne", x, b.number(0)), dimsOf(b, operands, x),
                   /*keeps=*/false)};
}

} // namespace

std::span<const Pt2Row> pt2Reductions() {
  static constexpr Pt2Row rows[] = {{"_log_softmax", logSoftmax},
                                    {"_safe_softmax", safeSoftmax},
                                    {"_softmax", softmax},
                                    {"all", holds, "min"},
                                    {"amax", reduction, "max"},
                                    {"amin", reduction, "min"},
                                    {"aminmax", extremes},
                                    {"any", holds, "max"},
                                    {"argmax", place, "maximum"},
                                    {"argmin", place, "least"},
                                    {"count_nonzero", countOfNonZero},
                                    {"dist", distance},
                                    {"linalg_matrix_norm", normOfMatrices, "matrix"},
                                    {"linalg_norm", normOfMatrices},
                                    {"linalg_vector_norm", norm},
                                    {"log_softmax", logSoftmax},
                                    {"logsumexp", logSumExp},
                                    {"max", extreme, "max"},
                                    {"mean", reduction, "mean"},
                                    {"min", extreme, "min"},
                                    {"nanmean", numbersOnly, "mean"},
                                    {"nansum", numbersOnly, "sum"},
                                    {"norm", norm},
                                    {"prod", reduction, "product"},
                                    {"renorm", boundedNorms},
                                    {"softmax", softmax},
                                    {"special_log_softmax", logSoftmax},
                                    {"special_logsumexp", logSumExp},
                                    {"special_softmax", softmax},
                                    {"std", deviationOf},
                                    {"std_mean", meanAnd, "std"},
                                    {"sum", reduction, "sum"},
                                    {"var", varianceOf},
                                    {"var_mean", meanAnd, "var"}};
  return rows;
}

} // namespace tenon
