// SPDX-License-Identifier: BSD-2-Clause
// The distance of grid points as it is written in settings: "0.1", or "0.1,0.2,0.2".
#pragma once

#include <string>
#include <vector>

namespace tenon {

// One number for each of `dims` dimensions, or as many as are written where dims is 0. Throws
// TENON_ERR_ARG unless all are positive and there are as many, or one; `who` has them.
std::vector<double> spacing(const std::string& text, int dims, const std::string& who);

} // namespace tenon
