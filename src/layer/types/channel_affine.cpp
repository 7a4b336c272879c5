// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "sys/log/log.hpp"

namespace tenon {

namespace {

// On arrays [batch, channel, cells of space] of this rank.
class LocalChannelAffine final : public OneInputKernel {
public:
  explicit LocalChannelAffine(const Box& box) : extent_{box[0].size(), box[1].size(), 1} {
    for (std::size_t d = 2; d < box.size(); ++d)
      extent_[2] *= box[d].size();
    cells_ = {extent_[1] * extent_[2], extent_[2], 1};
  }

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override {
    shift(&p[1]->value(), y);
    addScaled(p[0]->value(), x, y);
    logFlops(2.0 * double(x.localElements()));
  }
  void tangent(const KernelPoint& at, const DTensor* dx, ParameterUses& p, DTensor& dy) override {
    shift(p[1]->tangent(), dy);
    if (dx)
      addScaled(p[0]->value(), *dx, dy);
    if (p[0]->tangent())
      addScaled(*p[0]->tangent(), *at.x, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor* dx) override {
    if (!dx)
      return;
    scaleArray(0, *dx);
    addScaled(p[0]->value(), dy, *dx);
    logFlops(double(dy.localElements()));
  }
  void adjointParameters(const KernelPoint& at, const DTensor& dy, ParameterUses& p) override {
    const bool shifts = p[1]->gradientAddends().localElements() > 0;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const auto add = [&](const T* factor, DTensor& gradient) {
        blockMultiplyAdd<T>(dy.context(), 3, extent_.data(), 1, factor, cells_.data(), dy.data<T>(),
                            cells_.data(), gradient.mutableData<T>(), kChannels.data());
      };
      add(at.x->data<T>(), p[0]->gradientAddends());
      if (shifts)
        add(nullptr, p[1]->gradientAddends());
    });
    logFlops((shifts ? 3.0 : 2.0) * double(dy.localElements()));
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "each channel for itself"; }

private:
  using Steps = std::array<Index, 3>;
  static constexpr Steps kChannels = {0, 1, 0}; // strides of an array of numbers by channel

  // y = t, which off the root of an axis is absent, and is 0.
  void shift(const DTensor* t, DTensor& y) const {
    if (!t || t->localElements() == 0)
      return scaleArray(0, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockCombine(y.context(), Combine::Copy, 3, extent_.data(), t->data<T>(), kChannels.data(),
                   y.mutableData<T>(), cells_.data());
    });
  }
  // y += scale x
  void addScaled(const DTensor& scale, const DTensor& x, DTensor& y) const {
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(y.context(), 3, extent_.data(), 1, scale.data<T>(), kChannels.data(),
                          x.data<T>(), cells_.data(), y.mutableData<T>(), cells_.data());
    });
  }

  Steps extent_, cells_; // of the box, and strides of its arrays
};

} // namespace

std::unique_ptr<LocalKernel> makeChannelaffineKernel(Layer&, const Form&, const Layout&,
                                                     const Box& outputs) {
  return std::make_unique<LocalChannelAffine>(outputs);
}

} // namespace tenon
