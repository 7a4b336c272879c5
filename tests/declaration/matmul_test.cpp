// SPDX-License-Identifier: BSD-2-Clause
// Tests the signature table of the matrix product y = a b, whose rows state how a, b and y can be
// distributed over an axis of processes. The definition is the independent reference: for 2 and 3
// processes with uneven parts, every choice of properties (split by rows S0, by columns S1,
// replicated B, partial sums P) for a, b and y is tried on random numbers. The choices for which
// the local products are the distributed a b must be exactly the rows of the table.
#include "declaration/core/types.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tenon::test {
namespace {

constexpr Index kRows = 5, kInner = 7, kColumns = 4;
const Property kProperties[] = {Property::shard(0), Property::shard(1), Property::broadcast(),
                                Property::partial()};

struct DenseMatrix {
  Index rows, columns;
  std::vector<double> elements = std::vector<double>(std::size_t(rows * columns));

  double& at(Index r, Index c) { return elements[r * columns + c]; }
  double at(Index r, Index c) const { return elements[r * columns + c]; }
};

DenseMatrix drawn(Index rows, Index columns, std::mt19937& engine) {
  DenseMatrix m{rows, columns};
  for (double& cell : m.elements)
    cell = std::uniform_real_distribution<>(-1, 1)(engine);
  return m;
}

DenseMatrix times(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix y{a.rows, b.columns};
  for (Index r = 0; r < a.rows; ++r)
    for (Index c = 0; c < b.columns; ++c)
      for (Index k = 0; k < a.columns; ++k)
        y.at(r, c) += a.at(r, k) * b.at(k, c);
  return y;
}

// Uneven split points: the first part is larger, and of three parts the last is empty.
std::vector<Index> cutsOf(Index extent, int parts) {
  return parts == 2 ? std::vector<Index>{0, extent / 2 + 1, extent}
                    : std::vector<Index>{0, extent / 2 + 1, extent, extent};
}

DenseMatrix cut(const DenseMatrix& whole, int dim, Index from, Index to) {
  DenseMatrix part{dim == 0 ? to - from : whole.rows, dim == 1 ? to - from : whole.columns};
  for (Index r = 0; r < part.rows; ++r)
    for (Index c = 0; c < part.columns; ++c)
      part.at(r, c) = whole.at(r + (dim == 0 ? from : 0), c + (dim == 1 ? from : 0));
  return part;
}

// The matrix of each process if the whole matrix has this property.
std::vector<DenseMatrix> held(const DenseMatrix& whole, Property property, int processes,
                              std::mt19937& engine) {
  std::vector<DenseMatrix> parts;
  if (property.isShard()) {
    const int dim = property.dim;
    const std::vector<Index> cuts = cutsOf(dim == 0 ? whole.rows : whole.columns, processes);
    for (int p = 0; p < processes; ++p)
      parts.push_back(cut(whole, dim, cuts[p], cuts[p + 1]));
    return parts;
  }
  parts.assign(std::size_t(processes), whole);
  if (!property.isPartial())
    return parts;
  for (int p = 1; p < processes; ++p) {
    parts[p] = drawn(whole.rows, whole.columns, engine);
    for (std::size_t i = 0; i < whole.elements.size(); ++i)
      parts[0].elements[i] -= parts[p].elements[i];
  }
  return parts;
}

bool isNear(const DenseMatrix& a, const DenseMatrix& b) {
  if (a.rows != b.rows || a.columns != b.columns)
    return false;
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    if (std::abs(a.elements[i] - b.elements[i]) > 1e-12)
      return false;
  return true;
}

// Whether the matrices of all processes are the whole matrix with this property.
bool are(const std::vector<DenseMatrix>& parts, const DenseMatrix& whole, Property property,
         std::mt19937& engine) {
  if (property.isPartial()) {
    DenseMatrix sum{whole.rows, whole.columns};
    for (const DenseMatrix& part : parts) {
      if (part.rows != whole.rows || part.columns != whole.columns)
        return false;
      for (std::size_t i = 0; i < sum.elements.size(); ++i)
        sum.elements[i] += part.elements[i];
    }
    return isNear(sum, whole);
  }
  const std::vector<DenseMatrix> wanted =
      held(whole, property, static_cast<int>(parts.size()), engine);
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (!isNear(parts[p], wanted[p]))
      return false;
  return true;
}

std::string text(Property a, Property b, Property y) {
  return a.describe() + "," + b.describe() + "->" + y.describe();
}

// All choices of properties with which local products give the product.
std::set<std::string> rightRows(int processes) {
  std::mt19937 engine(3);
  const DenseMatrix a = drawn(kRows, kInner, engine), b = drawn(kInner, kColumns, engine);
  const DenseMatrix y = times(a, b);
  std::set<std::string> right;
  for (Property pa : kProperties)
    for (Property pb : kProperties) {
      const std::vector<DenseMatrix> as = held(a, pa, processes, engine),
                                     bs = held(b, pb, processes, engine);
      std::vector<DenseMatrix> products;
      for (int p = 0; p < processes && as[p].columns == bs[p].rows; ++p)
        products.push_back(times(as[p], bs[p]));
      if (static_cast<int>(products.size()) < processes)
        continue;
      for (Property py : kProperties)
        if (are(products, y, py, engine))
          right.insert(text(pa, pb, py));
    }
  return right;
}

TEST(Matmul, RowsAreAllThatAreRight) {
  std::set<std::string> table;
  for (const SignatureRow& row :
       makeDeclaration("matmul")->rows({{kRows, kInner}, {kInner, kColumns}}))
    if (row.label != "R")
      table.insert(text(row.inputs[0], row.inputs[1], row.output));
  EXPECT_EQ(table, rightRows(2));
  EXPECT_EQ(table, rightRows(3));
}

TEST(Matmul, FollowsTheInputsThatMoveLeast) {
  const auto matmul = makeDeclaration("matmul");
  const GridPtr grid = Grid::make({2});
  const auto labels = [&](const char* a, const char* b) {
    const Layouts inputs = {
        Layout({.shape = {4, 6}, .grid = grid, .properties = parseProperties(a)}),
        Layout({.shape = {6, 8}, .grid = grid, .properties = parseProperties(b)})};
    return matmul->form(inputs, {}).signature.describe();
  };
  EXPECT_EQ(labels("S0", "B"), "m");
  EXPECT_EQ(labels("B", "S1"), "n");
  EXPECT_EQ(labels("S1", "S0"), "k");
  EXPECT_EQ(labels("S1", "B"), "m"); // b stays
  EXPECT_EQ(labels("P", "B"), "Pa");
}

TEST(Matmul, RefusesShapesThatDoNotFit) {
  const auto matmul = makeDeclaration("matmul");
  using Shapes = std::vector<Shape>;
  for (const Shapes& shapes : {Shapes{{4, 6}, {5, 8}}, Shapes{{2, 4, 6}, {3, 6, 8}},
                               Shapes{{2, 4, 6}, {6, 8}}, Shapes{{6}, {6}}})
    expectError(TENON_ERR_SHAPE, {"[...,m,k] and [...,k,n]"}, [&] { matmul->outputShape(shapes); });
}

} // namespace
} // namespace tenon::test
