// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan simulate`: how long each program takes on each placement of a job on a machine, ranked.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kSimulateOptions;
int planSimulate();

} // namespace tenon::tools
