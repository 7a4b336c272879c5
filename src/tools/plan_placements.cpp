// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_placements.hpp"

#include "tools/plan_system.hpp"

#include <fmt/format.h>

namespace tenon::tools {

const std::vector<ProgramOption> kPlacementOptions{
    {"system", TENON_OPTION_STRING, "", "level sizes of the system, outermost first: 4,16"},
    {"axes", TENON_OPTION_STRING, "", "number of processes along each grid axis: 8,2,4"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

void placementsAsJson(const PlannedPlacements& placements) {
  std::string matrices;
  for (TenonInt i = 0; i < placements.count(); ++i)
    matrices += (i > 0 ? ", " : "") + textOf(placements.matrix(i));
  fmt::print("{{\"count\": {}, \"matrices\": [{}]}}\n", placements.count(), matrices);
}

void placementsAsText(const PlannedPlacements& placements) {
  fmt::print("{} of grid axes {} on system {}; one row per axis, one column per level\n",
             counted(placements.count(), "placement"), textOf(placements.axes),
             textOf(placements.system));
  for (TenonInt i = 0; i < placements.count(); ++i)
    fmt::print("{}\n", textOf(placements.matrix(i)));
}

} // namespace

int planPlacements() {
  const bool isJson = flagOption("json");
  const auto placements = PlannedPlacements::fromOptions([&] {
    if (isJson)
      fmt::print("{{\"count\": 0, \"matrices\": []}}\n");
  });
  (isJson ? placementsAsJson : placementsAsText)(placements);
  return 0;
}

} // namespace tenon::tools
