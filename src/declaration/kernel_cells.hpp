// SPDX-License-Identifier: BSD-2-Clause
// How much the kernels of a form read and write.
#pragma once

#include "declaration/form.hpp"

namespace tenon {

// Cells at a position, all inputs and all parameters counted.
struct KernelCells {
  double inputs = 0, parameters = 0, output = 0;
};
KernelCells kernelCells(const Form& form, int position);

} // namespace tenon
