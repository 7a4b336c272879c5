// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon plan` that have options of their own. Each gives the exit status.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

// `tenon plan network`: the parallelisation of each layer of a network, chosen by predicted time.
extern const std::vector<ProgramOption> kNetworkOptions;
int planNetwork();

// `tenon plan reductions`: the programs that sum over axes of a job, for each placement on a
// system.
extern const std::vector<ProgramOption> kReductionOptions;
int planReductions();

// `tenon plan simulate`: how long each program takes on each placement of a job on a machine,
// ranked.
extern const std::vector<ProgramOption> kSimulateOptions;
int planSimulate();

} // namespace tenon::tools
