// SPDX-License-Identifier: BSD-2-Clause
// The groups of ranks that reduce together, and where they stand in the machine.
//
// A machine of levels h_1 ... h_n has rank r at the place r in the numbering level by level, the
// first level slowest: r's digits. The ranks of a reduction group must be all those whose digit on
// each level is one of a set D_i of that level's digits. Then the members are numbered level first
// in a hierarchy of |D_1| ... |D_n|, those of 1 left out, each level's digits in the order in which
// they come along the coordinates of the grid; and what is inside a level of it is inside a level
// of the machine. All groups must have the same numbers |D_i|, as all ranks run one program, and
// the same coordinates must have the same numbers, as equal contributions must have equal sums in
// each group.
#pragma once

#include "geometry/layout/grid.hpp"
#include "reduction/grouping.hpp"

#include <vector>

namespace tenon {

// The rank's group along these axes, its members as `order` numbers them: empty stands for rising
// coordinates, the first axis slowest. No members if the rank is not in the grid.
std::vector<int> reductionGroupOf(const Grid& grid, const std::vector<int>& axes, int rank,
                                  const std::vector<int>& order = {});
// All groups, each with its members so.
std::vector<std::vector<int>> reductionGroupsOf(const Grid& grid, const std::vector<int>& axes,
                                                const std::vector<int>& order = {});

// The hierarchy of the groups of ranks that differ in these axes alone, in a machine of these
// levels. Throws TENON_ERR_ARG, naming the ranks, if a group is no product as above or two groups
// differ.
Hierarchy reductionHierarchy(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);
// Which of a group's ranks, counted by rising coordinates, each member of such a hierarchy is;
// empty if member i is the i-th. Throws TENON_ERR_ARG, naming the ranks, if that is not the same in
// all groups.
std::vector<int> memberOrder(const Grid& grid, const std::vector<int>& axes,
                             const Hierarchy& machine);

} // namespace tenon
