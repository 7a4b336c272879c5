// SPDX-License-Identifier: BSD-2-Clause
// makeConvolution(): checks the shape, and selects the implementation by the requested backend, the
// data type, the shape and the memory space. With `auto`, the host uses direct convolution
// (direct.cpp) where it is faster, otherwise oneDNN for float (onednn.cpp) or BLAS (blas.cpp); the
// device uses cuDNN. The reference backend is in this file too: plain loops over the definition.
#include "kernels/convolution/convolution.hpp"

#include "kernels/convolution/backends.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <tenon_features.hpp>

#include <algorithm>
#include <type_traits>

namespace tenon {

namespace {

// The formulas of convolution.hpp, one loop per index. Tests compare all other backends with it.
template <class T>
class ReferenceConvolution final : public Convolution<T> {
public:
  explicit ReferenceConvolution(const ConvolutionShape& shape)
      : batch_(shape.batch), in_(shape.inChannels), out_(shape.outChannels),
        inOfGroup_(in_ / shape.groups), outOfGroup_(out_ / shape.groups),
        window_(embedWindow(shape.window)),
        y_(embedStrides(outputStrides(shape), shape.window.rank)), inVolume_(inputVolume(window_)),
        taps_(kernelVolume(window_)) {}

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          T sum = b ? b[k] : T(0);
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              sum += w[weight(k, c) + t] * x[channel(n, k, c) + i];
            });
          T& value = y[output(n, k, o)];
          value = accumulate ? value + sum : sum;
        });
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    std::fill_n(dx, batch_ * in_ * inVolume_, T(0));
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          const T value = dy[output(n, k, o)];
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              dx[channel(n, k, c) + i] += w[weight(k, c) + t] * value;
            });
        });
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          const T value = dy[output(n, k, o)];
          if (db)
            db[k] += value;
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              dw[weight(k, c) + t] += value * x[channel(n, k, c) + i];
            });
        });
  }

  Backend backend() const override { return Backend::Reference; }
  const char* implementation() const override { return "loops"; }

private:
  // Offset in w of the taps of output channel k and of the c-th input channel of its group.
  Index weight(Index k, Index c) const { return (k * inOfGroup_ + c) * taps_; }
  // Offset in y of the output at position o.
  Index output(Index n, Index k, const Position& o) const {
    return n * y_.batch + k * y_.channel + o[0] * y_.space[0] + o[1] * y_.space[1] +
           o[2] * y_.space[2];
  }
  // Offset in x of the c-th input channel of the group of output channel k.
  Index channel(Index n, Index k, Index c) const {
    return (n * in_ + k / outOfGroup_ * inOfGroup_ + c) * inVolume_;
  }

  Index batch_, in_, out_, inOfGroup_, outOfGroup_; // numbers of images and channels
  WindowShape window_;
  ImageStrides y_;        // strides of y and dy
  Index inVolume_, taps_; // elements of an input channel, and of a kernel
};

void checkShape(const ConvolutionShape& shape) {
  if (shape.batch < 0 || shape.inChannels < 0 || shape.outChannels < 0)
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "the convolution has batch size {}, {} input and {} output channels; all must be >= 0",
            shape.batch, shape.inChannels, shape.outChannels));
  if (shape.groups < 1 || shape.inChannels % shape.groups != 0 ||
      shape.outChannels % shape.groups != 0)
    throw Error(TENON_ERR_ARG, fmt::format("the convolution has {} groups, {} input and {} output "
                                           "channels; the number of groups must divide both",
                                           shape.groups, shape.inChannels, shape.outChannels));
  checkWindow(shape.window);
}

// Whether any array has no elements.
bool isEmpty(const ConvolutionShape& shape) {
  return shape.batch * shape.inChannels * shape.outChannels * inputVolume(shape.window) *
             outputVolume(shape.window) ==
         0;
}

// Only a request for direct convolution by name can fail: Auto checks first whether it is possible.
template <class T>
std::unique_ptr<Convolution<T>> makeDirect(const ConvolutionShape& shape,
                                           KernelContextPtr context) {
  const std::string why = whyNotDirect(shape.window);
  if (!why.empty())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("backend 'direct' does not support this convolution: {}; use 'auto', "
                            "'blas' or 'reference'",
                            why));
  return makeDirectConvolution<T>(shape, std::move(context), directInstructions<T>(shape.window));
}

template <class T>
std::unique_ptr<Convolution<T>> makeOnDevice(const ConvolutionShape& shape, Backend backend,
                                             KernelContextPtr context) {
  resolveBackend<T>(backend, Space::Device); // throws for a backend of the host
  if constexpr (kHasDevice)
    return backend == Backend::Gemm || backend == Backend::Cufft
               ? makeGemmConvolution<T>(shape, std::move(context))
               : makeCudnnConvolution<T>(shape, std::move(context), backend == Backend::Auto);
  return nullptr; // not reached: a build without a device cannot create such a context
}

} // namespace

ImageStrides denseStrides(Index channels, const std::array<Index, kMaxSpatial>& space, int rank) {
  ImageStrides strides;
  Index step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides.space[d] = step;
    step *= space[d];
  }
  strides.channel = step;
  strides.batch = step * channels;
  return strides;
}

ImageStrides outputStrides(const ConvolutionShape& shape) {
  const WindowShape& w = shape.window;
  return shape.y ? *shape.y : denseStrides(shape.outChannels, w.out, w.rank);
}

ImageStrides embedStrides(const ImageStrides& strides, int rank) {
  ImageStrides embedded{strides.batch, strides.channel, {}};
  std::copy_n(strides.space.begin(), rank, embedded.space.begin() + kMaxSpatial - rank);
  return embedded;
}

template <class T>
std::unique_ptr<Convolution<T>> makeConvolution(const ConvolutionShape& shape, Backend backend,
                                                KernelContextPtr context) {
  checkShape(shape);
  if (context && context->space() == Space::Device)
    return makeOnDevice<T>(shape, backend, std::move(context));
  // Empty shapes use the BLAS loops: oneDNN does not support them, and speed does not matter.
  const bool isDirect = backend == Backend::Direct ||
                        (backend == Backend::Auto && !isEmpty(shape) && isDirectFaster<T>(shape));
  if (isDirect)
    return makeDirect<T>(shape, contextOrOwn(std::move(context)));
  const Backend chosen = resolveBackend<T>(backend);
  if (chosen == Backend::Reference)
    return std::make_unique<ReferenceConvolution<T>>(shape);
  if constexpr (std::is_same_v<T, float>)
    if (chosen == Backend::OneDnn && !isEmpty(shape))
      return makeOneDnnConvolution(shape, contextOrOwn(std::move(context)));
  return makeBlasConvolution<T>(shape, contextOrOwn(std::move(context)));
}

template std::unique_ptr<Convolution<float>> makeConvolution<float>(const ConvolutionShape&,
                                                                    Backend, KernelContextPtr);
template std::unique_ptr<Convolution<double>> makeConvolution<double>(const ConvolutionShape&,
                                                                      Backend, KernelContextPtr);

} // namespace tenon
