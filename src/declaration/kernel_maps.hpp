// SPDX-License-Identifier: BSD-2-Clause
// What lists of maps around one local kernel share.
#pragma once

#include "declaration/declaration.hpp"

namespace tenon {

// An input where the kernel reads it, contiguous unless it takes any strides. Halos that the caller has
// filled are not exchanged again.
ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides);

// The parameters that are not stored as the kernel uses them.
void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel);

} // namespace tenon
