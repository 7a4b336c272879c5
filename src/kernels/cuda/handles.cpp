// SPDX-License-Identifier: BSD-2-Clause
// Opens cuBLAS and cuDNN for a context when the first kernel needs them: opening takes long and
// memory, which a program that uses neither should not pay. The libraries' functions come from
// tables, since the libraries are loaded at run time.
#include "kernels/cuda/handles.hpp"

#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// What the library says where there is no memory for a handle.
bool isOutForHandle(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}
bool isOutForHandle(cudnnStatus_t status) {
  return cuda::isDnnOutOfMemory(status) || status == CUDNN_STATUS_NOT_INITIALIZED ||
         status == CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
}

// cuBLAS recommends this size for Hopper. Without a workspace of its own a handle may take another
// algorithm from call to call, and results would not be repeated bit by bit.
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
  cublasHandle_t made = nullptr;
  cuda::checkBlas(cuda::withRoom(
                      stream_, [](cublasStatus_t status) { return isOutForHandle(status); },
                      [&] { return library.cublasCreate_v2(&made); }),
                  "cublasCreate");
  Owned<cublasContext> handle(made, destroy);
  cuda::checkBlas(library.cublasSetStream_v2(made, cudaStreamOf(stream_)), "cublasSetStream");
  cuda::checkBlas(library.cublasSetWorkspace_v2(made, workspace.data<void>(),
                                                static_cast<std::size_t>(kWorkspaceBytes)),
                  "cublasSetWorkspace");
  const cublasMath_t mode = cuda::allowsTf32() ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
  cuda::checkBlas(library.cublasSetMathMode(made, mode), "cublasSetMathMode");
  roundsFactors_ = cuda::allowsBFloat16();
  // Kept only once everything has succeeded, so that a failed call can be repeated.
  workspace_ = std::move(workspace);
  blas_ = std::move(handle);
  return made;
}

cudnnHandle_t DeviceHandles::dnn() {
  if (dnn_)
    return dnn_.get();
  cudnnHandle_t made = cuda::makeDnnHandle(stream_);
  Owned<cudnnContext> handle(made, destroy);
  cuda::checkDnn(cuda::dnn().cudnnSetStream(made, cudaStreamOf(stream_)), "cudnnSetStream");
  dnn_ = std::move(handle);
  return made;
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
  cudnnHandle_t made = nullptr;
  checkDnn(withRoom(
               stream, [](cudnnStatus_t status) { return isOutForHandle(status); },
               [&] { return dnn().cudnnCreate(&made); }),
           "cudnnCreate");
  return made;
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
