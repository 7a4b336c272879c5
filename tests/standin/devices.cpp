// SPDX-License-Identifier: BSD-2-Clause
// What is current for a thread, and what of the driver's functions are used.
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

constexpr int kMostDevices = 8;
CUctx_st contexts[kMostDevices] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
thread_local CUcontext current = nullptr;

} // namespace

int deviceCount() {
  const char* text = std::getenv("TENON_STANDIN_DEVICES");
  return text ? std::atoi(text) : 1;
}

int currentDevice() {
  if (!current)
    setCurrentDevice(0);
  return current->device;
}

void setCurrentDevice(int device) {
  if (device >= kMostDevices)
    refuse("there are more devices than the stand-in has contexts for");
  current = &contexts[device];
}

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

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
  *context = &contexts[streamOf(stream, "cuStreamGetCtx").device];
  return CUDA_SUCCESS;
}

// Zeros for addresses that CUDA does not know.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* asked, void** found,
                                CUdeviceptr address) {
  const Call call;
  const DeviceMemory& memory = DeviceMemory::get();
  const auto* p = reinterpret_cast<const void*>(address);
  const bool isDevices = memory.contains(p);
  for (unsigned i = 0; i < count; ++i) {
    int value = 0;
    if (isDevices && asked[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
      value = CU_MEMORYTYPE_DEVICE;
    else if (isDevices && asked[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      value = memory.deviceOf(p);
    std::memcpy(found[i], &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

} // extern "C"
