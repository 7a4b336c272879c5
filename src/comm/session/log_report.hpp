// SPDX-License-Identifier: BSD-2-Clause
// The event logs of all ranks as one table, and their traces as one file, in which each rank is a
// process of the trace.
#pragma once

#include "comm/communicator.hpp"

#include <string>

namespace tenon {

// Rank 0 prints the table. Collective.
void printLogView(Communicator& comm);

// Starts the trace of every rank at one moment. Collective; throws TENON_ERR_FILE on all ranks if
// rank 0 cannot write the file that the option names, so that nobody learns of it after hours.
void startTrace(Communicator& comm, const std::string& path);
// Rank 0 takes the ranks' events one block after the other and writes the file. Collective; throws
// TENON_ERR_FILE on all ranks and then leaves the file as it was.
void writeTrace(Communicator& comm, const std::string& path);

} // namespace tenon
