// SPDX-License-Identifier: BSD-2-Clause
// The session of the library in a process, from the first initialise to the last finalise. Both are
// counted. Tenon finalises MPI only if it has initialised it.
#pragma once

#include "comm/communicator.hpp"
#include "sys/errors/error.hpp"

#include <string>

namespace tenon {

// Collective over comm; MPI_COMM_NULL means MPI_COMM_WORLD. Initialises MPI (FUNNELED) if it is not
// initialised. The first call reads the options of the command line, of TENON_OPTIONS and of the
// options file; an invalid option is an error on all ranks.
void initialize(int* argc, char*** argv, MPI_Comm comm, const std::string& help);
// Collective over the communicator of the first initialise. The last call prints the log, unused
// options and objects that were not destroyed, writes the trace, and frees the communicators. If
// the trace could not be written, it does all that and then throws on all ranks. After the end of
// MPI it makes no MPI call, discards the session and throws TENON_ERR_STATE.
void finalize();
// Ends the program with the code as its status: on all ranks while MPI runs, whether or not Tenon
// initialised it; after the end of MPI only this process.
void abortAllRanks(TenonErrorCode code) noexcept;
bool isInitialized() noexcept;
// Throws TENON_ERR_STATE unless initialised, or if MPI has ended.
void checkInitialized();

} // namespace tenon
