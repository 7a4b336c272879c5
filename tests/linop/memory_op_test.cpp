// SPDX-License-Identifier: BSD-2-Clause
// Tests the memory operators (allocate, clear, add, copy, move on boxes of a rank's own array): the
// matrix of each operator, computed column by column, is compared with its definition, with the
// transpose of its adjoint's, and with products of other operators' by the identities of Hewett and
// Grady 2020, Appendix A.
#include "linop/algebra/memory_op.hpp"

#include "operators.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::onLine;
using test::world;
using Matrix = std::vector<std::vector<double>>; // columns

// A layout with (4 + more) x (3 + more) elements on each rank, so the matrices of operators on
// memory() are 12 x 12.
Layout memory(Index more = 0) {
  return onLine({(4 + more) * world()->size(), 3 + more}, "S0");
}

// Returns the matrix of this rank's part of an operator: one column for each unit vector.
Matrix matrixOf(LinearOp& op, Sense sense = Sense::Forward) {
  const test::Ends ends(op, sense, 1);
  Matrix columns;
  for (Index i = 0; i < ends.x->localElements(); ++i) {
    std::vector<double> unit(ends.x->localElements(), 0);
    unit[i] = 1;
    test::setCells(*ends.x, unit);
    test::act(op, sense, 1, *ends.x, 0, *ends.y);
    columns.push_back(test::elementsOf(*ends.y));
  }
  return columns;
}

Matrix transposed(const Matrix& a) {
  Matrix result(a.empty() ? 0 : a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j)
      result[j][i] = a[i][j];
  return result;
}

Matrix identity(Index n) {
  Matrix result(n, std::vector<double>(n, 0));
  for (Index i = 0; i < n; ++i)
    result[i][i] = 1;
  return result;
}

// The number of a cell in memory of the given width.
Index cellAt(Index row, Index column, Index width = 3) {
  return row * width + column;
}

// Two disjoint boxes of equal extents at other places on each rank.
struct Boxes {
  Index shift = world()->rank() % 2;
  Box a = {{shift, 2 + shift}, {0, 2}};
  Box b = {{2, 4}, {1, 3}};
  std::vector<Index> to = {2, 1};
  Boxes() {
    if (shift > 0) { // side by side in columns
      a = {{1, 4}, {0, 1}};
      b = {{0, 3}, {2, 3}};
      to = {0, 2};
    }
  }
  // f(cell of a, cell of b).
  template <class F>
  void forEach(F f) const {
    for (Index i = 0; i < a[0].size(); ++i)
      for (Index j = 0; j < a[1].size(); ++j)
        f(cellAt(a[0].begin + i, a[1].begin + j), cellAt(b[0].begin + i, b[1].begin + j));
  }
};

class MemoryOps : public testing::Test {
protected:
  LinearOpRef clear(const Box& box) { return MemoryOp::clear(world(), memory(), box, type); }
  LinearOpRef add() { return MemoryOp::add(world(), memory(), at.a, at.to, type); }
  LinearOpRef addBack() {
    return MemoryOp::add(world(), memory(), at.b, {at.a[0].begin, at.a[1].begin}, type);
  }
  LinearOpRef copy() { return MemoryOp::copy(world(), memory(), at.a, at.to, type); }
  LinearOpRef move() { return MemoryOp::move(world(), memory(), at.a, at.to, type); }

  const TenonDataType type = TENON_FLOAT64;
  const Boxes at;
};

TEST_F(MemoryOps, ClearMakesABoxZero) {
  Matrix expected = identity(12);
  at.forEach([&](Index, Index b) { expected[b][b] = 0; });
  EXPECT_EQ(matrixOf(*clear(at.b)), expected);
}

TEST_F(MemoryOps, AddAddsABoxToAnother) {
  Matrix expected = identity(12);
  at.forEach([&](Index a, Index b) { expected[a][b] = 1; });
  EXPECT_EQ(matrixOf(*add()), expected);
}

TEST_F(MemoryOps, CopyReplacesABoxByAnother) {
  Matrix expected = identity(12);
  at.forEach([&](Index, Index b) { expected[b][b] = 0; });
  at.forEach([&](Index a, Index b) { expected[a][b] = 1; });
  EXPECT_EQ(matrixOf(*copy()), expected);
}

TEST_F(MemoryOps, MoveLeavesZero) {
  Matrix expected = identity(12);
  at.forEach([&](Index a, Index b) { expected[a][a] = expected[b][b] = 0; });
  at.forEach([&](Index a, Index b) { expected[a][b] = 1; });
  EXPECT_EQ(matrixOf(*move()), expected);
}

TEST_F(MemoryOps, AllocateSurroundsTheOldMemoryByZeros) {
  const auto op = MemoryOp::allocate(world(), memory(), memory(2), {2, 1}, type);
  Matrix expected(12, std::vector<double>(30, 0));
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j)
      expected[cellAt(i, j)][cellAt(2 + i, 1 + j, 5)] = 1;
  EXPECT_EQ(matrixOf(*op), expected);
  EXPECT_EQ(matrixOf(*op, Sense::Adjoint), transposed(expected)); // deallocate
}

TEST_F(MemoryOps, AllocatesFromNothing) {
  const auto op = MemoryOp::allocate(world(), onLine({0, 3}, "S0"), memory(), {4, 0}, type);
  const test::Ends ends(*op, Sense::Forward, 1);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(test::elementsOf(*ends.y), std::vector<double>(12, 0));
}

TEST_F(MemoryOps, AdjointsAreTransposes) {
  for (const LinearOpRef& op : {clear(at.b), add(), copy(), move()})
    EXPECT_EQ(matrixOf(*op, Sense::Adjoint), transposed(matrixOf(*op))) << op->type();
}

TEST_F(MemoryOps, AdjointsAreMemoryOperatorsAgain) {
  EXPECT_EQ(matrixOf(*clear(at.b), Sense::Adjoint), matrixOf(*clear(at.b)));
  EXPECT_EQ(matrixOf(*add(), Sense::Adjoint), matrixOf(*addBack()));
  EXPECT_EQ(matrixOf(*copy(), Sense::Adjoint), matrixOf(*compose({addBack(), clear(at.b)})));
  EXPECT_EQ(matrixOf(*move(), Sense::Adjoint),
            matrixOf(*compose({clear(at.a), addBack(), clear(at.b)})));
}

TEST_F(MemoryOps, CopyAndMoveAreMadeOfClearAndAdd) {
  EXPECT_EQ(matrixOf(*copy()), matrixOf(*compose({clear(at.b), add()})));
  EXPECT_EQ(matrixOf(*move()), matrixOf(*compose({clear(at.b), add(), clear(at.a)})));
}

// From memory a to new memory b behind it: C = S A, M = D S A.
TEST_F(MemoryOps, OutOfPlaceFormsAllocateTheTarget) {
  const Layout one = onLine({4 * world()->size(), 3}, "S0"),
               both = onLine({8 * world()->size(), 3}, "S0");
  const LinearOpRef allocateB = MemoryOp::allocate(world(), one, both, {0, 0}, type);
  const LinearOpRef deallocateA = adjointView(MemoryOp::allocate(world(), one, both, {4, 0}, type));
  const LinearOpRef addAToB = MemoryOp::add(world(), both, {{0, 4}, {0, 3}}, {4, 0}, type);
  Matrix twoCopies = identity(12);
  for (Index i = 0; i < 12; ++i) {
    twoCopies[i].resize(24, 0);
    twoCopies[i][12 + i] = 1;
  }
  EXPECT_EQ(matrixOf(*compose({allocateB, addAToB})), twoCopies);
  EXPECT_EQ(matrixOf(*compose({allocateB, addAToB, deallocateA})), identity(12));
}

TEST_F(MemoryOps, EmptyBoxesChangeNothing) {
  const Box none = {{2, 2}, {1, 1}};
  EXPECT_EQ(matrixOf(*clear(none)), identity(12));
  EXPECT_EQ(matrixOf(*MemoryOp::move(world(), memory(), none, {0, 0}, type)), identity(12));
}

TEST_F(MemoryOps, RefuseBoxesOutsideAndOverlapping) {
  expectError(TENON_ERR_ARG, {"the box", "[2,5)x[0,3)", "[0,4)x[0,3)"}, [&] {
    clear({{2, 5}, {0, 3}});
  });
  expectError(TENON_ERR_ARG, {"1 dimensions", "2"}, [&] { clear({{0, 1}}); });
  expectError(TENON_ERR_ARG, {"the target", "[3,5)x[0,1)"}, [&] {
    MemoryOp::copy(world(), memory(), {{0, 2}, {0, 1}}, {3, 0}, type);
  });
  expectError(TENON_ERR_ARG, {"overlap"}, [&] {
    MemoryOp::move(world(), memory(), {{0, 2}, {0, 1}}, {1, 0}, type);
  });
  expectError(TENON_ERR_ARG, {"the place of the old memory"}, [&] {
    MemoryOp::allocate(world(), memory(), memory(2), {3, 0}, type);
  });
  expectError(TENON_ERR_SHAPE, {"1 dimensions", "2"}, [&] {
    MemoryOp::allocate(world(), memory(), onLine({40}, "S0"), {0, 0}, type);
  });
}

} // namespace
} // namespace tenon
