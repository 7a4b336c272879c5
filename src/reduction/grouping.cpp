// SPDX-License-Identifier: BSD-2-Clause
// Computes the groups of devices of an instruction (grouping.hpp). The devices below one instance
// of a level are consecutive, and the members of a group are equally spaced within such a block. In
// the hierarchy [2,3], that is devices 0 1 2 | 3 4 5:
//
//     instruction at slice 1   block  stride  groups per block   groups
//     InsideGroup              3      1       1                  {0,1,2} {3,4,5}
//     Parallel(0)              6      3       3                  {0,3} {1,4} {2,5}
//     Master(0)                6      3       1                  {0,3}
#include "reduction/grouping.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Throws TENON_ERR_ARG if the hierarchy does not have the levels of the instruction.
void checkLevels(const Hierarchy& hierarchy, const Instruction& instruction) {
  const int levels = static_cast<int>(hierarchy.size());
  if (instruction.slice < 0 || instruction.slice > levels)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has slice {}, but the hierarchy [{}] has levels 0 (the root) to {}",
                            instruction.describe(), instruction.slice, fmt::join(hierarchy, ","),
                            levels));
  if (instruction.form != GroupForm::InsideGroup &&
      (instruction.ancestor < 0 || instruction.ancestor >= instruction.slice))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} names level {}, which is not above its slice; use one from 0 to {}",
                            instruction.describe(), instruction.ancestor, instruction.slice - 1));
}

// Number of devices below one instance of a level.
int below(const Hierarchy& hierarchy, int level) {
  int devices = 1;
  for (std::size_t i = level; i < hierarchy.size(); ++i)
    devices *= static_cast<int>(hierarchy[i]);
  return devices;
}

// The groups of an instruction; the first members of a block's groups are its first devices.
struct Spacing {
  int block;  // number of devices in a block
  int stride; // distance of the members of a group
  int groupsPerBlock;
  bool operator==(const Spacing& other) const = default;

  // False if each group would have one member.
  bool hasGroups() const { return block != stride; }
  // The members of the group whose first member is `first`.
  std::vector<int> group(int first) const {
    std::vector<int> members(block / stride);
    for (int& member : members) {
      member = first;
      first += stride;
    }
    return members;
  }
};

Spacing spacingOf(const Hierarchy& hierarchy, const Instruction& instruction) {
  checkLevels(hierarchy, instruction);
  const bool inside = instruction.form == GroupForm::InsideGroup;
  const int first = inside ? instruction.slice : instruction.ancestor;
  const int last = inside ? static_cast<int>(hierarchy.size()) : instruction.slice;
  const int stride = below(hierarchy, last);
  // Master is the first group of Parallel in each block.
  const int groupsPerBlock = instruction.form == GroupForm::Master ? 1 : stride;
  return {below(hierarchy, first), stride, groupsPerBlock};
}

} // namespace

int deviceCount(const Hierarchy& hierarchy) {
  Index devices = 1;
  for (Index size : hierarchy) {
    if (size < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the hierarchy [{}] has a level of size {}; sizes must be >= 1",
                              fmt::join(hierarchy, ","), size));
    if (size > std::numeric_limits<int>::max() / devices)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the hierarchy [{}] has more devices than an int can count",
                              fmt::join(hierarchy, ",")));
    devices *= size;
  }
  return static_cast<int>(devices);
}

DeviceGroups groupsOf(const Hierarchy& hierarchy, const Instruction& instruction) {
  const Spacing spacing = spacingOf(hierarchy, instruction);
  const int devices = deviceCount(hierarchy);
  DeviceGroups groups;
  if (!spacing.hasGroups())
    return groups;
  for (int begin = 0; begin < devices; begin += spacing.block)
    for (int offset = 0; offset < spacing.groupsPerBlock; ++offset)
      groups.push_back(spacing.group(begin + offset));
  return groups;
}

std::vector<int> groupOf(const Hierarchy& hierarchy, const Instruction& instruction, int device) {
  const Spacing spacing = spacingOf(hierarchy, instruction);
  const int offset = device % spacing.stride;
  if (!spacing.hasGroups() || offset >= spacing.groupsPerBlock)
    return {device};
  return spacing.group(device / spacing.block * spacing.block + offset);
}

bool formSameGroups(const Hierarchy& hierarchy, const Instruction& first,
                    const Instruction& second) {
  return spacingOf(hierarchy, first) == spacingOf(hierarchy, second);
}

std::vector<Grouping> distinctGroupings(const Hierarchy& hierarchy) {
  std::vector<Grouping> distinct;
  const auto add = [&](const Instruction& instruction) {
    DeviceGroups groups = groupsOf(hierarchy, instruction);
    const bool isDuplicate = std::any_of(distinct.begin(), distinct.end(),
                                         [&](const Grouping& g) { return g.groups == groups; });
    if (!groups.empty() && !isDuplicate)
      distinct.push_back({instruction, std::move(groups)});
  };
  const int levels = static_cast<int>(hierarchy.size());
  for (int slice = 0; slice <= levels; ++slice)
    add({.slice = slice, .form = GroupForm::InsideGroup});
  for (GroupForm form : {GroupForm::Parallel, GroupForm::Master})
    for (int slice = 1; slice <= levels; ++slice)
      for (int ancestor = 0; ancestor < slice; ++ancestor)
        add({.slice = slice, .form = form, .ancestor = ancestor});
  return distinct;
}

} // namespace tenon
