// SPDX-License-Identifier: BSD-2-Clause
// Function tables of cuBLAS, cuDNN and cuFFT. Each library is opened when a kernel first needs it:
// a program without a device loads none. Kernels call blas().cublasDgemm_v2_64(...); the lists
// below name the functions, from which macros make the members of the tables and the names to look
// up.
#pragma once

#include "sys/cuda/shared_library.hpp"

#include <cublas_v2.h>
#include <cudnn.h>
#include <cufftXt.h>

#include <cstddef>

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
  X(cublasDgemmStridedBatched_64)                                                                  \
  X(cublasGemmEx_64)                                                                               \
  X(cublasGemmStridedBatchedEx_64)

#define TENON_CUDNN_TABLE(X)                                                                       \
  X(cudnnGetVersion)                                                                               \
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

// Function pointers with the names of the functions: blas().cublasDgemm_v2_64(...).
#define TENON_MEMBER(name) decltype(&::name) name;
// Pointers to the functions of cuBLAS; the other two tables are those of cuDNN and cuFFT.
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

// The table of each library, which the first call opens. Throws TENON_ERR_SUPPORT with the name of
// the library and the loader's text.
const BlasTable& blas();
const DnnTable& dnn();
const FftTable& fft();

// Checks the version of cuDNN in its own numbering, 90800 for 9.8.0. Throws TENON_ERR_SUPPORT if it
// is too old.
void checkDnnVersion(std::size_t version);

} // namespace tenon::cuda
