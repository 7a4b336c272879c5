// SPDX-License-Identifier: BSD-2-Clause
// Enumerates all parallelism matrices of a system and a job's axes. A matrix is filled row by row.
// A factor is accepted if the levels to its right can hold the rest of its axis. Then the rows
// below can always be filled: for each prime, a table with given row and column sums exists
// whenever both sums have the same total. So the search never backtracks, and a placement exists if
// and only if the product of the axes is the number of devices.
#pragma once

#include "placement/placement.hpp"

namespace tenon {

// Returns the placements in lexicographic order of the matrices; there is at least one. Throws
// TENON_ERR_ARG if a size is below 1, there are more devices than fit an int, or more than 100000
// placements, and TENON_ERR_SHAPE if the axes do not have the system's number of processes.
std::vector<Placement> placementsOf(const std::vector<Index>& system,
                                    const std::vector<Index>& axes);

} // namespace tenon
