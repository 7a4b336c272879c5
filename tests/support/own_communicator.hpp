// SPDX-License-Identifier: BSD-2-Clause
// Communicators of all ranks that share nothing with the world communicator of other tests. An
// arena is the shared memory in which ranks of one node exchange data
// (comm/memory/shared_arena.hpp).
#pragma once

#include "comm/communicator.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon::test {

// Returns a communicator without an arena.
inline CommPtr ownCommunicator() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  CommPtr comm = Communicator::copyOf(parent);
  MPI_Comm_free(&parent);
  return comm;
}

// Returns a communicator whose arena has this size: the option -tenon_shared_memory is read when
// the communicator is made.
inline CommPtr communicatorWithArena(Index mebibytes) {
  options().set("-tenon_shared_memory", fmt::format("{}", mebibytes));
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  CommPtr comm = Communicator::of(parent);
  MPI_Comm_free(&parent);
  options().set("-tenon_shared_memory", "-1");
  return comm;
}

} // namespace tenon::test
