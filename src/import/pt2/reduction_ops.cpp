// SPDX-License-Identifier: BSD-2-Clause
// What PyTorch takes over dimensions. An operator that names none is over all of them.
#include "import/pt2/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues softmax(ModelBuilder& b, const Operands& given, const char*) {
  return {b.softmax(self(given), static_cast<int>(given.integer("dim")))};
}
// 0 where a row has none but -infinity, and the softmax is NaN.
ModelValues safeSoftmax(ModelBuilder& b, const Operands& given, const char*) {
  const Value made = softmax(b, given, "")[0];
  return {b.where(b.compare("ne", made, made), b.number(0), made)};
}
std::vector<int> dimsOf(ModelBuilder& b, const Operands& given, Value x) {
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  const bool areAll = dims.empty();
  for (int d = 0; areAll && d < x->rank(); ++d)
    dims.push_back(d);
  return dims;
}
ModelValues reduction(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given);
  return {b.reduce(of, x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
// Of flags: whether one holds, or all of them.
ModelValues holds(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given), flags = given.isFlag("self") ? x : b.compare("ne", x, b.number(0));
  return {b.reduce(of, flags, dimsOf(b, given, x), given.flag("keepdim", false))};
}
// Of all elements, or along a dimension, where only the values are computed and not their places;
// or of two tensors.
ModelValues extreme(ModelBuilder& b, const Operands& given, const char* of) {
  if (given.has("other"))
    return {b.binary(of, self(given), given.value("other"))};
  return reduction(b, given, of);
}
// The mean of squares of what differs from the mean, of one element fewer.
Value variance(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const std::vector<int> dims = dimsOf(b, given, x);
  double count = 1;
  for (const int d : dims)
    count *= static_cast<double>(x->shape[static_cast<std::size_t>(d)]);
  const double fewer =
      given.has("correction") ? given.real("correction") : given.flag("unbiased", true);
  b.check(count > fewer, "a variance of too few elements");
  const Value difference = b.binary("sub", x, b.reduce("mean", x, dims, true));
  return b.affine(
      b.reduce("mean", b.binary("mul", difference, difference), dims, given.flag("keepdim", false)),
      {count / (count - fewer)}, {0});
}
ModelValues varianceOf(ModelBuilder& b, const Operands& given, const char*) {
  return {variance(b, given)};
}
ModelValues deviationOf(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("sqrt", variance(b, given))};
}
// Both, of which either may be unused.
ModelValues meanAnd(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given), v = variance(b, given);
  return {std::string_view(of) == "std" ? b.unary("sqrt", v) : v,
          b.reduce("mean", x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
ModelValues logSumExp(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.logSumExp(x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
ModelValues logSoftmax(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.binary("sub", x, b.logSumExp(x, {b.dimension(given.integer("dim"), x->rank())}, true))};
}
ModelValues euclideanNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  if (given.real("ord", 2) != 2 || given.real("p", 2) != 2)
    return {b.refuse("a norm other than the Euclidean one", "the Euclidean norm", {1})};
  return {b.unary("sqrt", b.reduce("sum", b.binary("mul", x, x), dimsOf(b, given, x),
                                   given.flag("keepdim", false)))};
}

} // namespace

std::span<const Pt2Row> pt2Reductions() {
  static constexpr Pt2Row rows[] = {
      {"_log_softmax", logSoftmax}, {"_safe_softmax", safeSoftmax},
      {"_softmax", softmax},        {"all", holds, "min"},
      {"amax", reduction, "max"},   {"amin", reduction, "min"},
      {"any", holds, "max"},        {"linalg_vector_norm", euclideanNorm},
      {"log_softmax", logSoftmax},  {"logsumexp", logSumExp},
      {"max", extreme, "max"},      {"mean", reduction, "mean"},
      {"min", extreme, "min"},      {"norm", euclideanNorm},
      {"softmax", softmax},         {"std", deviationOf},
      {"std_mean", meanAnd, "std"}, {"sum", reduction, "sum"},
      {"var", varianceOf},          {"var_mean", meanAnd, "var"}};
  return rows;
}

} // namespace tenon
