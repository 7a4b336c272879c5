// SPDX-License-Identifier: BSD-2-Clause
// Matrix products on the device, C = alpha op(A) op(B) + beta C, by cuBLAS. cuBLAS stores matrices
// by columns, and a row-major matrix read by columns is its transpose; so the call computes C^T =
// alpha op(B)^T op(A)^T + beta C^T, without copies. If float32 factors may be rounded to bfloat16,
// a separate entry point (gemmEx) is called: arrays and sums remain float32. The functions are
// declared in products/gemm.hpp.
#include "kernels/products/gemm.hpp"
#include "kernels/cuda/handles.hpp"

#include <type_traits>

namespace tenon {

namespace {

cublasOperation_t operation(bool transposes) {
  return transposes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// A product whose kernel is not loaded yet needs device memory for its code.
template <class Call>
void multiply(KernelContext& context, const char* name, const Call& call) {
  const cublasHandle_t handle = cuda::handlesOf(context).blas();
  const auto isOut = [](cublasStatus_t status) { return status == CUBLAS_STATUS_ALLOC_FAILED; };
  cuda::checkBlas(cuda::retryOutOfMemory(context.stream(), isOut, [&] { return call(handle); }),
                  name);
}

constexpr cudaDataType kFloat = CUDA_R_32F;
constexpr cublasComputeType_t kByBFloat16 = CUBLAS_COMPUTE_32F_FAST_16BF;

bool roundsFactors(KernelContext& context) {
  cuda::handlesOf(context).blas(); // sets roundsFactors()
  return cuda::handlesOf(context).roundsFactors();
}

} // namespace

template <class T>
void gemmOnDevice(KernelContext& context, const Product<T>& p) {
  const cuda::BlasTable& library = cuda::blas();
  if (std::is_same_v<T, float> && roundsFactors(context))
    return multiply(context, "cublasGemmEx", [&](cublasHandle_t handle) {
      return library.cublasGemmEx_64(handle, operation(p.transB), operation(p.transA), p.n, p.m,
                                     p.k, &p.alpha, p.b, kFloat, p.ldb, p.a, kFloat, p.lda, &p.beta,
                                     p.c, kFloat, p.ldc, kByBFloat16, CUBLAS_GEMM_DEFAULT);
    });
  const auto call = [&](auto function, const char* name) {
    multiply(context, name, [&](cublasHandle_t handle) {
      return function(handle, operation(p.transB), operation(p.transA), p.n, p.m, p.k, &p.alpha,
                      p.b, p.ldb, p.a, p.lda, &p.beta, p.c, p.ldc);
    });
  };
  if constexpr (std::is_same_v<T, float>)
    call(library.cublasSgemm_v2_64, "cublasSgemm");
  else
    call(library.cublasDgemm_v2_64, "cublasDgemm");
}

template <class T>
void gemmBatchOnDevice(KernelContext& context, const Product<T>& p, Index count,
                       const BatchStrides& strides) {
  const cuda::BlasTable& library = cuda::blas();
  if (std::is_same_v<T, float> && roundsFactors(context))
    return multiply(context, "cublasGemmStridedBatchedEx", [&](cublasHandle_t handle) {
      return library.cublasGemmStridedBatchedEx_64(
          handle, operation(p.transB), operation(p.transA), p.n, p.m, p.k, &p.alpha, p.b, kFloat,
          p.ldb, strides.b, p.a, kFloat, p.lda, strides.a, &p.beta, p.c, kFloat, p.ldc, strides.c,
          count, kByBFloat16, CUBLAS_GEMM_DEFAULT);
    });
  const auto call = [&](auto function, const char* name) {
    multiply(context, name, [&](cublasHandle_t handle) {
      return function(handle, operation(p.transB), operation(p.transA), p.n, p.m, p.k, &p.alpha,
                      p.b, p.ldb, strides.b, p.a, p.lda, strides.a, &p.beta, p.c, p.ldc, strides.c,
                      count);
    });
  };
  if constexpr (std::is_same_v<T, float>)
    call(library.cublasSgemmStridedBatched_64, "cublasSgemmStridedBatched");
  else
    call(library.cublasDgemmStridedBatched_64, "cublasDgemmStridedBatched");
}

void prepareGemmOnDevice(KernelContext& context) {
  cuda::handlesOf(context).blas();
}

template void gemmOnDevice<float>(KernelContext&, const Product<float>&);
template void gemmOnDevice<double>(KernelContext&, const Product<double>&);
template void gemmBatchOnDevice<float>(KernelContext&, const Product<float>&, Index,
                                       const BatchStrides&);
template void gemmBatchOnDevice<double>(KernelContext&, const Product<double>&, Index,
                                        const BatchStrides&);

} // namespace tenon
