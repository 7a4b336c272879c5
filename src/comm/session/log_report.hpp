// SPDX-License-Identifier: BSD-2-Clause
// The event logs of all ranks as one table, and their traces as one file, in which each rank is a
// process.
#pragma once

#include "comm/communicator.hpp"

#include <string>

namespace tenon {

// Rank 0 prints the table. Collective.
void printLogView(Communicator& comm);

// Starts the trace of all ranks at the same time. Collective. Throws TENON_ERR_FILE on all ranks if
// rank 0 cannot write the file, which would otherwise be noticed only at the end of the run.
void startTrace(Communicator& comm, const std::string& path);
// Rank 0 receives the events of each rank in blocks and writes the file. Collective. Throws
// TENON_ERR_FILE on all ranks, without changing an existing file.
void writeTrace(Communicator& comm, const std::string& path);

} // namespace tenon
