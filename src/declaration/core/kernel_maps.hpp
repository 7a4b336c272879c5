// SPDX-License-Identifier: BSD-2-Clause
// What lists of maps around one local kernel share.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/core/form.hpp"

namespace tenon {

// How many elements the kernels of a form read and write at a position of its grid, with the sums
// of all inputs and of all parameters.
struct KernelElements {
  double inputs = 0, parameters = 0, output = 0;
};
KernelElements kernelElements(const Form& form, int position);

// The value that the kernel reads for input x: contiguous, unless the kernel takes any strides.
// Halos that the caller has filled are not exchanged again.
ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides);

// Adds a source for each parameter that is not stored as the kernel uses it.
void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel);

} // namespace tenon
