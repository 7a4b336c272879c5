// SPDX-License-Identifier: BSD-2-Clause
// The groups of ranks that reduce together, and their places in the machine.
//
// In a machine of levels h_1 ... h_n, rank r has the mixed-radix digits of r, the first level being
// the slowest: on 2 nodes of 4 cores, rank 6 has the digits (1, 2). A group must be a product D_1 x
// ... x D_n of sets of digits: {0, 1, 4, 5} = {0, 1} x {0, 1} is possible, and {0, 1, 4, 6} is not.
// Its members then form a hierarchy |D_1| ... |D_n|, without levels of 1, each unit of which is
// within one unit of the machine.
//
// Members are numbered by their digits, the first level being the slowest. Within a level, digits
// are numbered in the order in which they first occur along the coordinates of the grid. All groups
// must have the same |D_i|, because all ranks run one program. Ranks with equal coordinates in
// their groups must have equal numbers: all groups then add in the same order, and equal inputs
// give bitwise equal sums.
#pragma once

#include "geometry/layout/grid.hpp"
#include "reduction/grouping.hpp"

#include <vector>

namespace tenon {

// Returns the members of a rank's group along these axes, in the order `order`; if that is empty,
// in the order of coordinates, with the first axis slowest. Returns no members if the rank is not
// in the grid.
std::vector<int> reductionGroupOf(const Grid& grid, const std::vector<int>& axes, int rank,
                                  const std::vector<int>& order = {});
// Returns all groups, with their members in the same order.
std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order = {});

// Returns the hierarchy of the groups of ranks that differ only in these axes, in a machine of
// these levels. Throws TENON_ERR_ARG, naming the ranks, if a group is not a product of digit sets,
// or two groups differ.
Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);
// Returns, for each member of the hierarchy, its position among the group's ranks in coordinate
// order; empty for the identity. Throws TENON_ERR_ARG, naming the ranks, if this permutation
// differs between groups.
std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);

} // namespace tenon
