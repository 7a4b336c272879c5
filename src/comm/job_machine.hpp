// SPDX-License-Identifier: BSD-2-Clause
// The machine that a job runs on. Each rank looks at its own node and binding (machine/
// local_topology.hpp), and one all-gather joins what they see, so that all know the same levels.
//
// This is why comm stands above machine: what a place is and how places become levels needs no MPI
// and is tested without it; only the all-gather does.
#pragma once

#include "comm/communicator.hpp"
#include "machine/local_topology.hpp"

namespace tenon {

// Device i is the rank order[i] of comm: ranks on one node, socket, ... stand together. With
// -tenon_machine_file the levels and links are those of the file, whose level 'node' is resized to
// the job. Otherwise they are found, and the links have assumed rates, those of LinkRates: a port for
// each rank, and a NIC for each node as fast as a port. Collective; on an error all ranks fail alike.
JoinedPlaces findJobMachine(Communicator& comm);

// The same without links, for a node and a place (of LocalTopology::levels()) that a test names.
JoinedPlaces joinJob(Communicator& comm, const std::string& node, const std::vector<Index>& place);

// The machine of a file for so many ranks. Throws TENON_ERR_ARG if it has another number of devices.
Machine machineForRanks(const std::string& file, Index ranks);

} // namespace tenon
