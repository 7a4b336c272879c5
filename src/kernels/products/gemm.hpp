// SPDX-License-Identifier: BSD-2-Clause
// The matrix product C = alpha op(A) op(B) + beta C on row-major arrays.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"

namespace tenon {

// C is [m, n], op(A) [m, k], op(B) [k, n]; op transposes where the flag is set. lda, ldb, ldc are
// the distances between stored rows. m, n and k may be 0: k = 0 or alpha = 0 scales C
// and reads neither A nor B. beta = 0 never reads C.
template <class T>
void gemm(KernelContext& context, Backend backend, bool transA, bool transB, Index m, Index n,
          Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta, T* c, Index ldc);

// `count` products whose arrays are these distances apart; with a distance of 0 all products share
// A or B.
struct BatchStrides {
  Index a, b, c;
};
template <class T>
void gemmBatch(KernelContext& context, Backend backend, Index count, const BatchStrides& strides,
               bool transA, bool transB, Index m, Index n, Index k, T alpha, const T* a, Index lda,
               const T* b, Index ldb, T beta, T* c, Index ldc);

// Prepares the context for products, so that the first one does not wait: on the device cuBLAS is
// opened, and TENON_ERR_SUPPORT says why it cannot be.
void prepareGemm(KernelContext& context);

// The arguments of a product once they are checked, as gemm() hands them to the backends below.
template <class T>
struct Product {
  bool transA, transB;
  Index m, n, k;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  T* c;
  Index ldc;
};

// The product by oneDNN; m, n and k are at least 1.
void gemmOneDnn(const Product<float>& product);

// Products by cuBLAS, on the device; m, n, k and the count are at least 1.
template <class T>
void gemmOnDevice(KernelContext& context, const Product<T>& product);
template <class T>
void gemmBatchOnDevice(KernelContext& context, const Product<T>& product, Index count,
                       const BatchStrides& strides);
void prepareGemmOnDevice(KernelContext& context);

} // namespace tenon
