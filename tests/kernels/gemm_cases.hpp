// SPDX-License-Identifier: BSD-2-Clause
// Random matrix products c = alpha op(a) op(b) + beta c on small integers, for which all backends
// have the same bits: GemmCase is one product, and drawGemm() draws one.
#pragma once

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/products/gemm.hpp"

#include <algorithm>
#include <limits>

namespace tenon::test {

template <class T>
struct GemmCase {
  bool transA, transB;
  Index m, n, k;
  Index lda = 0, ldb = 0, ldc = 0;
  T alpha = 0, beta = 0;
  std::vector<T> a = {}, b = {}, c = {};

  // c after the product by a backend of the host.
  std::vector<T> onHost(Backend backend) const {
    std::vector<T> result = c;
    multiply(hostContext(), backend, a.data(), b.data(), result.data());
    return result;
  }
  void multiply(KernelContext& context, Backend backend, const T* at, const T* bt, T* ct) const {
    gemm<T>(context, backend, transA, transB, m, n, k, alpha, at, lda, bt, ldb, beta, ct, ldc);
  }
};

// Any of the sizes can be 0, and rows can have gaps (lda, ldb, ldc). With beta = 0 the elements of
// c that the product overwrites are NaN, which shows whether they are read.
template <class T>
GemmCase<T> drawGemm(Draw& draw) {
  const auto size = [&] { return draw.withProbability(0.08) ? 0 : draw.integer(1, 40); };
  GemmCase<T> g{.transA = draw.withProbability(0.5),
                .transB = draw.withProbability(0.5),
                .m = size(),
                .n = size(),
                .k = size()};
  g.lda = (g.transA ? g.m : g.k) + draw.integer(0, 3);
  g.ldb = (g.transB ? g.k : g.n) + draw.integer(0, 3);
  g.ldc = g.n + draw.integer(0, 3);
  g.a = draw.integers<T>((g.transA ? g.k : g.m) * g.lda);
  g.b = draw.integers<T>((g.transB ? g.n : g.k) * g.ldb);
  g.alpha = T(draw.integer(-2, 2));
  g.beta = T(draw.integer(-1, 2));
  g.c = draw.integers<T>(g.m * g.ldc);
  if (g.beta == 0)
    for (Index i = 0; i < g.m; ++i)
      std::fill_n(g.c.begin() + i * g.ldc, g.n, std::numeric_limits<T>::quiet_NaN());
  return g;
}

} // namespace tenon::test
