// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of matmul: one batched matrix product over all pairs of matrices on this rank. Both
// factors are inputs; both are saved, since each can have a cotangent.
#include "kernels/products/gemm.hpp"
#include "layer/core/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalMatmul final : public BilinearKernel {
public:
  LocalMatmul(const Box& a, const Box& y, Backend backend)
      : BilinearKernel(2.0 * double(elements(y)) * double(a.back().size())),
        rows_(y.end()[-2].size()), columns_(y.back().size()), inner_(a.back().size()),
        backend_(backend) {
    for (std::size_t d = 0; d + 2 < y.size(); ++d)
      count_ *= y[d].size();
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const DTensor& a, const DTensor& b, const DTensor*, bool adds, DTensor& y) override {
    multiply(false, a, false, b, adds, y);
  }
  void adjointX(const DTensor& b, const DTensor& dy, DTensor& da) override {
    multiply(false, dy, true, b, false, da);
  }
  void adjointW(const DTensor& a, const DTensor& dy, DTensor& db, DTensor*) override {
    multiply(true, a, false, dy, false, db);
  }

  // c = op(a) op(b), or c += op(a) op(b) if `adds`. The extents m, n and k of this product follow
  // from the transpositions.
  void multiply(bool transA, const DTensor& a, bool transB, const DTensor& b, bool adds,
                DTensor& c) const {
    const Index m = transA ? inner_ : rows_, n = transB ? inner_ : columns_;
    const Index k = transA ? rows_ : transB ? columns_ : inner_;
    const Index stepA = transA ? m : k, stepB = transB ? k : n;
    visitFloating(c.dataType(), [&]<class T>(T) {
      gemmBatch<T>(c.context(), backend_, count_, {m * k, k * n, m * n}, transA, transB, m, n, k,
                   T(1), a.data<T>(), stepA, b.data<T>(), stepB, T(adds), c.mutableData<T>(), n);
    });
  }

  Index count_ = 1, rows_, columns_, inner_;
  Backend backend_;
};

} // namespace

std::unique_ptr<LocalKernel> makeMatmulKernel(const KernelSite& at) {
  prepareGemm(*at.context());
  return std::make_unique<LocalMatmul>(at.input(), at.outputs(), resolvedBackend(at.layer));
}

} // namespace tenon
