// SPDX-License-Identifier: BSD-2-Clause
// A communicator of all ranks of its own, with an arena of its own.
#pragma once

#include "comm/communicator.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon::test {

// Without one.
inline CommPtr ownCommunicator() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  CommPtr comm = Communicator::copyOf(parent);
  MPI_Comm_free(&parent);
  return comm;
}

// With -tenon_shared_memory set to so many MiB while it is made.
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
