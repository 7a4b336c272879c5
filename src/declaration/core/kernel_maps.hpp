// SPDX-License-Identifier: BSD-2-Clause
// What lists of maps around one local kernel share.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/core/form.hpp"

namespace tenon {

// How much the kernels of a form read and write.

// Cells at a position, all inputs and all parameters counted.
struct KernelCells {
  double inputs = 0, parameters = 0, output = 0;
};
KernelCells kernelCells(const Form& form, int position);

// An input where the kernel reads it, contiguous unless it takes any strides. Halos that the caller has
// filled are not exchanged again.
ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides);

// The parameters that are not stored as the kernel uses them.
void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel);

} // namespace tenon
