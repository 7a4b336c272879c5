// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of flatten and reshape, for example from x [4,3,5,5] to y [4,75]. On each rank it is
// a copy from one array to the other, because both have the same elements in the same (row-major)
// order. This holds because the layers first redistribute x, if necessary: of several dimensions
// that are merged, only the first may be split (declaration/types/flatten.cpp). The adjoint is the
// copy from dy to dx.
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

// Copies x to y. Both arrays are contiguous: the layer passes contiguous copies of strided arrays
// to every kernel that does not declare `anyStrides` in its entry of the map list.
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
  // A null x is a tangent that is zero.
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
