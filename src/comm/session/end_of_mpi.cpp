// SPDX-License-Identifier: BSD-2-Clause
// Detects the end of MPI by an attribute of MPI_COMM_SELF, which MPI_Finalize deletes first. MPI
// would call the delete functions of attributes even after a program has unloaded the plugin that
// contains this library. So no such attribute outlives the session, or the library, if a plugin
// does not end its session.
#include "comm/session/end_of_mpi.hpp"

#include "comm/communicator.hpp"

namespace tenon {

namespace {

struct Watch {
  int keyval = MPI_KEYVAL_INVALID;
  void (*ended)() noexcept = nullptr;
};
Watch watch;

int onDelete(MPI_Comm, int, void*, void*) noexcept {
  if (watch.ended)
    watch.ended();
  return MPI_SUCCESS;
}

// Destroyed when the library is unloaded, or the process ends.
struct DetachOnUnload {
  DetachOnUnload() = default;
  DetachOnUnload(const DetachOnUnload&) = delete;
  DetachOnUnload& operator=(const DetachOnUnload&) = delete;
  ~DetachOnUnload() {
    if (!mpiRuns())
      return;
    leaveEndOfMpi();
    Communicator::leaveParents();
  }
};
const DetachOnUnload detachOnUnload;

} // namespace

void watchEndOfMpi(void (*ended)() noexcept) {
  checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, onDelete, &watch.keyval, nullptr),
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
