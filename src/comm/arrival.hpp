// SPDX-License-Identifier: BSD-2-Clause
// All ranks of a caller's communicator come to its first use, or none goes on.
//
// Nothing but collective operations may be sent there, which nobody can take back. So two that do not
// block: a barrier, which ends when all have come, and then the minimum of the ranks' votes, 1 of
// who has seen its end, 0 of who has lost patience. Who votes 1 waits for the minimum, and all ranks
// are then about to vote; who votes 0 knows it. So all go on or none does, whenever they come: a late
// rank finds the zeros. Who votes 0 leaves both operations pending, and the communicator is out of
// step from then on, which an attribute tells.
#pragma once

#include "comm/mpi.hpp"

namespace tenon {

// Collective over the communicator of a caller. Throws TENON_ERR_TIMEOUT, agreed on, if some rank
// does not come within so many seconds, TENON_ERR_STATE if that happened before, and TENON_ERR_ARG
// for an intercommunicator.
void awaitAllRanks(MPI_Comm parent, double seconds);

} // namespace tenon
