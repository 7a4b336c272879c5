// SPDX-License-Identifier: BSD-2-Clause
// The library in a process, from the first initialise to the last finalise. Both are counted, and
// MPI is finalised by Tenon only if Tenon has initialised it.
#pragma once

#include "comm/communicator.hpp"
#include "sys/errors/error.hpp"

#include <string>

namespace tenon {

// Collective over comm; MPI_COMM_NULL stands for MPI_COMM_WORLD. Initialises MPI (FUNNELED) if
// nobody has. The first call reads the options of the command line, of TENON_OPTIONS and of the
// options file; on a bad option all ranks fail alike.
void initialize(int* argc, char*** argv, MPI_Comm comm, const std::string& help);
// Collective over the communicator of the first initialise. The last call prints the log, options
// never used and objects never destroyed, writes the trace, and frees the communicators. It does
// all that and then throws, on all ranks, if the trace could not be written. After MPI's own end it
// calls nothing of MPI, forgets the session and throws TENON_ERR_STATE.
void finalize();
// Ends the program: on all ranks while MPI runs, whoever initialised it, and after the end of MPI
// this process alone, with the code as its status.
void abortAllRanks(TenonErrorCode code) noexcept;
bool isInitialized() noexcept;
// Throws TENON_ERR_STATE unless initialised, or if MPI has ended since.
void checkInitialized();

} // namespace tenon
