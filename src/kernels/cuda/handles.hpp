// SPDX-License-Identifier: BSD-2-Clause
// The handles of NVIDIA's libraries that a context of the device holds. The libraries work on its
// stream.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/cuda/library.hpp"
#include "sys/cuda/room.hpp"

#include <memory>

namespace tenon {

class DeviceHandles {
public:
  DeviceHandles(Stream stream, std::shared_ptr<MemorySource> memory);

  // The handles, made by the first call. Products have a workspace of their own, so that they are
  // repeated bit by bit, and round their factors to TF32 or bfloat16 only where -tenon_device_tf32
  // or -tenon_device_bfloat16 allows it.
  cublasHandle_t blas();
  cudnnHandle_t dnn();
  const Stream& stream() const noexcept { return stream_; }
  // Whether products in float32 are requested by the factors' roundings to bfloat16; known once
  // there is blas().
  bool roundsFactors() const noexcept { return roundsFactors_; }

private:
  template <class Context>
  using Owned = std::unique_ptr<Context, void (*)(Context*)>;
  static void destroy(cublasHandle_t handle);
  static void destroy(cudnnHandle_t handle);

  Stream stream_;
  std::shared_ptr<MemorySource> memory_;
  bool roundsFactors_ = false;
  Buffer workspace_; // of cuBLAS, whose handle is destroyed before it
  Owned<cublasContext> blas_{nullptr, destroy};
  Owned<cudnnContext> dnn_{nullptr, destroy};
};

namespace cuda {

// The handles of a context, made by the first kernel that needs them.
DeviceHandles& handlesOf(KernelContext& context);

// Makes a handle, for which room is made where there is none.
cudnnHandle_t makeDnnHandle(const Stream& stream);
bool isDnnOutOfMemory(cudnnStatus_t status);

// Throw TENON_ERR_MEMORY if memory ran out, else TENON_ERR_LIBRARY, with the library's text; `what`
// failed.
void checkBlas(cublasStatus_t status, const char* what);
void checkDnn(cudnnStatus_t status, const char* what);

// The options -tenon_device_tf32, -tenon_device_bfloat16, -tenon_device_nondeterministic and
// -tenon_device_plans.
bool allowsTf32();
bool allowsBFloat16();
bool allowsNondeterministic();
bool measuresPlans();

} // namespace cuda

} // namespace tenon
