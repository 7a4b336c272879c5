// SPDX-License-Identifier: BSD-2-Clause
#include "layer/affine_layer.hpp"

#include "kernels/gemm.hpp"
#include "kernels/pointwise.hpp"
#include "sys/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

class LocalAffine final : public OneInputKernel {
public:
  LocalAffine(Index samples, Index inputs, Index outputs, Backend backend)
      : n_(samples), i_(inputs), o_(outputs), backend_(backend) {}

  bool keepsInput() const override { return true; }
  Gradients gradients() const override { return Gradients::Apart; }

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
      T* out = dy.mutableData<T>();
      std::fill_n(out, dy.localCells(), T(0));
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
      gemm<T>(backend_, false, false, n_, i_, o_, T(1), dy.data<T>(), o_, p[0]->value().data<T>(),
              i_, T(0), dx->mutableData<T>(), i_);
    });
    logFlops(flops());
  }

  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T* g = dy.data<T>();
      gemm<T>(backend_, true, false, o_, i_, n_, T(1), g, o_, point.x->data<T>(), i_, T(1),
              p[0]->gradientAddends().mutableData<T>(), i_);
      logFlops(flops());
      if (p.size() < 2)
        return;
      DTensor& db = p[1]->gradientAddends();
      if (db.localCells() > 0)
        sumRows<T>(n_, o_, g, db.mutableData<T>());
    });
  }

  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  // Of one product, a multiplication and an addition for each pair.
  double flops() const { return 2.0 * double(n_ * i_) * double(o_); }

  // out = x W^T + beta out
  template <class T>
  void multiply(const DTensor& x, const DTensor& w, T beta, T* out) {
    gemm<T>(backend_, false, true, n_, o_, i_, T(1), x.data<T>(), i_, w.data<T>(), i_, beta, out,
            o_);
  }

  // Off the root of an axis that splits the inputs there is no bias: one addend carries it.
  template <class T>
  void addBiasOf(const DTensor& b, T* out) {
    if (b.localCells() > 0)
      addBias<T>(n_, o_, b.data<T>(), out);
  }

  Index n_, i_, o_;
  Backend backend_;
};

} // namespace

AffineLayer::AffineLayer(CommPtr comm, Index inputs, Index outputs)
    : KernelLayer(std::move(comm)), inputs_(inputs), outputs_(outputs) {
  if (inputs < 1 || outputs < 1)
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "an affine layer needs at least 1 input and 1 output feature, but {} and {} were given",
            inputs, outputs));
}

void AffineLayer::setBias(bool bias) {
  checkBeforeSetUp("TenonLayerSetBias()");
  bias_ = bias;
}

std::string AffineLayer::ownSettings() const {
  return fmt::format("{} -> {} features{}", inputs_, outputs_, bias_ ? "" : ", no bias");
}

KernelPlan AffineLayer::plan(const Layout& input) {
  if (input.rank() != 2 || input.shape()[1] != inputs_)
    throw Error(TENON_ERR_SHAPE, fmt::format("the input has shape [{2}], but {0} needs [batch,{1}]",
                                             title(), inputs_, fmt::join(input.shape(), ",")));
  const auto S = [](int d) { return Property::shard(d); };
  const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
  const SignatureTable table = {{"n", S(0), {B, B}, S(0)}, {"o", B, {S(0), S(0)}, S(1)},
                                {"i", S(1), {S(1), R}, P}, {"B", B, {B, B}, B},
                                {"R", R, {R, R}, R},       {"P", P, {B, R}, P}};
  Signature chosen(table, input, signature(), title());
  const Layout plainInput = input.withoutMargins();
  const Layout use = makeLayout(input.shape(), input.meshPtr(), chosen.input(),
                                {{&plainInput, 0}, {&plainInput, 1}});
  const Layout output =
      makeLayout({input.shape()[0], outputs_}, input.meshPtr(), chosen.output(), {{&use, 0}, {}});
  KernelPlan result{chosen, use, output, {}, {}, nullptr};
  result.parameterUses.push_back(makeLayout({outputs_, inputs_}, input.meshPtr(),
                                            chosen.parameter(0), {{&output, 1}, {&use, 1}}));
  result.parameters.push_back(parameter("weight", result.parameterUses[0], inputs_, outputs_));
  if (bias_) {
    result.parameterUses.push_back(
        makeLayout({outputs_}, input.meshPtr(), chosen.parameter(1), {{&output, 1}}));
    result.parameters.push_back(parameter("bias", result.parameterUses[1], 0, 0));
  }
  const int here = input.mesh().position(comm()->rank());
  const Box in = use.box(here), out = output.box(here);
  const Backend asked = parseBackend(backend());
  const Backend resolved =
      visitFloating(dataType(), [&]<class T>(T) { return resolveBackend<T>(asked); });
  result.kernel =
      std::make_unique<LocalAffine>(in[0].size(), in[1].size(), out[1].size(), resolved);
  return result;
}

} // namespace tenon
