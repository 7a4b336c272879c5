// SPDX-License-Identifier: BSD-2-Clause
// `tenon bench`: what the machine's memory and messages allow, and how near to it, and to MPI's own
// calls, each movement of data comes on the ranks that it was started with.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kBenchOptions;
int runBench();

} // namespace tenon::tools
