// SPDX-License-Identifier: BSD-2-Clause
// Helpers for map lists, the steps of one evaluation of a layer, that consist of one local kernel
// between conversions of its inputs, parameters and output. Most types use them through the default
// Declaration::maps().
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/core/form.hpp"

namespace tenon {

// Number of elements that the kernels of a form read and write at a position of its grid, summed
// over all inputs and over all parameters.
struct KernelElements {
  double inputs = 0, parameters = 0, output = 0;
};
KernelElements kernelElements(const Form& form, int position);

// The value that the kernel reads for input x: contiguous unless the kernel accepts any strides.
// Halos that the caller has filled are not exchanged again.
ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides);

// Adds a source for each parameter whose storage layout differs from its use layout.
void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel);

} // namespace tenon
