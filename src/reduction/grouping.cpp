// SPDX-License-Identifier: BSD-2-Clause
// Computes the groups of an instruction. The members of a group differ in a range of digits, so
// they are equally spaced (`stride`) within a block of consecutive devices.
#include "reduction/grouping.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

void check(const Hierarchy& hierarchy, const Instruction& instruction) {
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

// The groups of an instruction: a block of consecutive devices has `acting` groups, which begin at
// its first devices, and the members of a group are `stride` apart.
struct Spacing {
  int block, stride;
  int acting; // number of groups in a block
  bool operator==(const Spacing& other) const = default;

  bool hasGroups() const { return block != stride; }
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
  check(hierarchy, instruction);
  const bool inside = instruction.form == GroupForm::InsideGroup;
  const int first = inside ? instruction.slice : instruction.ancestor;
  const int last = inside ? static_cast<int>(hierarchy.size()) : instruction.slice;
  const int stride = below(hierarchy, last);
  // Master is the first group of Parallel in each block.
  const int acting = instruction.form == GroupForm::Master ? 1 : stride;
  return {below(hierarchy, first), stride, acting};
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
    for (int offset = 0; offset < spacing.acting; ++offset)
      groups.push_back(spacing.group(begin + offset));
  return groups;
}

std::vector<int> groupOf(const Hierarchy& hierarchy, const Instruction& instruction, int device) {
  const Spacing spacing = spacingOf(hierarchy, instruction);
  const int offset = device % spacing.stride;
  if (!spacing.hasGroups() || offset >= spacing.acting)
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
