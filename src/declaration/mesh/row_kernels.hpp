// SPDX-License-Identifier: BSD-2-Clause
// Kernels of the types on edges of a mesh, on arrays [rows, channels...] whose rows belong to nodes
// or edges. An output row combines input rows by a list of entries (output row, input row, weight).
// For the three edges 0 -> 1, 0 -> 2 and 1 -> 2, the gather of sources has the entries (0,0),
// (1,0), (2,1): row e is a copy of the row of e's source. The sum at targets has (1,0), (2,1),
// (2,2): row 2 is the sum of the rows of edges 1 and 2. At set-up the entries are sorted by output
// row for forward and tangent, and by input row for the adjoint. All indices are local: exchanges
// of the layer have brought the rows to this rank.
#pragma once

#include "declaration/kernel/array_kernel.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/mesh/edges.hpp"
#include "kernels/rows/row_lists.hpp"

namespace tenon {

// Numbers of the elements of a row and of the rows on a rank.
Index elementsOfRow(const Layout& layout, int rank);
Index rowCount(const Layout& layout, int rank);

// The edges as list entries. Null lists mean that entry e has row e, for output and input; callers
// replace one or both.
RowEntries entriesOf(const Edges& edges);

// The position of a row within a wider row of the output, if several inputs are concatenated; in
// elements. For inputs with rows of 4, 4 and 2 elements, the second one has {4, 4, 10}:
//
//   a a a a b b b b c c
struct InRow {
  Index inner; // length of the row
  Index begin; // its first element in the wider row
  Index step;  // length of the wider row
};
inline InRow wholeRow(Index inner) {
  return {.inner = inner, .begin = 0, .step = inner};
}

// A kernel whose output rows are combinations of input rows. A fused kernel (edge_network.hpp)
// reads its lists and then replaces several such kernels.
class ListedKernel : public ArrayKernel {
public:
  explicit ListedKernel(const InRow& in) : in_(in) {}
  const InRow& inRow() const noexcept { return in_; }
  // The lists; null if row i of the output is row i of the input.
  virtual const RowLists* lists() const { return nullptr; }

protected:
  // Sets to zero the row's part of the first `rows` rows of y.
  void zero(Index rows, LocalArray& y) const;

  InRow in_;
};

// y[i, part of the row] = sum over the entries of row i of weight * x[index, :]. `what` describes
// the kernel.
std::unique_ptr<ArrayKernel> makeCombinedRows(TenonDataType type, KernelContext& context,
                                              Index rowsOfX, Index rowsOfY,
                                              const RowEntries& entries, const InRow& in,
                                              const char* what);

} // namespace tenon
