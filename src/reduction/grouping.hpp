// SPDX-License-Identifier: BSD-2-Clause
// Computes the groups of devices on which an instruction of a reduction program acts. Devices are
// numbered by their digits in the hierarchy x_1 ... x_L, with level 1 the slowest. The members of a
// group differ in a range of digits only. At the level i of an instruction (its slice),
//
//   InsideGroup   varies the digits i+1 ... L; with [2,3] and i = 1: {0,1,2} {3,4,5}
//   Parallel(e)   varies the digits e+1 ... i; with [2,3], i = 1 and e = 0: {0,3} {1,4} {2,5}
//   Master(e)     only those groups of Parallel(e) whose digits i+1 ... L are 0: {0,3}
//
// Instructions with the same collective and the same groups are the same step. A collective in
// groups of one device does nothing, so levels of size 1 can be ignored.
#pragma once

#include "reduction/program.hpp"
#include "sys/types.hpp"

#include <vector>

namespace tenon {

// Sizes x_1 ... x_L; the root (level 0, size 1) is implied.
using Hierarchy = std::vector<Index>;
// Members of each group, in ascending order.
using DeviceGroups = std::vector<std::vector<int>>;

// Returns the product of the sizes. Throws TENON_ERR_ARG if a size is below 1 or the product
// exceeds an int.
int deviceCount(const Hierarchy& hierarchy);

// Returns the groups of an instruction; none if each has one device. Throws TENON_ERR_ARG if the
// hierarchy does not have the instruction's level, or if `ancestor` is not above the slice.
DeviceGroups groupsOf(const Hierarchy& hierarchy, const Instruction& instruction);

// Returns the group of one device, as in groupsOf(), without computing the others; only the device
// itself if it is in no group.
std::vector<int> groupOf(const Hierarchy& hierarchy, const Instruction& instruction, int device);

// True if two instructions have the same groups.
bool formSameGroups(const Hierarchy& hierarchy, const Instruction& one, const Instruction& other);

// The groups in which the devices of one step act.
struct Grouping {
  // An instruction with these groups; its collective is AllReduce, which all groups allow.
  Instruction instruction;
  DeviceGroups groups;
};

// Returns each distinct set of groups once, with the first instruction that has it: InsideGroup
// before Parallel before Master, coarse slices first.
std::vector<Grouping> distinctGroupings(const Hierarchy& hierarchy);

} // namespace tenon
