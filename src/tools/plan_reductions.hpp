// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan reductions`: the programs that sum over axes of a job, for each placement on a system.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kReductionOptions;
int planReductions();

} // namespace tenon::tools
