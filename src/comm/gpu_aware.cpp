// SPDX-License-Identifier: BSD-2-Clause
#include "comm/gpu_aware.hpp"

#include "comm/mpi.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tenon {

bool mpiIsGpuAware() {
#ifdef TENON_MPI_HAS_CUDA_QUERY
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

} // namespace tenon
