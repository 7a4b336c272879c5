// SPDX-License-Identifier: BSD-2-Clause
#include "comm/gpu_aware.hpp"

#include "comm/agreement.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tenon {

namespace {

bool mpiSaysSo() {
#ifdef TENON_MPI_KNOWS_GPU_AWARE
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

} // namespace

GpuAware parseGpuAware(std::string_view name) {
  if (name == "auto")
    return GpuAware::Auto;
  return name == "on" ? GpuAware::On : GpuAware::Off;
}

bool isGpuAware(GpuAware said, Communicator& comm) {
  int all = said == GpuAware::On || (said == GpuAware::Auto && mpiSaysSo()) ? 1 : 0;
  agree(comm, std::nullopt); // the call below has no time limit
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm.mpi()), "MPI_Allreduce");
  return all != 0;
}

} // namespace tenon
