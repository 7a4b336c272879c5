// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/arithmetic.hpp"
#include "kernels/products/gemm.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// One product for each matrix that this rank holds.
class LocalMatmul final : public LocalKernel {
public:
  LocalMatmul(const Box& a, const Box& y, Backend backend)
      : rows_(y.end()[-2].size()), columns_(y.back().size()), inner_(a.back().size()),
        backend_(backend) {
    for (std::size_t d = 0; d + 2 < y.size(); ++d)
      count_ *= y[d].size();
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    product(false, *x[0], false, *x[1], 0, y);
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    double beta = 0;
    if (dx[0]) {
      product(false, *dx[0], false, *at.inputs[1], beta, dy);
      beta = 1;
    }
    if (dx[1])
      product(false, *at.inputs[0], false, *dx[1], beta, dy);
    else if (beta == 0)
      scaleArray(0, dy);
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      product(false, dy, true, *at.inputs[1], 0, *dx[0]);
    if (dx[1])
      product(true, *at.inputs[0], false, dy, 0, *dx[1]);
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  // c = op(a) op(b) + beta c; of the three extents each pair of operands has its own.
  void product(bool transA, const DTensor& a, bool transB, const DTensor& b, double beta,
               DTensor& c) const {
    const Index m = transA ? inner_ : rows_, n = transB ? inner_ : columns_;
    const Index k = transA ? rows_ : transB ? columns_ : inner_;
    const Index stepA = transA ? m : k, stepB = transB ? k : n;
    visitFloating(c.dataType(), [&]<class T>(T) {
      gemmBatch<T>(c.context(), backend_, count_, {m * k, k * n, m * n}, transA, transB, m, n, k,
                   T(1), a.data<T>(), stepA, b.data<T>(), stepB, T(beta), c.mutableData<T>(), n);
    });
    logFlops(2.0 * double(count_ * m * n) * double(k));
  }

  Index count_ = 1, rows_, columns_, inner_;
  Backend backend_;
};

} // namespace

std::unique_ptr<LocalKernel> makeMatmulKernel(Layer& layer, const Form&, const Layout& use,
                                              const Box& outputs) {
  prepareGemm(*contextOf(layer.comm(), layer.space()));
  return std::make_unique<LocalMatmul>(use.boxOfRank(layer.comm()->rank()), outputs,
                                       resolvedBackend(layer));
}

} // namespace tenon
