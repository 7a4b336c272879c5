// SPDX-License-Identifier: BSD-2-Clause
// Reports of all ranks: each rank's texts arrive at rank 0 one after another, so that no count is that of all
// ranks together, which int may not hold.
#pragma once

#include "comm/communicator.hpp"

#include <string>

namespace tenon {

inline void sendText(Communicator& comm, int tag, const std::string& text) {
  checkMpi(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, tag, comm.mpi()),
           "MPI_Send");
}

inline std::string receiveText(Communicator& comm, int rank, int tag) {
  MPI_Status status;
  checkMpi(MPI_Probe(rank, tag, comm.mpi(), &status), "MPI_Probe");
  int size = 0;
  checkMpi(MPI_Get_count(&status, MPI_CHAR, &size), "MPI_Get_count");
  std::string text(size, '\0');
  checkMpi(MPI_Recv(text.data(), size, MPI_CHAR, rank, tag, comm.mpi(), MPI_STATUS_IGNORE),
           "MPI_Recv");
  return text;
}

} // namespace tenon
