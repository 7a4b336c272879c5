// SPDX-License-Identifier: BSD-2-Clause
// Checks a matrix product C = alpha op(A) op(B) + beta C and passes it to the backend: BLAS,
// oneDNN, cuBLAS, or the reference loops of this file. The degenerate cases (k = 0, alpha = 0, an
// empty C), in which BLAS could read invalid memory, are handled in this file, with the same result
// for all backends.
#include "kernels/products/gemm.hpp"

#include "kernels/movement/block_copy.hpp"
#include "kernels/walks/each.hpp"
#include "sys/errors/error.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <tenon_features.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tenon {

namespace {

template <class T>
void checkProduct(const Product<T>& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("gemm has m = {}, n = {}, k = {}; all must be >= 0", p.m, p.n, p.k));
  const Index widthA = p.transA ? p.m : p.k, widthB = p.transB ? p.k : p.n;
  if (p.lda < widthA || p.ldb < widthB || p.ldc < p.n)
    throw Error(TENON_ERR_ARG, fmt::format("gemm has leading dimensions lda = {}, ldb = {}, ldc = "
                                           "{}; they must be at least {}, {} and {}",
                                           p.lda, p.ldb, p.ldc, widthA, widthB, p.n));
}

// The reference backend: sums first and applies alpha and beta after, as in the definition.
template <class T>
void gemmReference(const Product<T>& p) {
  for (Index i = 0; i < p.m; ++i)
    for (Index j = 0; j < p.n; ++j) {
      T sum = 0;
      for (Index l = 0; l < p.k; ++l) {
        const T a = p.transA ? p.a[l * p.lda + i] : p.a[i * p.lda + l];
        const T b = p.transB ? p.b[j * p.ldb + l] : p.b[l * p.ldb + j];
        sum += a * b;
      }
      T& c = p.c[i * p.ldc + j];
      c = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * c;
    }
}

// C = beta C, the result for k = 0 or alpha = 0. A and B can be null then; if beta = 0, C is not
// read.
template <class T>
void scale(KernelContext& context, const Product<T>& p) {
  const Index extent[] = {p.m, p.n}, strides[] = {p.ldc, 1};
  blockScale(context, 2, extent, p.beta, p.c, strides);
}

// The C interface of BLAS has int sizes.
template <class... Sizes>
void checkIntRange(Sizes... sizes) {
  const Index largest = std::max({sizes...});
  if (largest > std::numeric_limits<int>::max())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("backend 'blas' supports matrix extents up to {1}, but one is {0}; "
                            "split the tensor over more ranks or use backend 'reference'",
                            largest, std::numeric_limits<int>::max()));
}

template <class T>
void gemmBlas(const Product<T>& p) {
  checkIntRange(p.m, p.n, p.k, p.lda, p.ldb, p.ldc);
  const auto transA = p.transA ? CblasTrans : CblasNoTrans;
  const auto transB = p.transB ? CblasTrans : CblasNoTrans;
  const int m = int(p.m), n = int(p.n), k = int(p.k);
  const int lda = int(p.lda), ldb = int(p.ldb), ldc = int(p.ldc);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, transA, transB, m, n, k, p.alpha, p.a, lda, p.b, ldb, p.beta, p.c,
                ldc);
  else
    cblas_dgemm(CblasRowMajor, transA, transB, m, n, k, p.alpha, p.a, lda, p.b, ldb, p.beta, p.c,
                ldc);
}

// Maximum number of products per call in every version of cuBLAS.
[[maybe_unused]] constexpr Index kMaxTogether = 65535;

} // namespace

template <class T>
void gemm(KernelContext& context, Backend backend, bool transA, bool transB, Index m, Index n,
          Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta, T* c, Index ldc) {
  const Product<T> p{transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
  checkProduct(p);
  const Backend chosen = resolveBackend<T>(backend, context.space());
  if (m == 0 || n == 0)
    return;
  if (k == 0 || alpha == T(0))
    return scale(context, p);
  if constexpr (kHasDevice)
    if (chosen == Backend::Gemm)
      return gemmOnDevice(context, p);
  if (chosen == Backend::Reference)
    return gemmReference(p);
  if constexpr (std::is_same_v<T, float>)
    if (chosen == Backend::OneDnn)
      return gemmOneDnn(p);
  gemmBlas(p);
}

// On the device, one call computes many products, since each call costs a launch; on the host,
// products run one at a time with all threads.
template <class T>
void gemmBatch(KernelContext& context, Backend backend, Index count, const BatchStrides& strides,
               bool transA, bool transB, Index m, Index n, Index k, T alpha, const T* a, Index lda,
               const T* b, Index ldb, T beta, T* c, Index ldc) {
  if constexpr (kHasDevice)
    if (isOnDevice(context) && count > 1 && std::min({m, n, k}) > 0 && alpha != T(0)) {
      Product<T> p{transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
      checkProduct(p);
      resolveBackend<T>(backend, Space::Device);
      for (Index i = 0; i < count; i += kMaxTogether) {
        p.a = a + i * strides.a;
        p.b = b + i * strides.b;
        p.c = c + i * strides.c;
        gemmBatchOnDevice(context, p, std::min(kMaxTogether, count - i), strides);
      }
      return;
    }
  for (Index i = 0; i < count; ++i)
    gemm<T>(context, backend, transA, transB, m, n, k, alpha, a + i * strides.a, lda,
            b + i * strides.b, ldb, beta, c + i * strides.c, ldc);
}

void prepareGemm(KernelContext& context) {
  if constexpr (kHasDevice)
    if (context.space() == Space::Device)
      prepareGemmOnDevice(context);
}

template void gemmBatch<float>(KernelContext&, Backend, Index, const BatchStrides&, bool, bool,
                               Index, Index, Index, float, const float*, Index, const float*, Index,
                               float, float*, Index);
template void gemmBatch<double>(KernelContext&, Backend, Index, const BatchStrides&, bool, bool,
                                Index, Index, Index, double, const double*, Index, const double*,
                                Index, double, double*, Index);
template void gemm<float>(KernelContext&, Backend, bool, bool, Index, Index, Index, float,
                          const float*, Index, const float*, Index, float, float*, Index);
template void gemm<double>(KernelContext&, Backend, bool, bool, Index, Index, Index, double,
                           const double*, Index, const double*, Index, double, double*, Index);

} // namespace tenon
