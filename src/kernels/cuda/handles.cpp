// SPDX-License-Identifier: BSD-2-Clause
// Creates the cuBLAS and cuDNN handles of a context when the first kernel needs them: creation is
// slow and uses memory that programs without these libraries should not spend. The functions come
// from tables, since the libraries are loaded at run time.
#include "kernels/cuda/handles.hpp"

#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Status codes of the libraries if a handle does not fit into memory.
bool isOutForHandle(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}
bool isOutForHandle(cudnnStatus_t status) {
  return cuda::isDnnOutOfMemory(status) || status == CUDNN_STATUS_NOT_INITIALIZED ||
         status == CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
}

// Size that NVIDIA recommends for Hopper. Without a dedicated workspace a handle can select
// different algorithms from call to call, and results would not be bitwise reproducible.
constexpr Index kWorkspaceBytes = Index(32) << 20;

cudaStream_t cudaStreamOf(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

} // namespace

DeviceHandles::DeviceHandles(Stream stream, std::shared_ptr<MemorySource> memory)
    : stream_(std::move(stream)), memory_(std::move(memory)) {}

void DeviceHandles::destroy(cublasHandle_t handle) {
  cuda::blas().cublasDestroy_v2(handle);
}

void DeviceHandles::destroy(cudnnHandle_t handle) {
  cuda::dnn().cudnnDestroy(handle);
}

cublasHandle_t DeviceHandles::blas() {
  if (blas_)
    return blas_.get();
  const cuda::BlasTable& library = cuda::blas();
  Buffer workspace(kWorkspaceBytes, "workspace of cuBLAS", memory_);
  cublasHandle_t rawHandle = nullptr;
  cuda::checkBlas(cuda::retryOutOfMemory(
                      stream_, [](cublasStatus_t status) { return isOutForHandle(status); },
                      [&] { return library.cublasCreate_v2(&rawHandle); }),
                  "cublasCreate");
  Owned<cublasContext> handle(rawHandle, destroy);
  cuda::checkBlas(library.cublasSetStream_v2(rawHandle, cudaStreamOf(stream_)), "cublasSetStream");
  cuda::checkBlas(library.cublasSetWorkspace_v2(rawHandle, workspace.data<void>(),
                                                static_cast<std::size_t>(kWorkspaceBytes)),
                  "cublasSetWorkspace");
  const cublasMath_t mode = cuda::allowsTf32() ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
  cuda::checkBlas(library.cublasSetMathMode(rawHandle, mode), "cublasSetMathMode");
  roundsFactors_ = cuda::allowsBFloat16();
  // Stored only after every call has succeeded, so a failed call can be repeated.
  workspace_ = std::move(workspace);
  blas_ = std::move(handle);
  return rawHandle;
}

cudnnHandle_t DeviceHandles::dnn() {
  if (dnn_)
    return dnn_.get();
  cudnnHandle_t rawHandle = cuda::makeDnnHandle(stream_);
  Owned<cudnnContext> handle(rawHandle, destroy);
  cuda::checkDnn(cuda::dnn().cudnnSetStream(rawHandle, cudaStreamOf(stream_)), "cudnnSetStream");
  dnn_ = std::move(handle);
  return rawHandle;
}

namespace cuda {

DeviceHandles& handlesOf(KernelContext& context) {
  if (!context.handles())
    context.handles() = std::make_shared<DeviceHandles>(context.stream(), context.memory());
  return *context.handles();
}

void checkBlas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? TENON_ERR_MEMORY : TENON_ERR_LIBRARY,
                fmt::format("cuBLAS failed in {}: {} (status {})", what,
                            blas().cublasGetStatusString(status), int(status)));
}

bool isDnnOutOfMemory(cudnnStatus_t status) {
  return status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
         status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

cudnnHandle_t makeDnnHandle(const Stream& stream) {
  cudnnHandle_t handle = nullptr;
  checkDnn(retryOutOfMemory(
               stream, [](cudnnStatus_t status) { return isOutForHandle(status); },
               [&] { return dnn().cudnnCreate(&handle); }),
           "cudnnCreate");
  return handle;
}

void checkDnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  char text[1000] = "";
  dnn().cudnnGetLastErrorString(text, sizeof text);
  throw Error(isDnnOutOfMemory(status) ? TENON_ERR_MEMORY : TENON_ERR_LIBRARY,
              fmt::format("cuDNN failed in {}: {} (status {}): {}; backend 'gemm' does not use "
                          "cuDNN",
                          what, dnn().cudnnGetErrorString(status), int(status), text));
}

bool allowsTf32() {
  return options().getFlag("", "device_tf32");
}

bool allowsBFloat16() {
  return options().getFlag("", "device_bfloat16");
}

bool measuresPlans() {
  return options().getChoice("", "device_plans") == "measured";
}

bool allowsNondeterministic() {
  return options().getFlag("", "device_nondeterministic");
}

} // namespace cuda

} // namespace tenon
