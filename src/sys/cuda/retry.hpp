// SPDX-License-Identifier: BSD-2-Clause
// Retries of calls that allocate from the driver (NVIDIA's libraries, graphs, and the code of
// kernels, which CUDA loads at their first launch). The driver does not have the memory that the
// pool caches; it is returned to the driver before the retry.
#pragma once

#include "sys/device.hpp"

#include "sys/cuda/runtime.hpp"

namespace tenon::cuda {

// Waits for the stream, and for all others on which memory of the pool is freed, and returns the
// cached memory of the pool to the driver. Returns false if that is impossible: while the stream is
// recorded, and on devices without pools.
bool trimPool(const Stream& stream);

// Returns the unused memory of the pool to the driver, also that which is freed on some stream but
// not yet, before a call that allocates much and cannot be repeated, such as a collective one.
void returnSpare();

// Returns call(), repeated once if isOut(its status) reports that memory ran out and the pool could
// return some.
template <class IsOut, class Call>
auto retryOutOfMemory(const Stream& stream, const IsOut& isOut, const Call& call) {
  const auto status = call();
  return isOut(status) && trimPool(stream) ? call() : status;
}

inline bool isOutOfMemory(cudaError_t status) {
  return status == cudaErrorMemoryAllocation;
}

// Queues the kernel with this entry point on a one-dimensional grid.
void launch(const void* kernel, Index blocks, Index threads, void** arguments,
            const Stream& stream);

} // namespace tenon::cuda
