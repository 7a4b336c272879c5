// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon plan` that have their own options. Each returns the exit status.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

// `tenon plan network`: the parallelization of each layer of a network, chosen by predicted time.
extern const std::vector<ProgramOption> kNetworkOptions;
int planNetwork();

// `tenon plan reductions`: the programs that reduce over axes of a job, for each placement on a
// system.
extern const std::vector<ProgramOption> kReductionOptions;
int planReductions();

// `tenon plan simulate`: the predicted time of each program on each placement of a job on a
// machine, ranked.
extern const std::vector<ProgramOption> kSimulateOptions;
int planSimulate();

} // namespace tenon::tools
