// SPDX-License-Identifier: BSD-2-Clause
// Interface of kernels that gather or sum rows of a tensor [rows, channels] by a list of indices,
// such as the rows of the two end nodes of each edge of a mesh (mesh.cpp). A fused kernel
// (edge_network.cpp) reads these lists and then replaces several such kernels.
#pragma once

#include "kernels/rows/row_lists.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// The position of a row within a wider row of the output, if several inputs are concatenated; in
// elements. For inputs with rows of 4, 4 and 2 elements, the second one has {4, 4, 10}:
//
//   a a a a b b b b c c
struct InRow {
  Index inner; // length of the row
  Index begin; // its first element in the wider row
  Index step;  // length of the wider row
};

// A kernel whose output rows are combinations of input rows.
class ListedKernel : public OneInputKernel {
public:
  explicit ListedKernel(const InRow& in) : in_(in) {}
  const InRow& inRow() const noexcept { return in_; }
  // The lists; null if row i of the output is row i of the input.
  virtual const RowLists* lists() const { return nullptr; }

protected:
  InRow in_;
};

} // namespace tenon
