// SPDX-License-Identifier: BSD-2-Clause
// The fake cuBLAS of the stand-in for CUDA: matrix products C = alpha op(A) op(B) + beta C by three
// loops, as work of the handle's stream. Matrices are stored by columns: element (i, j) of A is
// a[j * lda + i]. Sums are in float64.
//
// Before each product the first 4096 bytes of the handle's workspace become NaN, because other
// kernels may use it in between: a program that stores data there gets wrong values.
#include "standin/calls.hpp"
#include "standin/costs.hpp"
#include "standin/failures.hpp"
#include "standin/memory.hpp"
#include "standin/streams.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstring>

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
  void* workspace = nullptr;
  std::size_t workspaceBytes = 0;
};

namespace tenon::standin {

namespace {

// Bytes of a workspace that become NaN; to fill all of it would take longer than the products.
constexpr std::size_t kOverwrittenBytes = 4096;

// One product, with the parameters of cublasDgemm(): op(A) is m x k, op(B) is k x n, C is m x n.
template <class T>
struct Product {
  bool transA, transB;
  std::int64_t m, n, k;
  T alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T beta;
  T* c;
  std::int64_t ldc;
  bool rounds = false; // elements of A and B are rounded to bfloat16 first

  bool isValid() const {
    return m >= 0 && n >= 0 && k >= 0 && lda >= std::max<std::int64_t>(1, transA ? k : m) &&
           ldb >= std::max<std::int64_t>(1, transB ? n : k) && ldc >= std::max<std::int64_t>(1, m);
  }
  // Ends the program unless the three matrices are in device memory.
  void checkArrays() const {
    const DeviceMemory& memory = DeviceMemory::get();
    const auto check = [&](const T* first, std::int64_t rows, std::int64_t columns,
                           std::int64_t leading) {
      if (rows > 0 && columns > 0)
        memory.checkRange(first, std::size_t((columns - 1) * leading + rows) * sizeof(T),
                          "a matrix of cuBLAS");
    };
    check(a, transA ? k : m, transA ? m : k, lda);
    check(b, transB ? n : k, transB ? k : n, ldb);
    check(c, m, n, ldc);
  }
  double factor(T x) const {
    if (!rounds)
      return double(x);
    constexpr int kBits = 8; // significant bits of bfloat16
    int exponent = 0;
    const double part = std::frexp(double(x), &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(part, kBits)), exponent - kBits);
  }
  void run() const {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += factor(transA ? a[i * lda + l] : a[l * lda + i]) *
                 factor(transB ? b[l * ldb + j] : b[j * ldb + l]);
        T& cell = c[j * ldc + i];
        cell = beta == T(0) ? T(alpha * sum) : T(alpha * sum + double(beta) * double(cell));
      }
  }
};

template <class T>
cublasStatus_t queueProduct(cublasHandle_t handle, const char* who, const Product<T>& product) {
  if (!product.isValid())
    return CUBLAS_STATUS_INVALID_VALUE;
  if (isToFail(who))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const Call call;
  product.checkArrays();
  CUstream_st* const stream = streamHere(handle->stream, who);
  if (!stream)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  enqueue(*stream, [product, workspace = handle->workspace, bytes = handle->workspaceBytes, stream,
                    seconds = costOf("product")] {
    if (workspace)
      std::memset(workspace, 0xff, std::min(bytes, kOverwrittenBytes));
    product.run();
    stream->seconds += seconds;
  });
  return CUBLAS_STATUS_SUCCESS;
}

// Runs `count` products; the matrices of product i + 1 are strideA, strideB and strideC elements
// after those of product i. The outputs must not overlap.
template <class T>
cublasStatus_t multiplyBatch(cublasHandle_t handle, const char* who, Product<T> product,
                             std::int64_t strideA, std::int64_t strideB, std::int64_t strideC,
                             std::int64_t count) {
  if (count < 0 || (strideC < product.ldc * product.n && count > 1))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (std::int64_t i = 0; i < count; ++i) {
    const cublasStatus_t status = queueProduct(handle, who, product);
    if (status != CUBLAS_STATUS_SUCCESS)
      return status;
    product.a += strideA;
    product.b += strideB;
    product.c += strideC;
  }
  const Call call;
  ++calls().libraries;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t multiply(cublasHandle_t handle, const char* who, const Product<T>& product) {
  return multiplyBatch(handle, who, product, 0, 0, 0, 1);
}

bool transposes(cublasOperation_t operation) {
  return operation != CUBLAS_OP_N;
}

// Ends the program unless a call with types (cublasGemmEx) has the only types that Tenon uses:
// float matrices whose factors are rounded to bfloat16.
void checkRounds(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t type) {
  if (a != CUDA_R_32F || b != CUDA_R_32F || c != CUDA_R_32F || type != CUBLAS_COMPUTE_32F_FAST_16BF)
    refuse("a product with types that are not float by bfloat16");
}

} // namespace

} // namespace tenon::standin

using namespace tenon::standin;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (isToFail("cublasCreate"))
    return CUBLAS_STATUS_NOT_INITIALIZED;
  const Call call;
  if (!hasRoomForLibraries())
    return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

// As in cuBLAS, a new stream resets the workspace.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  *handle = {stream, handle->mode, /*workspace=*/nullptr, /*workspaceBytes=*/0};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (isToFail("cublasSetWorkspace"))
    return CUBLAS_STATUS_INTERNAL_ERROR;
  constexpr std::uintptr_t kAlignment = 256; // required by cuBLAS
  if (reinterpret_cast<std::uintptr_t>(workspace) % kAlignment != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Call call;
  DeviceMemory::get().checkRange(workspace, bytes, "the workspace of cuBLAS");
  handle->workspace = workspace;
  handle->workspaceBytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->mode;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_EXECUTION_FAILED:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  default:
    return "a status of the stand-in";
  }
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transA,
                                 cublasOperation_t transB, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return multiply<float>(
      handle, "cublasSgemm",
      {transposes(transA), transposes(transB), m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc});
}

cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t transA,
                                 cublasOperation_t transB, int64_t m, int64_t n, int64_t k,
                                 const double* alpha, const double* a, int64_t lda, const double* b,
                                 int64_t ldb, const double* beta, double* c, int64_t ldc) {
  return multiply<double>(
      handle, "cublasDgemm",
      {transposes(transA), transposes(transB), m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc});
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transA,
                                            cublasOperation_t transB, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* a,
                                            int64_t lda, long long strideA, const float* b,
                                            int64_t ldb, long long strideB, const float* beta,
                                            float* c, int64_t ldc, long long strideC,
                                            int64_t count) {
  return multiplyBatch<float>(
      handle, "cublasSgemmStridedBatched",
      {transposes(transA), transposes(transB), m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc},
      strideA, strideB, strideC, count);
}

cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transA,
                                            cublasOperation_t transB, int64_t m, int64_t n,
                                            int64_t k, const double* alpha, const double* a,
                                            int64_t lda, long long strideA, const double* b,
                                            int64_t ldb, long long strideB, const double* beta,
                                            double* c, int64_t ldc, long long strideC,
                                            int64_t count) {
  return multiplyBatch<double>(
      handle, "cublasDgemmStridedBatched",
      {transposes(transA), transposes(transB), m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc},
      strideA, strideB, strideC, count);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transA,
                               cublasOperation_t transB, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType typeA, int64_t lda,
                               const void* b, cudaDataType typeB, int64_t ldb, const void* beta,
                               void* c, cudaDataType typeC, int64_t ldc, cublasComputeType_t type,
                               cublasGemmAlgo_t) {
  checkRounds(typeA, typeB, typeC, type);
  return multiply<float>(handle, "cublasGemmEx",
                         {transposes(transA), transposes(transB), m, n, k,
                          *static_cast<const float*>(alpha), static_cast<const float*>(a), lda,
                          static_cast<const float*>(b), ldb, *static_cast<const float*>(beta),
                          static_cast<float*>(c), ldc, /*rounds=*/true});
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transA, cublasOperation_t transB, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType typeA, int64_t lda, long long strideA,
    const void* b, cudaDataType typeB, int64_t ldb, long long strideB, const void* beta, void* c,
    cudaDataType typeC, int64_t ldc, long long strideC, int64_t count, cublasComputeType_t type,
    cublasGemmAlgo_t) {
  checkRounds(typeA, typeB, typeC, type);
  return multiplyBatch<float>(handle, "cublasGemmStridedBatchedEx",
                              {transposes(transA), transposes(transB), m, n, k,
                               *static_cast<const float*>(alpha), static_cast<const float*>(a), lda,
                               static_cast<const float*>(b), ldb, *static_cast<const float*>(beta),
                               static_cast<float*>(c), ldc, /*rounds=*/true},
                              strideA, strideB, strideC, count);
}

} // extern "C"
