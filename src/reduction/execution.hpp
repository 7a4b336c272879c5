// SPDX-License-Identifier: BSD-2-Clause
// Executes reduction programs on the states of all devices, to verify them; data are not moved. The
// state of a device says which chunks of the data it holds, and whose contributions each includes
// (collective_rule.hpp). An instruction acts on all of its groups simultaneously, and is invalid if
// it is invalid for any group. Devices in no group keep their state.
#pragma once

#include "reduction/collective_rule.hpp"
#include "reduction/grouping.hpp"

namespace tenon {

// Returns a hierarchy of `levels` levels of two devices each. Throws TENON_ERR_ARG above 8 levels,
// because the size of all states grows by a factor of 8 per level.
Hierarchy levelsOfTwo(int levels);

// States by device.
using DeviceStates = std::vector<DeviceState>;

// Device i holds all rows, with its own contribution only.
DeviceStates initialStates(int devices);
// Each device holds all rows, with the contributions of the members of its reduction group.
DeviceStates goalStates(int devices, const DeviceGroups& reductionGroups);

// Applies a collective to each group. If any group refuses it, no state is changed.
Refusal applyToGroups(CollectiveKind kind, const DeviceGroups& groups, DeviceStates& states);

// Throws TENON_ERR_ARG, naming the instruction and the rule, unless the program is a reduction over
// all devices of the hierarchy. Each device must get the whole sum or, if `scatters` is true, one
// chunk of it. Without levels of size 1, validity depends only on the number of levels. So it is
// tested with levels of two devices, at a cost independent of the actual sizes.
void checkReduces(const Program& program, int levels, bool scatters = false);

} // namespace tenon
