// SPDX-License-Identifier: BSD-2-Clause
// Interface of kernels that gather or sum rows of a tensor [rows, channels] by a list of indices. A
// fused kernel (edge_network.cpp) reads these lists and then replaces several such kernels.
#pragma once

#include "kernels/rows/row_lists.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// The position of a row within a wider row of the output, if several inputs are concatenated. In
// elements: the length of the row, its begin in the wider row, and the length of the wider row.
struct InRow {
  Index inner, begin, step;
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
