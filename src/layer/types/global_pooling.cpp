// SPDX-License-Identifier: BSD-2-Clause
// The mean over space, as a sum over what a rank has of each plane. Every rank divides by the
// number of elements that a plane has on all ranks, so that the addends of a split plane sum to the
// mean.
#include "declaration/core/window_layout.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Works on arrays [planes, elements of space] of this rank. With a stride of 0 in space a plane's
// one number meets all its elements: forward they are added to it, in the adjoint it is added to
// them.
class LocalGlobalPooling final : public LinearKernel {
public:
  LocalGlobalPooling(const Box& x, Index elementsOfAll)
      : extent_{x[0].size() * x[1].size(), 1}, factor_(1 / double(elementsOfAll)) {
    for (std::size_t d = kFirstSpatial; d < x.size(); ++d)
      extent_[1] *= x[d].size();
    steps_[0] = extent_[1];
  }

  void map(const DTensor& x, DTensor& y) override { add(x, steps_, y, kPlanes); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { add(dy, kPlanes, dx, steps_); }
  std::string describe() const override { return "sums of planes"; }
  bool runsOnDevice() const override { return true; }

private:
  using Steps = std::array<Index, 2>;
  static constexpr Steps kPlanes = {1, 0};

  void add(const DTensor& from, const Steps& read, DTensor& to, const Steps& write) const {
    scaleArray(0, to);
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(to.context(), 2, extent_.data(), static_cast<T>(factor_), nullptr,
                          nullptr, from.data<T>(), read.data(), to.mutableData<T>(), write.data());
    });
  }

  Steps extent_, steps_ = {0, 1};
  double factor_;
};

} // namespace

std::unique_ptr<LocalKernel> makeGlobalAveragePoolingKernel(const KernelSite& at) {
  const Shape& shape = at.form.inputs.front().shape();
  return std::make_unique<LocalGlobalPooling>(
      at.input(), elements(Shape(shape.begin() + kFirstSpatial, shape.end())));
}

} // namespace tenon
