// SPDX-License-Identifier: BSD-2-Clause
// The commands of `tenon`: each reads and checks its options and runs to its end, on all ranks of
// the job or, for `plan`, on one process without MPI.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

// `tenon bench`: compares each data movement with the limits of the machine's memory and messages,
// and with the corresponding MPI calls, on the ranks of the job.
extern const std::vector<ProgramOption> kBenchOptions;
int runBench();

// `tenon check`: compares random configurations of operators and layers, on the ranks of the job,
// with the definition, the adjoint identity and one process.
extern const std::vector<ProgramOption> kCheckOptions;
int runCheck();

// `tenon checkpoint`: prints the contents of checkpoint files, and verifies their digests. Returns
// the exit status.
int runCheckpoint(int argc, char** argv);

// `tenon import`: prints the layers of a trained network and their costs, and verifies that they
// reproduce the network's results. Returns the exit status.
int runImport(int argc, char** argv);

// `tenon plan`: placements of the processes of a job on a hierarchical system, and reduction
// programs. Reads and checks the arguments after `plan`, and runs the command that they name.
// Returns the exit status.
int runPlan(int argc, char** argv);

} // namespace tenon::tools
