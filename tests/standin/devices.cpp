// SPDX-License-Identifier: BSD-2-Clause
// The contexts of the fake devices (devices.hpp), and the functions of the CUDA driver (libcuda)
// that Tenon calls: which context is current for a thread, that of a stream, and the kind of memory
// at an address.
#include "standin/devices.hpp"

#include "standin/memory.hpp"
#include "standin/streams.hpp"

#include <cuda.h>

#include <cstdlib>
#include <cstring>

struct CUctx_st {
  int device;
};

namespace tenon::standin {

namespace {

constexpr int kMaxDevices = 8;
constexpr int kPrimary = 0, kSecond = 1; // first index of `contexts`; the second one is the device
CUctx_st contexts[2][kMaxDevices] = {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}},
                                     {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};
thread_local CUcontext current = nullptr;

CUcontext contextOf(int which, int device) {
  if (device >= kMaxDevices)
    refuse("there are more devices than the stand-in has contexts for");
  return &contexts[which][device];
}

} // namespace

int deviceCount() {
  const char* text = std::getenv("TENON_STANDIN_DEVICES");
  return text ? std::atoi(text) : 1;
}

std::string modelOfDevice() {
  const char* text = std::getenv("TENON_STANDIN_MODEL");
  return text ? text : "H200";
}

CUcontext currentContext() {
  if (!current)
    setCurrentDevice(0);
  return current;
}

int currentDevice() {
  return currentContext()->device;
}

void setCurrentDevice(int device) {
  current = primaryContext(device);
}

CUcontext primaryContext(int device) {
  return contextOf(kPrimary, device);
}

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

CUcontext tenonStandinSecondContext(int device) {
  return contextOf(kSecond, device);
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (!current)
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = current->device;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  const Call call;
  *context = streamOf(stream, "cuStreamGetCtx").context;
  return CUDA_SUCCESS;
}

// Answers `count` questions about an address: values[i] receives attribute requested[i]. The
// answers are 0 for an address that CUDA has not allocated or registered, also if the device can
// access all memory of the host (TENON_STANDIN_HMM).
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* requested, void** values,
                                CUdeviceptr address) {
  const Call call;
  const DeviceMemory& memory = DeviceMemory::get();
  const auto* p = reinterpret_cast<const void*>(address);
  const bool isDeviceMemory = memory.contains(p);
  const CUcontext context = memory.contextOf(p);
  for (unsigned i = 0; i < count; ++i) {
    if (requested[i] == CU_POINTER_ATTRIBUTE_CONTEXT) {
      std::memcpy(values[i], &context, sizeof context);
      continue;
    }
    int value = 0;
    if (requested[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      value = isDeviceMemory ? CU_MEMORYTYPE_DEVICE : isRegistered(p) ? CU_MEMORYTYPE_HOST : 0;
    else if (requested[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      value = context ? context->device : 0;
    std::memcpy(values[i], &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

} // extern "C"
