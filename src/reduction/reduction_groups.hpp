// SPDX-License-Identifier: BSD-2-Clause
// The groups of ranks that reduce together (the members of one sum over grid axes), and how they
// are distributed over the levels of a machine.
//
// In a machine of levels h_1 ... h_n, a rank is a number in mixed radix, whose first digit changes
// slowest. On 2 nodes of 4 cores, levels [2, 4]:
//
//     rank          0    1    2    3    4    5    6    7
//     (node, core)  0,0  0,1  0,2  0,3  1,0  1,1  1,2  1,3
//
// A unit of level i is a set of ranks with equal digits 1 ... i: here a node, or a core. A program
// of collectives inside and across units is only possible if a group is a product D_1 x ... x D_n
// of sets of digits: {0, 1, 4, 5} = {0, 1} x {0, 1} is possible, and {0, 1, 4, 6} is not. Its
// members then form a hierarchy |D_1| ... |D_n| (here 2 2), from which levels of size 1 are
// omitted, and each unit of this hierarchy is within one unit of the machine.
//
// A group has two numberings. Coordinate order is the order along the axes of the process grid, the
// first axis slowest. Member order is by digits, the first level slowest; programs use it. Within a
// level, digits are numbered in the order in which they first occur in coordinate order.
// memberOrder() leads from the second to the first: order[member] is the member's index in
// coordinate order. For the group 0 4 1 5 in coordinate order, the members are 0 1 4 5, and
// order = 0 2 1 3.
//
// All groups must have the same |D_i|, because all ranks run one program, and the same order: all
// groups then add in the same order, and equal inputs give bitwise equal sums.
#pragma once

#include "geometry/layout/grid.hpp"
#include "reduction/grouping.hpp"

#include <vector>

namespace tenon {

// Returns the ranks of the group of `rank` along these axes: in member order for the result `order`
// of memberOrder(), in coordinate order if `order` is empty. Returns no ranks if `rank` is not in
// the grid.
std::vector<int> reductionGroupOf(const Grid& grid, const std::vector<int>& axes, int rank,
                                  const std::vector<int>& order = {});
// Returns all groups, each in the same order as above.
std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order = {});

// Returns the hierarchy of the groups of ranks that differ only in these axes, in a machine of
// these levels. Throws TENON_ERR_ARG, naming the ranks, if a group is not a product of digit sets,
// or two groups differ.
Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);
// Returns order[member], the index of each member in coordinate order; empty for the identity.
// Throws TENON_ERR_ARG, naming the ranks, if this permutation differs between groups.
std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);

} // namespace tenon
