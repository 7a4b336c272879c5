// SPDX-License-Identifier: BSD-2-Clause
// Determines the levels of a machine from the place of each device. A place is a list of unit
// numbers, one per level from the outermost: node 1, socket 0, core 3. All units of a level must
// have the same number of devices. An irregular level, such as nodes with 3 ranks and with 1, is
// omitted with a note. A level that neither joins nor divides units, such as one socket per node,
// is omitted without a note. For example, 4 ranks with the levels node, socket, core and the places
// {0,0,0}, {1,0,0}, {0,0,1}, {1,0,1} give the machine of 2 nodes with 2 ranks each, whose devices
// 0 to 3 are the ranks 0, 2, 1, 3 (`order`).
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace tenon {

inline constexpr Index kNoUnit = -1; // in a place: not bound to a single unit of the level

// The devices and their places, as detected.
struct PlacedDevices {
  std::string device;              // name of a device: "rank", "core"
  std::vector<std::string> levels; // names of the levels of all places
  // [devices][levels]; equal numbers in different units of the level above denote different units.
  std::vector<std::vector<Index>> places;
};

// The resulting machine.
struct JoinedPlaces {
  Machine machine;                // without links
  std::vector<Index> order;       // [devices of the machine] index of the placed device
  std::vector<std::string> notes; // omitted levels, with the reason
};

// Throws TENON_ERR_ARG if there are no devices.
JoinedPlaces joinPlaces(std::string name, const PlacedDevices& placed);

} // namespace tenon
