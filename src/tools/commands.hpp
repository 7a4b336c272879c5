// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon`: each reads and checks its options and runs to its end, on all ranks of
// the job or, for `plan`, on one process without MPI.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

// `tenon bench`: what the machine's memory and messages allow, and how near to it, and to MPI's own
// calls, each movement of data comes on the ranks that it was started with.
extern const std::vector<ProgramOption> kBenchOptions;
int runBench();

// `tenon check`: random configurations of operators and layers on the ranks that it was started
// with, compared with the definition, with the adjoint identity and with one process.
extern const std::vector<ProgramOption> kCheckOptions;
int runCheck();

// `tenon import`: the layers that a trained network becomes, their costs, and the proof that they
// give the network's results. Gives the exit status.
int runImport(int argc, char** argv);

// `tenon plan`: where the processes of a job may stand on a hierarchical system, and in which steps
// they may sum. Reads and checks the words behind `plan`, and runs the command that they name.
// Gives the exit status.
int runPlan(int argc, char** argv);

} // namespace tenon::tools
