// SPDX-License-Identifier: BSD-2-Clause
// A conversion in the view of a layer.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

// "at most 3 messages, 64 B per rank; 256 B total", of one Apply. Goes through the schedules of all
// ranks.
std::string trafficText(const LinearOp& conversion);
// "  input   [8,4] S0, used as [8,4] B: at most ...\n" on the named process grid, for a tensor that
// passes a conversion before it is used; without one if it is null.
std::string viewLine(const std::string& label, const Layout& layout, const LinearOp* toUse,
                     const Mesh& named);
// The same without a conversion, and with a text after the layout.
std::string viewLine(const std::string& label, const Layout& layout, const Mesh& named,
                     const std::string& text = "");

} // namespace tenon
