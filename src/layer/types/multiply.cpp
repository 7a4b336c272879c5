// SPDX-License-Identifier: BSD-2-Clause
// The product of two inputs, element by element. With one factor held fixed it is a diagonal map of
// the other, which is its own adjoint, so that one kernel serves value and cotangents.
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalProduct final : public BilinearKernel {
public:
  explicit LocalProduct(const Box& box) : BilinearKernel(double(elements(box))) {}

  std::string describe() const override { return "element by element"; }
  bool runsOnDevice() const override { return true; }

private:
  void product(const DTensor& a, const DTensor& b, const DTensor*, bool adds, DTensor& y) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      tenon::product<T>(y.context(), y.localElements(), a.data<T>(), b.data<T>(), adds,
                        y.mutableData<T>());
    });
  }
  void adjointX(const DTensor& b, const DTensor& dy, DTensor& da) override {
    product(dy, b, nullptr, false, da);
  }
  void adjointW(const DTensor& a, const DTensor& dy, DTensor& db, DTensor*) override {
    product(dy, a, nullptr, false, db);
  }
};

} // namespace

std::unique_ptr<LocalKernel> makeMultiplyKernel(const KernelSite& at) {
  return std::make_unique<LocalProduct>(at.outputs());
}

} // namespace tenon
