// SPDX-License-Identifier: BSD-2-Clause
// Kernels that take or sum rows by a list, as a kernel that does the work of several sees them.
#pragma once

#include "kernels/rows/row_lists.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// Where the elements of a row lie in a wider row of the output.
struct InRow {
  Index inner, begin, step;
};

class ListedKernel : public OneInputKernel {
public:
  explicit ListedKernel(const InRow& in) : in_(in) {}
  const InRow& inRow() const noexcept { return in_; }
  // Null: each row of the output is that of its number.
  virtual const RowLists* lists() const { return nullptr; }

protected:
  InRow in_;
};

} // namespace tenon
