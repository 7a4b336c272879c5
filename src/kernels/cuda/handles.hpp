// SPDX-License-Identifier: BSD-2-Clause
// What a context of the device holds for NVIDIA's libraries, which work on its stream.
#pragma once

#include "kernels/context.hpp"
#include "sys/cuda/library.hpp"

#include <memory>

namespace tenon {

class DeviceHandles {
public:
  DeviceHandles(Stream stream, std::shared_ptr<MemorySource> memory);
  ~DeviceHandles();
  DeviceHandles(const DeviceHandles&) = delete;
  DeviceHandles& operator=(const DeviceHandles&) = delete;

  // Made by the first call. Products have a workspace of their own, so that they are repeated bit by
  // bit, and round their factors to TF32 only where -tenon_device_tf32 allows it.
  cublasHandle_t blas();
  cudnnHandle_t dnn();

private:
  Stream stream_;
  std::shared_ptr<MemorySource> memory_;
  Buffer workspace_;
  cublasHandle_t blas_ = nullptr;
  cudnnHandle_t dnn_ = nullptr;
};

namespace cuda {

// Made by the first kernel of the context that needs them.
DeviceHandles& handlesOf(KernelContext& context);

// Throw TENON_ERR_LIBRARY with the library's text; `what` failed.
void checkBlas(cublasStatus_t status, const char* what);
void checkDnn(cudnnStatus_t status, const char* what);

// What -tenon_device_tf32 and -tenon_device_nondeterministic say.
bool allowsTf32();
bool allowsNondeterministic();

} // namespace cuda

} // namespace tenon
