// SPDX-License-Identifier: BSD-2-Clause
// cuBLAS, cuDNN and cuFFT, opened when a kernel first needs them, so that a program that uses no device does not
// load them. Of each function the copy that the process has already is taken, if there is one.
#pragma once

#include <cublas_v2.h>
#include <cudnn.h>
#include <cufftXt.h>

namespace tenon::cuda {

#define TENON_CUBLAS_TABLE(X)                                                                      \
  X(cublasCreate_v2)                                                                               \
  X(cublasDestroy_v2)                                                                              \
  X(cublasGetStatusString)                                                                         \
  X(cublasSetStream_v2)                                                                            \
  X(cublasSetWorkspace_v2)                                                                         \
  X(cublasSetMathMode)                                                                             \
  X(cublasSgemm_v2_64)                                                                             \
  X(cublasDgemm_v2_64)                                                                             \
  X(cublasSgemmStridedBatched_64)                                                                  \
  X(cublasDgemmStridedBatched_64)

#define TENON_CUDNN_TABLE(X)                                                                       \
  X(cudnnCreate)                                                                                   \
  X(cudnnDestroy)                                                                                  \
  X(cudnnSetStream)                                                                                \
  X(cudnnGetErrorString)                                                                           \
  X(cudnnGetLastErrorString)                                                                       \
  X(cudnnBackendCreateDescriptor)                                                                  \
  X(cudnnBackendDestroyDescriptor)                                                                 \
  X(cudnnBackendSetAttribute)                                                                      \
  X(cudnnBackendGetAttribute)                                                                      \
  X(cudnnBackendFinalize)                                                                          \
  X(cudnnBackendExecute)

#define TENON_CUFFT_TABLE(X)                                                                       \
  X(cufftCreate)                                                                                   \
  X(cufftDestroy)                                                                                  \
  X(cufftSetAutoAllocation)                                                                        \
  X(cufftMakePlanMany64)                                                                           \
  X(cufftSetStream)                                                                                \
  X(cufftSetWorkArea)                                                                              \
  X(cufftXtExec)

// Pointers to the functions, by their names: blas().cublasDgemm_v2_64(...).
#define TENON_MEMBER(name) decltype(&::name) name;
struct BlasTable {
  TENON_CUBLAS_TABLE(TENON_MEMBER)
};
struct DnnTable {
  TENON_CUDNN_TABLE(TENON_MEMBER)
};
struct FftTable {
  TENON_CUFFT_TABLE(TENON_MEMBER)
};
#undef TENON_MEMBER

// Opened by the first call. Throw TENON_ERR_SUPPORT with the loader's text, naming the library.
const BlasTable& blas();
const DnnTable& dnn();
const FftTable& fft();

} // namespace tenon::cuda
