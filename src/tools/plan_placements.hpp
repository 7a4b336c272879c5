// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan placements`: the parallelism matrices of a job on a system.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kPlacementOptions;
int planPlacements();

} // namespace tenon::tools
