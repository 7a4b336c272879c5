// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/products/gemm.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalAffine final : public OneInputKernel {
public:
  LocalAffine(Index samples, Index inputs, Index outputs, Backend backend)
      : n_(samples), i_(inputs), o_(outputs), backend_(backend) {}

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      T* out = y.mutableData<T>();
      multiply<T>(x, p[0]->value(), T(0), out);
      if (p.size() > 1)
        addBiasOf<T>(p[1]->value(), out);
    });
    logFlops(flops());
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p,
               DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      scaleArray(0, dy);
      T* out = dy.mutableData<T>();
      if (dx)
        multiply<T>(*dx, p[0]->value(), T(1), out);
      const DTensor* dw = p[0]->tangent();
      if (dw)
        multiply<T>(*point.x, *dw, T(1), out);
      if (const DTensor* db = p.size() > 1 ? p[1]->tangent() : nullptr)
        addBiasOf<T>(*db, out);
      logFlops(flops() * ((dx ? 1 : 0) + (dw ? 1 : 0)));
    });
  }

  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      gemm<T>(dy.context(), backend_, false, false, n_, i_, o_, T(1), dy.data<T>(), o_,
              p[0]->value().data<T>(), i_, T(0), dx->mutableData<T>(), i_);
    });
    logFlops(flops());
  }

  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T* g = dy.data<T>();
      gemm<T>(dy.context(), backend_, true, false, o_, i_, n_, T(1), g, o_, point.x->data<T>(), i_,
              T(1), p[0]->gradientAddends().mutableData<T>(), i_);
      logFlops(flops());
      if (p.size() < 2)
        return;
      DTensor& db = p[1]->gradientAddends();
      if (db.localElements() > 0)
        sumRows<T>(dy.context(), n_, o_, g, db.mutableData<T>());
    });
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  // Of one product, a multiplication and an addition for each pair.
  double flops() const { return 2.0 * double(n_ * i_) * double(o_); }

  // out = x W^T + beta out
  template <class T>
  void multiply(const DTensor& x, const DTensor& w, T beta, T* out) {
    gemm<T>(x.context(), backend_, false, true, n_, o_, i_, T(1), x.data<T>(), i_, w.data<T>(), i_,
            beta, out, o_);
  }

  // Off the root of an axis that splits the inputs there is no bias: one addend carries it.
  template <class T>
  void addBiasOf(const DTensor& b, T* out) {
    if (b.localElements() > 0)
      addBias<T>(b.context(), n_, o_, b.data<T>(), out);
  }

  Index n_, i_, o_;
  Backend backend_;
};

} // namespace

std::unique_ptr<LocalKernel> makeAffineKernel(Layer& layer, const Form&, const Layout& use,
                                              const Box& outputs) {
  const Box in = use.boxOfRank(layer.comm()->rank());
  prepareGemm(*contextOf(layer.comm(), layer.space()));
  return std::make_unique<LocalAffine>(in[0].size(), in[1].size(), outputs[1].size(),
                                       resolvedBackend(layer));
}

} // namespace tenon
