// SPDX-License-Identifier: BSD-2-Clause
// FullSystem: executes reduction programs (sequences of collectives) on the states of all devices
// of a system by the rules of the collectives, without the shortcuts of the library, which tests
// programs on levels of two devices. For tests that each program computes the sum.
#pragma once

#include "placement/placement_list.hpp"
#include "placement/synthesis.hpp"
#include "reduction/execution.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tenon::test {

class FullSystem {
public:
  FullSystem(const Placement& placement, std::vector<int> axes)
      : placement_(placement), axes_(std::move(axes)),
        hierarchy_(placement.reductionHierarchy(axes_)),
        goal_(goalStates(placement.devices(), placement.reductionGroups(axes_))) {}

  const Hierarchy& hierarchy() const { return hierarchy_; }

  // Whether all steps of the program are valid and leave each device with the whole sum of its
  // group.
  bool reduces(const Program& program) {
    DeviceStates states = initialStates(placement_.devices());
    for (const Instruction& instruction : program)
      if (applyToGroups(instruction.collective, groups(instruction), states) != Refusal::None)
        return false;
    return states == goal_;
  }

private:
  // The groups of devices of an instruction, in all reduction groups of the system; cached.
  const DeviceGroups& groups(const Instruction& instruction) {
    DeviceGroups& groups = lowered_[instruction.describe()];
    if (groups.empty())
      groups = placement_.lowered(axes_, groupsOf(hierarchy_, instruction));
    return groups;
  }

  Placement placement_;
  std::vector<int> axes_;
  Hierarchy hierarchy_;
  DeviceStates goal_;
  std::map<std::string, DeviceGroups> lowered_;
};

} // namespace tenon::test
