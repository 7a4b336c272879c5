// SPDX-License-Identifier: BSD-2-Clause
// Makes the levels of a machine from the place of each device. A place is a list of unit numbers,
// one for each level from the outermost. Levels are regular: each unit of one holds as many devices
// as another. So a level whose units do not, such as nodes with 3 ranks and with 1, is left out,
// and a note says so; a level that joins or divides nothing is left out without a note.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace tenon {

inline constexpr Index kNoUnit = -1; // the device is bound to no single unit of a level

struct PlacedDevices {
  std::string device;                     // what a device is called: "rank", "core"
  std::vector<std::string> levels;        // of all places
  std::vector<std::vector<Index>> places; // [devices][levels]; equal numbers in different units of
                                          // the level above are different units
};

struct JoinedPlaces {
  Machine machine;                // without links
  std::vector<Index> order;       // [devices of the machine] which of the placed devices it is
  std::vector<std::string> notes; // what was left out, and why
};

// Throws TENON_ERR_ARG if there is no device.
JoinedPlaces joinPlaces(std::string name, const PlacedDevices& placed);

} // namespace tenon
