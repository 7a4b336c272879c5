// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/log/log.hpp"

namespace tenon {

namespace {

class LocalProduct final : public LocalKernel {
public:
  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    multiply(*x[0], *x[1], false, y);
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    if (!dx[0] && !dx[1])
      return scaleArray(0, dy);
    if (dx[0])
      multiply(*dx[0], *at.inputs[1], false, dy);
    if (dx[1])
      multiply(*at.inputs[0], *dx[1], dx[0] != nullptr, dy);
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    for (const int i : {0, 1})
      if (dx[i])
        multiply(dy, *at.inputs[1 - i], false, *dx[i]);
  }
  std::string describe() const override { return "element by element"; }
  bool runsOnDevice() const override { return true; }

private:
  static void multiply(const DTensor& a, const DTensor& b, bool adds, DTensor& y) {
    visitFloating(y.dataType(), [&]<class T>(T) {
      product<T>(y.context(), y.localElements(), a.data<T>(), b.data<T>(), adds,
                 y.mutableData<T>());
    });
    logFlops(double(y.localElements()));
  }
};

} // namespace

std::unique_ptr<LocalKernel> makeMultiplyKernel(Layer&, const Form&, const Layout&, const Box&) {
  return std::make_unique<LocalProduct>();
}

} // namespace tenon
