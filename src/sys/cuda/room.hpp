// SPDX-License-Identifier: BSD-2-Clause
// Room for what is not taken from the pool: NVIDIA's libraries, graphs and the code of kernels,
// which CUDA loads when one is first launched, get their memory from the driver, and the driver
// does not have what the pool keeps for later.
#pragma once

#include "sys/device.hpp"

#include "sys/cuda/runtime.hpp"

namespace tenon::cuda {

// Waits for the stream and returns to the driver what the pool keeps. False where that cannot be:
// while the stream is recorded, and on devices without pools.
bool makeRoom(const Stream& stream);

// Returns to the driver what the pool of this process's device keeps and nobody uses, where a call
// takes much that cannot be made once more, as a collective one.
void returnSpare();

// call(), and once more if isOut(its status) says that memory ran out, and room could be made.
template <class IsOut, class Call>
auto withRoom(const Stream& stream, const IsOut& isOut, const Call& call) {
  const auto status = call();
  return isOut(status) && makeRoom(stream) ? call() : status;
}

inline bool isOutOfMemory(cudaError_t status) {
  return status == cudaErrorMemoryAllocation;
}

// Queues a kernel, given its entry, with as many blocks in one dimension.
void launch(const void* kernel, Index blocks, Index threads, void** arguments,
            const Stream& stream);

} // namespace tenon::cuda
