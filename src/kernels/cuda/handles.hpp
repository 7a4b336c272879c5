// SPDX-License-Identifier: BSD-2-Clause
// The cuBLAS and cuDNN handles of a kernel context on the device (base/context.hpp): one of each
// per context, created when the first kernel needs it. The libraries work on the context's stream.
// Also the translation of their status codes to errors, and the options that allow less precise
// arithmetic.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/cuda/library.hpp"
#include "sys/cuda/retry.hpp"

#include <memory>

namespace tenon {

// The handles of the CUDA libraries for one stream.
class DeviceHandles {
public:
  DeviceHandles(Stream stream, std::shared_ptr<MemorySource> memory);

  // The handles, created by the first call. cuBLAS has a dedicated workspace, which makes products
  // bitwise reproducible, and rounds factors to TF32 or bfloat16 only if -tenon_device_tf32 or
  // -tenon_device_bfloat16 is set.
  cublasHandle_t blas();
  cudnnHandle_t dnn();
  const Stream& stream() const noexcept { return stream_; }
  // Whether float32 products round their factors to bfloat16. Valid after the first blas().
  bool roundsFactors() const noexcept { return roundsFactors_; }

private:
  template <class Context>
  using Owned = std::unique_ptr<Context, void (*)(Context*)>;
  static void destroy(cublasHandle_t handle);
  static void destroy(cudnnHandle_t handle);

  Stream stream_;
  std::shared_ptr<MemorySource> memory_;
  bool roundsFactors_ = false;
  Buffer workspace_; // workspace of cuBLAS; declared before its handle, to be destroyed after it
  Owned<cublasContext> blas_{nullptr, destroy};
  Owned<cudnnContext> dnn_{nullptr, destroy};
};

namespace cuda {

// The handles of a context, created by the first kernel that needs them.
DeviceHandles& handlesOf(KernelContext& context);

// Creates a handle; frees cached device memory if there is not enough.
cudnnHandle_t makeDnnHandle(const Stream& stream);
bool isDnnOutOfMemory(cudnnStatus_t status);

// Throw TENON_ERR_MEMORY if memory ran out, else TENON_ERR_LIBRARY with the library's text. `what`
// is the name of the failed call.
void checkBlas(cublasStatus_t status, const char* what);
void checkDnn(cudnnStatus_t status, const char* what);

// Values of the options -tenon_device_tf32, -tenon_device_bfloat16, -tenon_device_nondeterministic
// and -tenon_device_plans.
bool allowsTf32();
bool allowsBFloat16();
bool allowsNondeterministic();
bool measuresPlans();

} // namespace cuda

} // namespace tenon
