// SPDX-License-Identifier: BSD-2-Clause
// From an instruction to the groups of devices that act. Devices are numbered by their digits in
// the hierarchy x_1 ... x_L, level 1 the slowest. Each form lets a run of digits a ... b vary:
// InsideGroup at i the digits i+1 ... L, Parallel(e) and Master(e) the digits e+1 ... i.
//
// Two instructions of the same collective that form the same groups are the same step, and groups
// of one device are no step; so levels of size 1 add nothing.
#pragma once

#include "reduction/program.hpp"
#include "sys/types.hpp"

#include <vector>

namespace tenon {

// Sizes x_1 ... x_L; the root in front is implied.
using Hierarchy = std::vector<Index>;
// Members in ascending order of their numbers.
using DeviceGroups = std::vector<std::vector<int>>;

// The product of the sizes. Throws TENON_ERR_ARG if a size is below 1 or the devices are more than
// an int can count.
int deviceCount(const Hierarchy& hierarchy);

// The groups that the instruction's slice and form make; none if they are of one device each.
// Throws TENON_ERR_ARG if the hierarchy has no such level, or `ancestor` is not above the slice.
DeviceGroups groupsOf(const Hierarchy& hierarchy, const Instruction& instruction);

// The group of one device, as groupsOf() forms it, without forming the others; the device alone if
// it is in none.
std::vector<int> groupOf(const Hierarchy& hierarchy, const Instruction& instruction, int device);

// Whether two instructions form the same groups.
bool formSameGroups(const Hierarchy& hierarchy, const Instruction& one, const Instruction& other);

struct Grouping {
  Instruction spelled; // with AllReduce, which every grouping may do
  DeviceGroups groups;
};

// Each set of groups once, in its first spelling: InsideGroup before Parallel before Master, coarse
// slices first. Master stands for itself only, in the forms that no other spelling has.
std::vector<Grouping> distinctGroupings(const Hierarchy& hierarchy);

} // namespace tenon
