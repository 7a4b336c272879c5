// SPDX-License-Identifier: BSD-2-Clause
#include "machine/places.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tenon {

namespace {

using Place = std::vector<Index>;

struct Count {
  Index units = 0, least = 0, most = 0; // devices in the emptiest and in the fullest unit
};

// Of the units of a level; a unit is known by the numbers of all that it is in.
Count countUnits(const std::vector<Place>& places, std::size_t level) {
  std::map<Place, Index> devices;
  for (const Place& place : places)
    ++devices[Place(place.begin(), place.begin() + level + 1)];
  Count count{static_cast<Index>(devices.size()), static_cast<Index>(places.size()), 0};
  for (const auto& [unit, held] : devices) {
    count.least = std::min(count.least, held);
    count.most = std::max(count.most, held);
  }
  return count;
}

// The first device that is bound to no unit of the level; -1 if there is none.
Index unboundDevice(const std::vector<Place>& places, std::size_t level) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i][level] == kNoUnit)
      return static_cast<Index>(i);
  return -1;
}

} // namespace

JoinedPlaces joinPlaces(std::string name, const PlacedDevices& placed) {
  const auto& places = placed.places;
  if (places.empty())
    throw Error(TENON_ERR_ARG, fmt::format("machine '{}' has no devices", name));
  const auto devices = static_cast<Index>(places.size());
  std::vector<Level> levels;
  std::vector<std::size_t> kept;
  std::vector<std::string> notes, unbound;
  Index units = 1, unboundFirst = -1;
  for (std::size_t l = 0; l < placed.levels.size(); ++l) {
    if (const Index device = unboundDevice(places, l); device >= 0) {
      unboundFirst = unbound.empty() ? device : unboundFirst;
      unbound.push_back(placed.levels[l]);
      continue;
    }
    const Count count = countUnits(places, l);
    if (count.least != count.most) {
      notes.push_back(fmt::format("level '{}' is left out: its units hold from {} to {} {}s",
                                  placed.levels[l], count.least, count.most, placed.device));
    } else if (count.units % units == 0 && count.units > units && count.units < devices) {
      levels.push_back({placed.levels[l], count.units / units});
      kept.push_back(l);
      units = count.units;
    }
  }
  if (!unbound.empty())
    notes.push_back(fmt::format("{} {} is bound to no single {}, so these levels are left out: {}; "
                                "start the ranks bound to cores to see them",
                                placed.device, unboundFirst, unbound.front(), joined(unbound)));
  levels.push_back({placed.device, devices / units});
  std::vector<Index> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    for (const std::size_t l : kept) // with all above it, which equal numbers need to be told apart
      for (std::size_t i = 0; i <= l; ++i)
        if (places[a][i] != places[b][i])
          return places[a][i] < places[b][i];
    return false;
  });
  return {Machine::make(std::move(name), std::move(levels)), std::move(order), std::move(notes)};
}

} // namespace tenon
