// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the convolution of x [batch, channels, space...] with the backend (library) that
// the settings select. This file translates between the tensors of a layer and the kernels of
// kernels/convolution, on each rank for the outputs that it owns. The base class BilinearKernel
// calls product(), adjointX() and adjointW() in Apply, tangent (the derivative in a direction) and
// adjoint (backpropagation).
//
// To overlap computation with the halo exchange, a layer can divide its output into pieces
// (form.pieces): the interior, which needs no halo, and strips at its sides. It then has one such
// kernel per piece, which writes its own box of the output array. In one dimension:
//
//   input    halo | owned ............................ | halo
//   output         strip | interior (first) | strip           strips: after the exchange
#include "kernels/convolution/convolution.hpp"
#include "declaration/core/windowed.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The kernel of one piece of the output, or of the whole output of this rank.
class LocalConvolution final : public BilinearKernel {
public:
  // The strides `y` are those of the array with all outputs of this rank, and `firstOutput` is the
  // offset of the first element of this kernel's box in that array.
  LocalConvolution(const ConvolutionShape& shape, const ImageStrides& y, Index firstOutput,
                   bool isWeightInput, TenonDataType type, Backend backend,
                   const KernelContextPtr& context)
      : BilinearKernel(flopsOf(shape)),
        kernel_(type, [&]<class T>() { return makeConvolution<T>(shape, backend, context); }),
        shape_(shape), outputStrides_(y), firstOutput_(firstOutput), isWeightInput_(isWeightInput) {
  }

  bool runsOnDevice() const override { return true; }
  void expect(const PointwiseFunction& f) override {
    kernel_.visit([&](auto& k) { k.expect(f); });
  }
  Autotuner* autotuner() override {
    return kernel_.visit([](auto& k) { return k.autotuner(); });
  }
  std::string describe() const override {
    return kernel_.visit([](const auto& k) {
      return fmt::format("backend {} ({})", backendName(k.backend()), k.implementation());
    });
  }

private:
  // One multiplication and one addition per tap (element of the kernel times input channel).
  static double flopsOf(const ConvolutionShape& shape) {
    const Index taps = shape.inChannels / shape.groups * kernelVolume(shape.window);
    return 2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
           double(taps);
  }

  void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
               DTensor& y) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      kernel_.get<T>().forward(x.data<T>(), w.data<T>(), b ? b->data<T>() : nullptr,
                               y.mutableData<T>() + firstOutput_, adds);
    });
  }
  bool productThen(const DTensor& x, const DTensor& w, const DTensor* b, const PointwiseFunction& f,
                   DTensor& y) override {
    return visitFloating(x.dataType(), [&]<class T>(T) {
      return kernel_.get<T>().forwardThen(x.data<T>(), w.data<T>(), b ? b->data<T>() : nullptr, f,
                                          y.mutableData<T>() + firstOutput_);
    });
  }
  void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointData(w.data<T>(), dy.data<T>() + firstOutput_, dx.mutableData<T>());
    });
  }
  void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor* db) override {
    if (isWeightInput_) // the weight is an input: its cotangent is overwritten, but the kernel adds
      scaleArray(0, dw);
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointWeights(x.data<T>(), dy.data<T>() + firstOutput_, dw.mutableData<T>(),
                                      db ? db->mutableData<T>() : nullptr);
    });
  }
  // The box of the output array that this kernel writes: dimensions [batch, channels, space...]
  // with their extents and strides.
  struct OwnBox {
    int rank;
    std::array<Index, kMaxSpatial + 2> extent, strides;
  };
  OwnBox ownBox() const {
    const WindowShape& window = shape_.window;
    OwnBox box{.rank = window.rank + 2,
               .extent = {shape_.batch, shape_.outChannels},
               .strides = {outputStrides_.batch, outputStrides_.channel}};
    std::copy_n(window.out.begin(), window.rank, box.extent.begin() + 2);
    std::copy_n(outputStrides_.space.begin(), window.rank, box.strides.begin() + 2);
    return box;
  }

  // y[n,o,...] = b[o]
  void fill(const DTensor* b, DTensor& y) override {
    const OwnBox box = ownBox();
    constexpr Index kPerChannel[kMaxSpatial + 2] = {0, 1}; // strides of b: only channels advance
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* out = y.mutableData<T>() + firstOutput_;
      if (b)
        blockCombine(y.context(), Combine::Copy, box.rank, box.extent.data(), b->data<T>(),
                     kPerChannel, out, box.strides.data());
      else
        fillBlock(y.context(), box.rank, box.extent.data(), T(0), out, box.strides.data());
    });
  }
  void applyFunction(const PointwiseFunction& f, DTensor& y) override {
    const OwnBox box = ownBox();
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockPointwise<T>(y.context(), f, box.rank, box.extent.data(),
                        y.mutableData<T>() + firstOutput_, box.strides.data());
    });
  }

  TypedKernel<Convolution> kernel_;
  ConvolutionShape shape_;
  ImageStrides outputStrides_;
  Index firstOutput_;
  bool isWeightInput_; // the weight is the second input
};

} // namespace

// The kernel writes a box of this rank's outputs. With several groups of channels, a rank has
// either whole groups, whose number is its input channels divided by the input channels per group,
// or a part of one group. The weights [outputs, inputs per group, kernel...] are a parameter or the
// second input.
std::unique_ptr<LocalKernel> makeConvolutionKernel(const KernelSite& at) {
  const Box in = at.input(), outputs = at.outputs(),
            rankOutputs = at.form.output.boxOfRank(at.rank());
  const auto& windowed = static_cast<const Windowed&>(at.layer.declaration());
  const std::vector<Window> windows = windowed.windows();
  const bool isWeightInput = at.form.parameters.empty();
  const Index inOfGroup =
      isWeightInput ? at.form.uses[1].shape()[1] : at.form.parameters.front().use.shape()[1];
  ConvolutionShape shape{in[0].size(), in[1].size(), outputs[1].size(),
                         localWindow(windows, at.use().shape(), in, outputs),
                         std::max<Index>(1, in[1].size() / inOfGroup)};
  const int spatial = static_cast<int>(windows.size());
  std::array<Index, kMaxSpatial> extents{};
  for (int s = 0; s < spatial; ++s)
    extents[s] = rankOutputs[s + kFirstSpatial].size();
  const ImageStrides y = denseStrides(shape.outChannels, extents, spatial);
  shape.y = y;
  shape.hasBias = at.form.parameters.size() > 1;
  Index first = 0;
  for (int s = 0; s < spatial; ++s)
    first += (outputs[s + kFirstSpatial].begin - rankOutputs[s + kFirstSpatial].begin) * y.space[s];
  return std::make_unique<LocalConvolution>(shape, y, first, isWeightInput, at.layer.dataType(),
                                            backendOf(at.layer), at.context());
}

} // namespace tenon
