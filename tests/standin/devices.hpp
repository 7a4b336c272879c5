// SPDX-License-Identifier: BSD-2-Clause
// The devices and contexts of the stand-in: a fake libcuda, libcudart, cuBLAS, cuDNN, cuFFT and
// NCCL in one shared library, by which tests of device code run on machines without a GPU. It has
// as many devices as TENON_STANDIN_DEVICES says, by default one.
//
// A context is the state of a process on one device, and each thread has at most one current
// context. Here each device has two: the primary context, which the CUDA runtime makes current
// (cudaSetDevice()), and a second one, like those that programs create by the driver's functions
// (cuCtxCreate()). The stand-in has no function to create contexts; a test gets the second one from
// tenonStandinSecondContext() and passes it to cuCtxSetCurrent(). devices.cpp also implements the
// driver's functions (cuCtxGetCurrent() ...) that Tenon calls.
#pragma once

#include <cuda.h>

#include <string>

// Returns the second context of a device.
extern "C" __attribute__((visibility("default"))) CUcontext tenonStandinSecondContext(int device);

namespace tenon::standin {

// Number of devices (TENON_STANDIN_DEVICES).
int deviceCount();
// Returns TENON_STANDIN_MODEL: "H200" (the default), "A100", or the path of a file with cuDNN's
// description of a device in JSON (cudnn.cpp has two examples).
std::string modelOfDevice();
// Returns the current context of the calling thread. If it has none, the primary context of device
// 0 becomes current first, as in the CUDA runtime.
CUcontext currentContext();
// Returns the device of the current context.
int currentDevice();
// Makes the primary context of a device current for the calling thread.
void setCurrentDevice(int device);
CUcontext primaryContext(int device);

} // namespace tenon::standin
