// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of flatten and reshape, which is a copy: in their use layouts the row-major arrays
// of x and y have the same elements in the same order. Its adjoint is the copy in the other
// direction.
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

// Copies x to y. The kernel's entry requires contiguous arrays.
class LocalCopy final : public OneInputKernel {
public:
  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override { copy(&x, y); }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    copy(dx, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      copy(&dy, *dx);
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local copy"; }

private:
  static void copy(const DTensor* x, DTensor& y) {
    if (!x)
      return scaleArray(0, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      arrayCombine(y.context(), Combine::Copy, x->localElements(), x->data<T>(),
                   y.mutableData<T>());
    });
  }
};

} // namespace

std::unique_ptr<LocalKernel> makeFlattenKernel(const KernelSite&) {
  return std::make_unique<LocalCopy>();
}

std::unique_ptr<LocalKernel> makeReshapeKernel(const KernelSite&) {
  return std::make_unique<LocalCopy>();
}

} // namespace tenon
