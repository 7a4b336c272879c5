// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution/convolution.hpp"

#include "declaration/core/windowed.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

class LocalConvolution final : public OneInputKernel {
public:
  // The outputs begin at a cell of an array with the strides y, which the shape names too.
  LocalConvolution(const ConvolutionShape& shape, const ImageStrides& y, Index firstOutput,
                   TenonDataType type, Backend backend, const KernelContextPtr& context)
      : kernel_(type, [&]<class T>() { return makeConvolution<T>(shape, backend, context); }),
        shape_(shape), y_(y), firstOutput_(firstOutput), flops_(flopsOf(shape)) {}

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      const T* w = p[0]->value().data<T>();
      const T* b = p.size() > 1 ? p[1]->value().data<T>() : nullptr;
      kernel_.get<T>().forward(x.data<T>(), w, b, y.mutableData<T>() + firstOutput_, false);
    });
    logFlops(flops_);
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p,
               DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const DTensor* dw = p[0]->tangent();
      const DTensor* db = p.size() > 1 ? p[1]->tangent() : nullptr;
      T* out = dy.mutableData<T>() + firstOutput_;
      fillOutputs(dy.context(), db ? db->data<T>() : nullptr, out);
      if (dx)
        kernel_.get<T>().forward(dx->data<T>(), p[0]->value().data<T>(), nullptr, out, true);
      if (dw)
        kernel_.get<T>().forward(point.x->data<T>(), dw->data<T>(), nullptr, out, true);
      logFlops(flops_ * ((dx ? 1 : 0) + (dw ? 1 : 0)));
    });
  }

  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointData(p[0]->value().data<T>(), dy.data<T>() + firstOutput_,
                                   dx->mutableData<T>());
    });
    logFlops(flops_);
  }

  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      T* db = p.size() > 1 ? p[1]->gradientAddends().mutableData<T>() : nullptr;
      kernel_.get<T>().adjointWeights(point.x->data<T>(), dy.data<T>() + firstOutput_,
                                      p[0]->gradientAddends().mutableData<T>(), db);
    });
    logFlops(flops_);
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return kernel_.visit([](const auto& k) {
      return fmt::format("backend {} ({})", backendName(k.backend()), k.implementation());
    });
  }

private:
  // Of one product with the weights, a multiplication and an addition for each tap.
  static double flopsOf(const ConvolutionShape& shape) {
    const Index taps = shape.inChannels / shape.groups * kernelVolume(shape.window);
    return 2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
           double(taps);
  }

  // y[n,o,...] = b[o], or 0 without b.
  template <class T>
  void fillOutputs(KernelContext& context, const T* b, T* y) const {
    constexpr int kDims = kMaxSpatial + 2;
    const WindowShape& window = shape_.window;
    const int rank = window.rank + 2;
    std::array<Index, kDims> extent = {shape_.batch, shape_.outChannels};
    std::array<Index, kDims> strides = {y_.batch, y_.channel}, perChannel = {0, 1};
    std::copy_n(window.out.begin(), window.rank, extent.begin() + 2);
    std::copy_n(y_.space.begin(), window.rank, strides.begin() + 2);
    if (b)
      blockCombine(context, Combine::Copy, rank, extent.data(), b, perChannel.data(), y,
                   strides.data());
    else
      fillBlock(context, rank, extent.data(), T(0), y, strides.data());
  }

  TypedKernel<Convolution> kernel_;
  ConvolutionShape shape_;
  ImageStrides y_;
  Index firstOutput_;
  double flops_;
};

} // namespace

// Some of this rank's outputs, at their place in the array of all.
std::unique_ptr<LocalKernel> makeConvKernel(Layer& layer, const Form& form, const Layout& use,
                                            const Box& outputs) {
  const int rank = layer.comm()->rank();
  const Box in = use.boxOfRank(rank), all = form.output.boxOfRank(rank);
  const auto& windowed = static_cast<const Windowed&>(layer.declaration());
  const std::vector<Window> windows = windowed.windows();
  const Index inOfGroup = form.parameters.front().use.shape()[1];
  ConvolutionShape shape{in[0].size(), in[1].size(), outputs[1].size(),
                         localWindow(windows, use.shape(), in, outputs),
                         std::max<Index>(1, in[1].size() / inOfGroup)};
  const int spatial = static_cast<int>(windows.size());
  std::array<Index, kMaxSpatial> extents{};
  for (int s = 0; s < spatial; ++s)
    extents[s] = all[s + kFirstSpatial].size();
  const ImageStrides y = denseStrides(shape.outChannels, extents, spatial);
  shape.y = y;
  Index first = 0;
  for (int s = 0; s < spatial; ++s)
    first += (outputs[s + kFirstSpatial].begin - all[s + kFirstSpatial].begin) * y.space[s];
  return std::make_unique<LocalConvolution>(shape, y, first, layer.dataType(), backendOf(layer),
                                            contextOf(layer.comm(), layer.space()));
}

} // namespace tenon
