// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: products of vectors and matrices. Each function reads the arguments of an
// operation by name (Operands) and appends values to the canonical graph by the builder b; self()
// is the first argument. The table at the end has a row per family of operators: name, function,
// and the function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp).
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// beta self + alpha product.
ModelValues added(ModelBuilder& b, const Operands& operands, Value product) {
  return {b.binary("add", b.affine(product, {operands.real("alpha", 1)}, {0}),
                   b.affine(operands.needed("self"), {operands.real("beta", 1)}, {0}))};
}
ModelValues addmm(ModelBuilder& b, const Operands& operands, const char*) {
  const bool isMatrix = operands.has("mat1"); // otherwise a batch of matrices
  return added(b, operands,
               b.matmul(operands.needed(isMatrix ? "mat1" : "batch1"),
                        operands.needed(isMatrix ? "mat2" : "batch2")));
}
ModelValues addbmm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value product = b.matmul(operands.needed("batch1"), operands.needed("batch2"));
  return added(b, operands, b.reduce("sum", product, {0}, /*keeps=*/false));
}
ModelValues addmv(ModelBuilder& b, const Operands& operands, const char*) {
  return added(b, operands, b.matmul(operands.needed("mat"), operands.needed("vec")));
}
ModelValues matmul(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.matmul(self(operands),
                   operands.has("other") ? operands.value("other") : operands.needed("mat2"))};
}
// The inner product of two vectors. vdot conjugates the first.
ModelValues dot(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value other = operands.needed(operands.has("tensor") ? "tensor" : "other");
  const Value x = *variant == '\0' ? self(operands) : b.conjugated(self(operands));
  return {b.reduce("sum", b.binary("mul", x, other), {0}, /*keeps=*/false)};
}
// Matrix times vector.
ModelValues product(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.matmul(self(operands), operands.needed("vec"))};
}
// The product of all pairs of elements of two vectors.
Value outerProduct(ModelBuilder& b, Value x, Value y) {
  return b.binary("mul", b.reshape(x, {elements(x->shape), 1}),
                  b.reshape(y, {1, elements(y->shape)}));
}
ModelValues outer(ModelBuilder& b, const Operands& operands, const char*) {
  return {
      outerProduct(b, self(operands), operands.needed(operands.has("vec2") ? "vec2" : "other"))};
}
ModelValues addOuter(ModelBuilder& b, const Operands& operands, const char*) {
  return added(b, operands, outerProduct(b, operands.needed("vec1"), operands.needed("vec2")));
}
// All dimensions but the last one merged.
Value rowsOf(ModelBuilder& b, Value x) {
  return b.reshape(x, {elements(Shape(x->shape.begin(), x->shape.end() - 1)), x->shape.back()});
}
// A sum over the last dimensions of both.
ModelValues inner(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), y = operands.needed("other");
  if (x->ndim() == 0 || y->ndim() == 0)
    return {b.binary("mul", x, y)};
  b.check(x->shape.back() == y->shape.back(), "its last extents differ");
  Shape shape(x->shape.begin(), x->shape.end() - 1);
  shape.insert(shape.end(), y->shape.begin(), y->shape.end() - 1);
  return {b.reshape(b.matmul(rowsOf(b, x), b.transpose(rowsOf(b, y), {1, 0})), shape)};
}
// Matrices from left to right. The first and the last one can be vectors.
ModelValues chain(ModelBuilder& b, const Operands& operands, const char* variant) {
  const ModelValues factors = operands.values(variant);
  b.check(!factors.empty() && std::ranges::none_of(factors, [](Value v) { return !v; }),
          "it multiplies nothing");
  Value product = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i)
    product = b.matmul(product, factors[i]);
  return {product};
}
ModelValues matrixPower(ModelBuilder& b, const Operands& operands, const char*) {
  Value square = operands.has("A") ? operands.value("A") : self(operands), result = nullptr;
  Index n = operands.integer("n");
  if (n < 1)
    return {b.refuse("a power of matrices below 1", "powers of at least 1", square->shape)};
  for (; n > 0; n /= 2) {
    if (n % 2 == 1)
      result = result ? b.matmul(result, square) : square;
    if (n > 1)
      square = b.matmul(square, square);
  }
  return {result};
}
// x1 [..., i] W [o, i, j] x2 [..., j] + bias.
ModelValues bilinear(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = operands.needed("input1"), y = operands.needed("input2"),
              weight = operands.needed("weight");
  b.check(x->ndim() >= 1 && y->ndim() == x->ndim() && weight->ndim() == 3,
          "it needs inputs [..., features] and a weight of three dimensions");
  Shape shape = x->shape;
  shape.back() = weight->shape[0];
  const Value result =
      b.reshape(b.einsum("ni,oij,nj->no", {rowsOf(b, x), weight, rowsOf(b, y)}), shape);
  return {operands.has("bias") ? b.binary("add", result, operands.value("bias")) : result};
}

} // namespace

std::span<const Pt2Row> pt2Products() {
  static constexpr Pt2Row rows[] = {{"addbmm", addbmm},
                                    {"addmm", addmm},
                                    {"addmv", addmv},
                                    {"addr", addOuter},
                                    {"baddbmm", addmm},
                                    {"bilinear", bilinear},
                                    {"bmm", matmul},
                                    {"chain_matmul", chain, "matrices"},
                                    {"dot", dot},
                                    {"ger", outer},
                                    {"inner", inner},
                                    {"linalg_matrix_power", matrixPower},
                                    {"linalg_multi_dot", chain, "tensors"},
                                    {"matmul", matmul},
                                    {"matrix_power", matrixPower},
                                    {"mm", matmul},
                                    {"mv", product},
                                    {"outer", outer},
                                    {"vdot", dot, "conjugate"}};
  return rows;
}

} // namespace tenon
