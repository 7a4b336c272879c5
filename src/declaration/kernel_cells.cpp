// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/kernel_cells.hpp"

namespace tenon {

KernelCells kernelCells(const Form& form, int position) {
  const auto held = [&](const Layout& layout) { return double(cells(layout.box(position))); };
  KernelCells sum{.output = held(form.output)};
  for (const Layout& use : form.uses)
    sum.inputs += held(use);
  for (const ParameterForm& parameter : form.parameters)
    sum.parameters += held(parameter.use);
  return sum;
}

} // namespace tenon
