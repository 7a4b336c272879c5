// SPDX-License-Identifier: BSD-2-Clause
#include "sys/cuda/status.hpp"

#include <fmt/format.h>

namespace tenon::cuda {

void check(cudaError_t status, const char* what, std::source_location where) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError(); // or the next call would report it again
  throw Error(status == cudaErrorMemoryAllocation ? TENON_ERR_MEMORY : TENON_ERR_LIBRARY,
              fmt::format("CUDA failed in {}: {} (error {})", what, cudaGetErrorString(status),
                          static_cast<int>(status)),
              where);
}

} // namespace tenon::cuda
