// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators that join tensors, or lay elements out: stacks, Kronecker products, blocks and
// diagonals of matrices, products of lists. Each function reads the arguments of an operation by
// name (Operands) and appends values to the canonical graph by the builder b; self() is the first
// argument. The table at the end has a row per family of operators: name, function, and the
// function's last argument `variant`, which selects what a shared function computes
// (operator_rows.hpp).
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues tensorsOf(ModelBuilder& b, const Operands& operands) {
  ModelValues values = operands.values("tensors");
  b.check(!values.empty() && std::ranges::none_of(values, [](Value v) { return !v; }),
          "it joins nothing");
  return values;
}
// x with at least this many dimensions. Of three the channels are last: [1, n, 1] of a vector and
// [m, n, 1] of a matrix.
Value ofRank(ModelBuilder& b, Value x, int rank) {
  if (x->ndim() >= rank)
    return x;
  Shape shape = x->shape;
  if (rank == 3 && !shape.empty())
    shape.push_back(1);
  shape.insert(shape.begin(), static_cast<std::size_t>(rank) - shape.size(), 1);
  return b.reshape(x, shape);
}
// `variant`: the number of dimensions.
ModelValues atLeast(ModelBuilder& b, const Operands& operands, const char* variant) {
  ModelValues values =
      operands.has("tensors") ? tensorsOf(b, operands) : ModelValues{self(operands)};
  for (Value& value : values)
    value = ofRank(b, value, *variant - '0');
  return values;
}
// `variant`: "rows", "columns" (where a vector is a column), "horizontal" (where it is a row), and
// "depth".
ModelValues stacked(ModelBuilder& b, const Operands& operands, const char* variant) {
  ModelValues values = tensorsOf(b, operands);
  for (Value& value : values)
    switch (*variant) {
    case 'c':
      value = value->ndim() < 2 ? b.reshape(value, {elements(value->shape), 1}) : value;
      break;
    case 'h':
      value = ofRank(b, value, 1);
      break;
    default:
      value = ofRank(b, value, *variant == 'd' ? 3 : 2);
    }
  const int dim = *variant == 'r' ? 0 : *variant == 'd' ? 2 : 1;
  return {b.concatenate(values, std::min(dim, values[0]->ndim() - 1))};
}
// All products of an element of one tensor and one of the other, by blocks.
ModelValues kronecker(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), y = operands.needed("other");
  const auto rank = static_cast<std::size_t>(std::max(x->ndim(), y->ndim()));
  const auto extentOf = [&](Value v, std::size_t d) {
    return d + v->shape.size() < rank ? 1 : v->shape[d + v->shape.size() - rank];
  };
  Shape outer, inner, shape;
  for (std::size_t d = 0; d < rank; ++d) {
    outer.insert(outer.end(), {extentOf(x, d), 1});
    inner.insert(inner.end(), {1, extentOf(y, d)});
    shape.push_back(extentOf(x, d) * extentOf(y, d));
  }
  b.checkShape(b.broadcast(outer, inner));
  return {b.reshape(b.binary("mul", b.reshape(x, outer), b.reshape(y, inner)), shape)};
}
// Matrices along the diagonal of a larger one.
ModelValues blockDiagonal(ModelBuilder& b, const Operands& operands, const char*) {
  ModelValues blocks = tensorsOf(b, operands);
  Index columns = 0, before = 0;
  for (Value& block : blocks) {
    block = ofRank(b, block, 2);
    b.check(block->ndim() == 2, "it joins matrices");
    columns += block->shape[1];
  }
  for (Value& block : blocks) {
    const Index own = block->shape[1];
    block = b.pad(block, 1, before, columns - before - own, "values");
    before += own;
  }
  return {b.concatenate(blocks, 0)};
}
// All pairs (triples, ...) of elements of several vectors; one vector is returned as it is.
ModelValues pairsOfAll(ModelBuilder& b, const Operands& operands, const char*) {
  const ModelValues values = tensorsOf(b, operands);
  if (values.size() == 1)
    return values;
  Shape extents;
  for (const Value value : values)
    extents.push_back(elements(value->shape));
  b.checkShape(extents);
  ModelValues columns;
  for (std::size_t d = 0; d < values.size(); ++d) {
    Shape shape(values.size(), 1);
    shape[d] = extents[d];
    columns.push_back(
        b.reshape(b.expand(b.reshape(values[d], shape), extents), {elements(extents), 1}));
  }
  return {b.concatenate(columns, 1)};
}
// Adds to `lists` the next combination of `r` indices below n; returns false after the last.
bool advance(std::vector<Index>& indices, Index n, bool isRepeating) {
  const auto r = static_cast<Index>(indices.size());
  for (Index i = r; i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    if (indices[at] >= (isRepeating ? n - 1 : n - r + i))
      continue;
    ++indices[at];
    for (std::size_t k = at + 1; k < indices.size(); ++k)
      indices[k] = isRepeating ? indices[at] : indices[k - 1] + 1;
    return true;
  }
  return false;
}
ModelValues combinations(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const Index r = operands.integer("r", 2), n = elements(x->shape);
  const bool isRepeating = operands.flag("with_replacement", false);
  b.check(x->ndim() == 1 && r >= 1 && r <= 8 && n >= (isRepeating ? 1 : r),
          "it combines more elements than there are, or than 8");
  std::vector<Index> indices(static_cast<std::size_t>(r), 0);
  for (Index i = 0; !isRepeating && i < r; ++i)
    indices[static_cast<std::size_t>(i)] = i;
  std::vector<std::vector<Index>> columns(indices.size());
  do {
    b.spend(r);
    for (std::size_t i = 0; i < indices.size(); ++i)
      columns[i].push_back(indices[i]);
  } while (advance(indices, n, isRepeating));
  ModelValues parts;
  for (const std::vector<Index>& column : columns)
    parts.push_back(
        b.reshape(b.gather(x, 0, b.integers(column)), {static_cast<Index>(column.size()), 1}));
  return {b.concatenate(parts, 1)};
}
// The powers x^0 ... x^(n - 1) as columns; those of vander() decrease, unless it says otherwise.
ModelValues powers(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = operands.needed("x");
  const Index n = operands.integer("N", x->shape.empty() ? 0 : x->shape.back());
  b.check(n >= 1 && n <= 1024 && x->ndim() >= 1, "its number of powers is out of range");
  Shape column = x->shape;
  column.push_back(1);
  ModelValues columns = {b.expand(b.number(1), column)};
  const Value base = b.reshape(x, column);
  for (Index i = 1; i < n; ++i)
    columns.push_back(i == 1 ? base : b.binary("mul", columns.back(), base));
  if (*variant == '\0' && !operands.flag("increasing", false))
    std::ranges::reverse(columns);
  return {b.concatenate(columns, x->ndim())};
}

// -- diagonals

// A diagonal of two dimensions: `offset` counts from the main one, to the right.
Value diagonalOf(ModelBuilder& b, Value x, int first, int second, Index offset) {
  const Index rows = x->shape[static_cast<std::size_t>(first)],
              columns = x->shape[static_cast<std::size_t>(second)];
  const Index row = std::max(-offset, Index(0)), column = std::max(offset, Index(0)),
              count = std::max(std::min(rows - row, columns - column), Index(0));
  const Value part = b.slice(x, first, std::min(row, rows), std::min(row, rows) + count);
  return b.diagonal(
      b.slice(part, second, std::min(column, columns), std::min(column, columns) + count), first,
      second);
}
// Its arguments have other names in linalg.diagonal(), and other defaults (`variant` "last").
ModelValues diagonal(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = operands.has("A") ? operands.value("A") : self(operands);
  const bool isLast = *variant != '\0';
  return {diagonalOf(b, x, b.dimension(operands.integer("dim1", isLast ? -2 : 0), x->ndim()),
                     b.dimension(operands.integer("dim2", isLast ? -1 : 1), x->ndim()),
                     operands.integer("offset", 0))};
}
ModelValues trace(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.reduce("sum", diagonalOf(b, self(operands), 0, 1, 0), {0}, /*keeps=*/false)};
}
// Matrices [..., rows, columns] with the last dimension of x on a diagonal, and `rest` elsewhere.
Value withDiagonal(ModelBuilder& b, Value x, Index offset, const Shape& matrix, Value rest) {
  std::vector<double> flags(static_cast<std::size_t>(elements(matrix)), 0);
  for (Index i = 0; i < matrix[0]; ++i)
    if (i + offset >= 0 && i + offset < matrix[1])
      flags[static_cast<std::size_t>(i * matrix[1] + i + offset)] = 1;
  // In row i the element of the diagonal is that of number i, or i + offset.
  const Index above = std::max(-offset, Index(0)), count = x->shape.back();
  Shape column = x->shape;
  column.push_back(1);
  const Value rows =
      b.pad(b.reshape(x, column), x->ndim() - 1, above, matrix[0] - above - count, "values");
  return b.where(b.constant(ModelConstant::ofNumbers(matrix, std::move(flags))), rows, rest);
}
// Moves the last two dimensions to these places, of which the first can be after the second.
Value movedTo(ModelBuilder& b, Value x, int first, int second) {
  std::vector<int> order;
  for (int d = 0, next = 0; d < x->ndim(); ++d)
    order.push_back(d == first ? x->ndim() - 2 : d == second ? x->ndim() - 1 : next++);
  return b.transpose(x, order);
}
constexpr Index kMaxDiagonal = 4096;
Value embedded(ModelBuilder& b, Value x, Index offset, int first, int second) {
  const Index n = x->shape.back() + std::abs(offset);
  b.check(n <= kMaxDiagonal && first != second, "a diagonal is too long, or of one dimension");
  return movedTo(b, withDiagonal(b, x, offset, {n, n}, b.number(0)), first, second);
}
ModelValues diagonalMatrix(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  b.check(x->ndim() >= 1, "it needs a vector");
  return {embedded(b, x, operands.integer("offset", 0),
                   b.dimension(operands.integer("dim1", -2), x->ndim() + 1),
                   b.dimension(operands.integer("dim2", -1), x->ndim() + 1))};
}
// The matrix of a vector, or the diagonal of a matrix.
ModelValues vectorOrMatrix(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const Index offset = operands.integer("diagonal", 0);
  b.check(x->ndim() == 1 || x->ndim() == 2, "it needs a vector or a matrix");
  return {x->ndim() == 1 ? embedded(b, x, offset, 0, 1) : diagonalOf(b, x, 0, 1, offset)};
}
// Returns a copy of self in which a diagonal is replaced.
ModelValues diagonalScatter(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), source = operands.needed("src");
  const int first = b.dimension(operands.integer("dim1", 0), x->ndim()),
            second = b.dimension(operands.integer("dim2", 1), x->ndim());
  std::vector<int> order;
  for (int d = 0; d < x->ndim(); ++d)
    if (d != first && d != second)
      order.push_back(d);
  order.insert(order.end(), {first, second});
  const Value turned = b.transpose(x, order);
  const Shape matrix(turned->shape.end() - 2, turned->shape.end());
  b.check(matrix[0] <= kMaxDiagonal && matrix[1] <= kMaxDiagonal && first != second,
          "a diagonal is too long, or of one dimension");
  return {movedTo(b, withDiagonal(b, source, operands.integer("offset", 0), matrix, turned), first,
                  second)};
}

} // namespace

std::span<const Pt2Row> pt2Joins() {
  static constexpr Pt2Row rows[] = {{"atleast_1d", atLeast, "1"},
                                    {"atleast_2d", atLeast, "2"},
                                    {"atleast_3d", atLeast, "3"},
                                    {"block_diag", blockDiagonal},
                                    {"cartesian_prod", pairsOfAll},
                                    {"column_stack", stacked, "columns"},
                                    {"combinations", combinations},
                                    {"diag", vectorOrMatrix},
                                    {"diag_embed", diagonalMatrix},
                                    {"diagonal", diagonal},
                                    {"diagonal_scatter", diagonalScatter},
                                    {"dstack", stacked, "depth"},
                                    {"hstack", stacked, "horizontal"},
                                    {"kron", kronecker},
                                    {"linalg_diagonal", diagonal, "last"},
                                    {"linalg_vander", powers, "increasing"},
                                    {"row_stack", stacked, "rows"},
                                    {"trace", trace},
                                    {"vander", powers},
                                    {"vstack", stacked, "rows"}};
  return rows;
}

} // namespace tenon
