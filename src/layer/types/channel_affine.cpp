// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the layers channel affine and PReLU, which have one parameter per channel. For
// sample n, channel c and position s in space:
//
//   channel affine   y[n,c,s] = scale[c] x[n,c,s] + shift[c]
//   PReLU            y[n,c,s] = max(x, 0) + slope[c] min(x, 0)
//
// The base class BilinearKernel calls the functions of channel affine in Apply, tangent and
// adjoint; in its terms the scale is the factor w and the shift is the bias b. No kernel needs a
// message: each rank has the parameters of the channels that it stores.
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/pointwise.hpp"

#include <limits>

namespace tenon {

namespace {

// Works on this rank's arrays, viewed as [batch, channel, elements of space]. An array with one
// number per channel is read with stride 0 along the other two dimensions.
class LocalChannelAffine final : public BilinearKernel {
public:
  explicit LocalChannelAffine(const Box& box)
      : BilinearKernel(2.0 * double(elements(box))), extent_{box[0].size(), box[1].size(), 1} {
    for (std::size_t d = 2; d < box.size(); ++d)
      extent_[2] *= box[d].size();
    elements_ = {extent_[1] * extent_[2], extent_[2], 1};
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "each channel for itself"; }

private:
  using Steps = std::array<Index, 3>;
  static constexpr Steps kChannelStrides = {0, 1, 0}; // of an array with one number per channel

  void product(const DTensor& x, const DTensor& scale, const DTensor* shift, bool adds,
               DTensor& y) override {
    if (!adds)
      fill(shift, y);
    addScaled(scale, x, y);
  }
  void adjointX(const DTensor& scale, const DTensor& dy, DTensor& dx) override {
    scaleArray(0, dx);
    addScaled(scale, dy, dx);
  }
  void adjointW(const DTensor& x, const DTensor& dy, DTensor& dScale, DTensor* dShift) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const auto add = [&](const T* factor, DTensor& gradient) {
        blockMultiplyAdd<T>(dy.context(), 3, extent_.data(), 1, factor, elements_.data(),
                            dy.data<T>(), elements_.data(), gradient.mutableData<T>(),
                            kChannelStrides.data());
      };
      // Gradient of the scale: sum of dy x per channel. Gradient of the shift: sum of dy (a null
      // factor counts as 1).
      add(x.data<T>(), dScale);
      if (dShift)
        add(nullptr, *dShift);
    });
  }
  void fill(const DTensor* shift, DTensor& y) override {
    if (!shift)
      return scaleArray(0, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockCombine(y.context(), Combine::Copy, 3, extent_.data(), shift->data<T>(),
                   kChannelStrides.data(), y.mutableData<T>(), elements_.data());
    });
  }
  // y += scale x
  void addScaled(const DTensor& scale, const DTensor& x, DTensor& y) const {
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(y.context(), 3, extent_.data(), 1, scale.data<T>(),
                          kChannelStrides.data(), x.data<T>(), elements_.data(), y.mutableData<T>(),
                          elements_.data());
    });
  }

  Steps extent_, elements_; // of the box, and strides of its arrays
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeChannelAffineKernel(const KernelSite& at) {
  return std::make_unique<LocalChannelAffine>(at.outputs());
}

// PReLU consists of three kernels with these names: "above" computes max(x, 0), "below" computes
// min(x, 0), and "slope" multiplies the latter by slope[c], as a channel affine without a shift.
// The layer then adds the results of the first and the last one.
std::unique_ptr<LocalKernel> makePReluKernel(const KernelSite& at) {
  if (at.name() == "slope")
    return makeChannelAffineKernel(at);
  if (at.name() == "above")
    return makePointwise(Pointwise::Relu);
  return makePointwise({Pointwise::Clamp, -std::numeric_limits<double>::infinity(), 0});
}

} // namespace tenon
