// SPDX-License-Identifier: BSD-2-Clause
// The matrix product C = alpha op(A) op(B) + beta C on row-major arrays, by BLAS, oneDNN, cuBLAS or
// plain loops. Other kernels call gemm() or gemmBatch(); Product and the functions after it are the
// interface between gemm.cpp and the backends.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"

namespace tenon {

// C is [m, n], op(A) [m, k], op(B) [k, n]; op transposes if the flag is set. lda, ldb and ldc are
// row strides. m, n and k can be 0: k = 0 or alpha = 0 scales C and reads neither A nor B. If
// beta = 0, C is not read.
template <class T>
void gemm(KernelContext& context, Backend backend, bool transA, bool transB, Index m, Index n,
          Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta, T* c, Index ldc);

// `count` products: the arrays of product i begin at a + i strides.a, and so on, in elements. With
// a stride of 0 all products share A or B.
struct BatchStrides {
  Index a, b, c;
};
template <class T>
void gemmBatch(KernelContext& context, Backend backend, Index count, const BatchStrides& strides,
               bool transA, bool transB, Index m, Index n, Index k, T alpha, const T* a, Index lda,
               const T* b, Index ldb, T beta, T* c, Index ldc);

// Prepares the context for products, which saves the first one a wait: on the device it creates the
// cuBLAS handle, or throws TENON_ERR_SUPPORT with the reason.
void prepareGemm(KernelContext& context);

// The arguments of a product after gemm() has checked them, for the backends.
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

// The product by oneDNN. Requires m, n, k >= 1.
void gemmOneDnn(const Product<float>& product);

// Products by cuBLAS on the device. Require m, n, k and count >= 1.
template <class T>
void gemmOnDevice(KernelContext& context, const Product<T>& product);
template <class T>
void gemmBatchOnDevice(KernelContext& context, const Product<T>& product, Index count,
                       const BatchStrides& strides);
void prepareGemmOnDevice(KernelContext& context);

} // namespace tenon
