// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of channel affine, and the kernels of PReLU. The shift is written first and the
// scaled input is added to it, with the functions that tangents and adjoints also use.
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/pointwise.hpp"

#include <limits>

namespace tenon {

namespace {

// Works on this rank's arrays, viewed as [batch, channel, elements of space].
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
  static constexpr Steps kChannels = {0, 1, 0}; // strides of an array with one number per channel

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
                            kChannels.data());
      };
      // The gradient of the scale sums dy x per channel, that of the shift sums dy.
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
                   kChannels.data(), y.mutableData<T>(), elements_.data());
    });
  }
  // y += scale x
  void addScaled(const DTensor& scale, const DTensor& x, DTensor& y) const {
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(y.context(), 3, extent_.data(), 1, scale.data<T>(), kChannels.data(),
                          x.data<T>(), elements_.data(), y.mutableData<T>(), elements_.data());
    });
  }

  Steps extent_, elements_; // of the box, and strides of its arrays
};

} // namespace

std::unique_ptr<LocalKernel> makeChannelAffineKernel(const KernelSite& at) {
  return std::make_unique<LocalChannelAffine>(at.outputs());
}

// PReLU: the positive part, and the negative part scaled by channel.
std::unique_ptr<LocalKernel> makePReluKernel(const KernelSite& at) {
  if (at.name() == "slope")
    return makeChannelAffineKernel(at);
  if (at.name() == "above")
    return makePointwise(Pointwise::Relu);
  return makePointwise({Pointwise::Clamp, -std::numeric_limits<double>::infinity(), 0});
}

} // namespace tenon
