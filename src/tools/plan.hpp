// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon plan`: where the processes of a job may stand on a hierarchical system, and in
// which steps they may sum. They run on one process and do not start MPI.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

// Reads and checks the words behind `tenon plan`, and runs the command that they name. Gives the exit
// status.
int runPlan(int argc, char** argv);

} // namespace tenon::tools
