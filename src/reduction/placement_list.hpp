// SPDX-License-Identifier: BSD-2-Clause
// All parallelism matrices of a system and the axes of a job. A matrix is filled entry by entry,
// row by row. A factor is taken if the levels to its right can hold the rest of its axis; then the
// rows below can always be filled: prime by prime, a table of given row and column sums exists
// whenever the two sums agree. So the search never turns back, and there is a placement if and only
// if the axes' product is the number of devices.
#pragma once

#include "reduction/placement.hpp"

namespace tenon {

// In lexicographic order of the matrices, row by row. There is at least one. Throws TENON_ERR_ARG
// if a size is below 1, the devices are more than an int can count or the placements more than
// 100000, and TENON_ERR_SHAPE if the axes do not make up the system.
std::vector<Placement> placementsOf(const std::vector<Index>& system,
                                    const std::vector<Index>& axes);

} // namespace tenon
