// SPDX-License-Identifier: BSD-2-Clause
// Determines the levels of a machine from the places of its devices. A unit is identified by its
// number and the numbers of all units around it, because numbers can restart in each unit of the
// level above.
#include "machine/places.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tenon {

namespace {

// Hints for launchers, for notes.
constexpr const char* kEqualNodes =
    "; start as many on each node to keep it (srun --ntasks-per-node=N, "
    "mpiexec --map-by ppr:N:node)";

using Place = std::vector<Index>;

struct Count {
  Index units = 0, least = 0, most = 0; // devices in the emptiest and in the fullest unit
};

// Counts the units of a level, and their devices.
Count countUnits(const std::vector<Place>& places, std::size_t level) {
  std::map<Place, Index> devices;
  for (const Place& place : places)
    ++devices[Place(place.begin(), place.begin() + level + 1)];
  Count count{.units = static_cast<Index>(devices.size()),
              .least = static_cast<Index>(places.size()),
              .most = 0};
  for (const auto& [unit, unitDevices] : devices) {
    count.least = std::min(count.least, unitDevices);
    count.most = std::max(count.most, unitDevices);
  }
  return count;
}

// Returns the first device that is not bound to a unit of the level; -1 if there is none.
Index unboundDevice(const std::vector<Place>& places, std::size_t level) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i][level] == kNoUnit)
      return static_cast<Index>(i);
  return -1;
}

// The levels of the machine, and the levels of the places that they are made from.
struct FoundLevels {
  std::vector<Level> levels;
  std::vector<std::size_t> usedLevels; // indices of the places' levels that are used
  std::vector<std::string> notes;
};

// Adds a note on levels that are omitted because a device is bound to no single unit of them.
void noteUnbound(const PlacedDevices& placed, const std::vector<std::string>& levels, Index device,
                 std::vector<std::string>& notes) {
  if (!levels.empty())
    notes.push_back(fmt::format("{} {} is bound to no single {}, so these levels are left out: {}; "
                                "start the ranks bound to cores to see them",
                                placed.device, device, levels.front(), joined(levels)));
}

FoundLevels findLevels(const PlacedDevices& placed) {
  const auto devices = static_cast<Index>(placed.places.size());
  FoundLevels result;
  std::vector<std::string> unbound;   // Levels of which some device has no single unit.
  Index units = 1, unboundFirst = -1; // units: of the last level that is used.
  for (std::size_t l = 0; l < placed.levels.size(); ++l) {
    if (const Index device = unboundDevice(placed.places, l); device >= 0) {
      unboundFirst = unbound.empty() ? device : unboundFirst;
      unbound.push_back(placed.levels[l]);
      continue;
    }
    const Count count = countUnits(placed.places, l);
    if (count.least != count.most) {
      result.notes.push_back(fmt::format(
          "level '{}' is left out: its units hold from {} to {} {}s{}", placed.levels[l],
          count.least, count.most, placed.device, placed.levels[l] == "node" ? kEqualNodes : ""));
      // A level with as many units as the level above divides nothing; one with a unit per device
      // joins nothing. The units of each used level have equal numbers of devices, so each unit of
      // the level above has the same number of units of this level, count.units / units.
    } else if (count.units > units && count.units < devices) {
      result.levels.push_back({placed.levels[l], count.units / units});
      result.usedLevels.push_back(l);
      units = count.units;
    }
  }
  noteUnbound(placed, unbound, unboundFirst, result.notes);
  result.levels.push_back({placed.device, devices / units});
  return result;
}

// Sorts devices by their units on the used levels.
std::vector<Index> orderOf(const std::vector<Place>& places,
                           const std::vector<std::size_t>& usedLevels) {
  std::vector<Index> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t length = usedLevels.empty() ? 0 : usedLevels.back() + 1;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return std::lexicographical_compare(places[a].begin(), places[a].begin() + length,
                                        places[b].begin(), places[b].begin() + length);
  });
  return order;
}

} // namespace

JoinedPlaces joinPlaces(std::string name, const PlacedDevices& placed) {
  if (placed.places.empty())
    throw Error(TENON_ERR_ARG, fmt::format("machine '{}' has no devices", name));
  FoundLevels found = findLevels(placed);
  return {Machine::make(std::move(name), std::move(found.levels)),
          orderOf(placed.places, found.usedLevels), std::move(found.notes)};
}

} // namespace tenon
