// SPDX-License-Identifier: BSD-2-Clause
// The driver, if the process has it.
#pragma once

#include "sys/cuda/runtime.hpp"

#ifdef TENON_HIP
// HIP has no such function. A stream is of the one context of its device.
hipError_t cuStreamGetCtx(hipStream_t stream, hipCtx_t* context);
#endif

namespace tenon::cuda {

// Functions that the runtime lacks: which context is current for a thread, without a change of it,
// and whose an address is, without making a context for the question.
#define TENON_DRIVER_TABLE(X)                                                                      \
  X(cuCtxGetCurrent)                                                                               \
  X(cuCtxSetCurrent)                                                                               \
  X(cuCtxGetDevice)                                                                                \
  X(cuPointerGetAttributes)                                                                        \
  X(cuStreamGetCtx)

// Pointers to the functions, by their names.
#define TENON_MEMBER(name) decltype(&::name) name;
struct DriverTable {
  TENON_DRIVER_TABLE(TENON_MEMBER)
};
#undef TENON_MEMBER

// An address as the driver takes it, which is a number for CUDA and a pointer for HIP.
inline CUdeviceptr driversAddress(const void* memory) {
  return CUdeviceptr(memory);
}

// NULL while the process has not loaded the driver: nothing in it uses a device then.
const DriverTable* driver();

} // namespace tenon::cuda
