// SPDX-License-Identifier: BSD-2-Clause
// The arguments of gemm.hpp, checked, for those who compute it.
#pragma once

#include "kernels/gemm.hpp"

namespace tenon {

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

// By oneDNN; m, n and k are at least 1.
void gemmOneDnn(const Product<float>& product);

// By cuBLAS, on the device; m, n, k and the count are at least 1.
template <class T>
void gemmOnDevice(KernelContext& context, const Product<T>& product);
template <class T>
void gemmBatchOnDevice(KernelContext& context, const Product<T>& product, Index count,
                       const BatchStrides& strides);
void prepareGemmOnDevice(KernelContext& context);

} // namespace tenon
