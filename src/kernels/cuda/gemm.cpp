// SPDX-License-Identifier: BSD-2-Clause
// cuBLAS stores matrices by columns: it is asked for C^T = alpha op(B)^T op(A)^T + beta C^T.
#include "kernels/cuda/handles.hpp"
#include "kernels/gemm_product.hpp"

#include <type_traits>

namespace tenon {

template <class T>
void gemmOnDevice(KernelContext& context, const Product<T>& p) {
  const cuda::BlasTable& library = cuda::blas();
  const cublasHandle_t handle = cuda::handlesOf(context).blas();
  const auto operation = [](bool transposes) { return transposes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto call = [&](auto function, const char* name) {
    cuda::checkBlas(function(handle, operation(p.transB), operation(p.transA), p.n, p.m, p.k,
                             &p.alpha, p.b, p.ldb, p.a, p.lda, &p.beta, p.c, p.ldc),
                    name);
  };
  if constexpr (std::is_same_v<T, float>)
    call(library.cublasSgemm_v2_64, "cublasSgemm");
  else
    call(library.cublasDgemm_v2_64, "cublasDgemm");
}

void prepareGemmOnDevice(KernelContext& context) {
  cuda::handlesOf(context).blas();
}

template void gemmOnDevice<float>(KernelContext&, const Product<float>&);
template void gemmOnDevice<double>(KernelContext&, const Product<double>&);

} // namespace tenon
