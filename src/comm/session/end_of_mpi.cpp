// SPDX-License-Identifier: BSD-2-Clause
// Watches for the end of MPI by an attribute of MPI_COMM_SELF, which MPI_Finalize deletes first.
// MPI would call the delete functions of attributes also after a host program has unloaded the
// plugin that this library is part of, so no attribute of ours outlives the session, or the library
// where a plugin leaves its session open.
#include "comm/session/end_of_mpi.hpp"

#include "comm/communicator.hpp"

namespace tenon {

namespace {

struct Watch {
  int keyval = MPI_KEYVAL_INVALID;
  void (*ended)() noexcept = nullptr;
};
Watch watch;

int tellEnd(MPI_Comm, int, void*, void*) noexcept {
  if (watch.ended)
    watch.ended();
  return MPI_SUCCESS;
}

// Destroyed when the library is unloaded, or the process ends.
struct Unloading {
  Unloading() = default;
  Unloading(const Unloading&) = delete;
  Unloading& operator=(const Unloading&) = delete;
  ~Unloading() {
    if (!mpiRuns())
      return;
    leaveEndOfMpi();
    Communicator::leaveParents();
  }
};
const Unloading unloading;

} // namespace

void watchEndOfMpi(void (*ended)() noexcept) {
  checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tellEnd, &watch.keyval, nullptr),
           "MPI_Comm_create_keyval");
  checkMpi(MPI_Comm_set_attr(MPI_COMM_SELF, watch.keyval, nullptr), "MPI_Comm_set_attr");
  watch.ended = ended;
}

void leaveEndOfMpi() noexcept {
  watch.ended = nullptr;
  if (watch.keyval == MPI_KEYVAL_INVALID)
    return;
  MPI_Comm_delete_attr(MPI_COMM_SELF, watch.keyval);
  MPI_Comm_free_keyval(&watch.keyval);
}

} // namespace tenon
