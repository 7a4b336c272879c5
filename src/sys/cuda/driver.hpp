// SPDX-License-Identifier: BSD-2-Clause
// The functions of the CUDA driver (libcuda.so.1) that the library needs besides the CUDA runtime.
// The library is not linked to the driver, since a program without a device must run on a computer
// without it: driver() looks the functions up, and returns NULL if the process has not loaded it.
#pragma once

#include "sys/cuda/runtime.hpp"

#ifdef TENON_HIP
// HIP lacks this function. A stream belongs to the only context of its device.
hipError_t cuStreamGetCtx(hipStream_t stream, hipCtx_t* context);
#endif

namespace tenon::cuda {

// Driver functions with no equivalent in the runtime: the current context of a thread, without
// changing it, and the owner of an address, without creating a context.
#define TENON_DRIVER_TABLE(X)                                                                      \
  X(cuCtxGetCurrent)                                                                               \
  X(cuCtxSetCurrent)                                                                               \
  X(cuCtxGetDevice)                                                                                \
  X(cuPointerGetAttributes)                                                                        \
  X(cuStreamGetCtx)

// Function pointers with the names of the functions.
#define TENON_MEMBER(name) decltype(&::name) name;
// A pointer to each function of the list above.
struct DriverTable {
  TENON_DRIVER_TABLE(TENON_MEMBER)
};
#undef TENON_MEMBER

// An address in the driver's type: an integer for CUDA, a pointer for HIP.
inline CUdeviceptr driversAddress(const void* memory) {
  return CUdeviceptr(memory);
}

// NULL as long as the process has not loaded the driver, and therefore uses no device.
const DriverTable* driver();

} // namespace tenon::cuda
