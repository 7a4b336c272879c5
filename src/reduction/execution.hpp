// SPDX-License-Identifier: BSD-2-Clause
// Programs carried out on the states of all devices. An instruction acts on all its groups at once,
// and is invalid if one of them may not act; devices in no group stay as they are.
#pragma once

#include "reduction/collective_rule.hpp"
#include "reduction/grouping.hpp"

namespace tenon {

// A hierarchy of `levels` levels of two devices each. Throws TENON_ERR_ARG above 8 levels: the
// states of all devices grow eightfold with each.
Hierarchy levelsOfTwo(int levels);

// The state of each device.
using DeviceStates = std::vector<DeviceState>;

// Device i holds all rows, with its own contribution.
DeviceStates initialStates(int devices);
// Each device holds all rows, with the contributions of the members of its reduction group.
DeviceStates goalStates(int devices, const DeviceGroups& reductionGroups);

// States of a refused call stay as they were.
Refusal applyToGroups(CollectiveKind kind, const DeviceGroups& groups, DeviceStates& states);

// Throws TENON_ERR_ARG, naming the instruction and the rule, if the program is not a reduction over
// all devices of the hierarchy: with the whole sum on each of them or, if scatters is set, one
// chunk of it. Whether it is one depends on the number of levels alone, once those of size 1 are
// left out; so levels of two devices stand for all, and the work does not grow with the sizes.
void checkReduces(const Program& program, int levels, bool scatters = false);

} // namespace tenon
