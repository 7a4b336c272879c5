// SPDX-License-Identifier: BSD-2-Clause
#include "capi/arguments.hpp"
#include "comm/session.hpp"
#include "sys/guard.hpp"

#include <tenon/init.h>
#include <tenon/version.h>

#include <fmt/format.h>

using namespace tenon;

namespace {

void checkRunning() {
  int running = 0, finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (!running || finished)
    throw Error(TENON_ERR_STATE,
                fmt::format("a communicator is passed, but MPI {}; {}",
                            finished ? "is finalised" : "is not initialised",
                            finished ? "call this before MPI_Finalize()"
                                     : "call MPI_Init() first, or use TenonInitialize()"));
}

void checkComm(MPI_Comm comm) {
  checkRunning();
  if (comm == MPI_COMM_NULL)
    throw Error(TENON_ERR_NULL,
                "comm is MPI_COMM_NULL; pass a valid communicator such as MPI_COMM_WORLD");
}

} // namespace

TenonErrorCode TenonInitialize(int* argc, char*** argv, const char* help) noexcept {
  return guard(__func__, [&] { initialize(argc, argv, MPI_COMM_NULL, textOrEmpty(help)); });
}

TenonErrorCode TenonInitializeWithComm(MPI_Comm comm, int* argc, char*** argv,
                                       const char* help) noexcept {
  return guard(__func__, [&] {
    checkComm(comm);
    initialize(argc, argv, comm, textOrEmpty(help));
  });
}

TenonErrorCode TenonFinalize(void) noexcept {
  return guard(__func__, [] { finalize(); });
}

TenonErrorCode TenonInitialized(TenonBool* initialized) noexcept {
  return guard(__func__, [&] { required(initialized, "initialized") = isInitialized(); });
}

TenonErrorCode TenonCommFromFortran(int fcomm, MPI_Comm* comm) noexcept {
  return guard(__func__, [&] {
    MPI_Comm& to = required(comm, "comm");
    checkRunning();
    to = MPI_Comm_f2c(static_cast<MPI_Fint>(fcomm));
  });
}

TenonErrorCode TenonGetVersion(int* major, int* minor, int* patch) noexcept {
  return guard(__func__, [&] {
    if (major)
      *major = TENON_VERSION_MAJOR;
    if (minor)
      *minor = TENON_VERSION_MINOR;
    if (patch)
      *patch = TENON_VERSION_PATCH;
  });
}
