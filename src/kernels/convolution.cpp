// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution.hpp"

#include "kernels/convolution_backends.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <tenon_features.hpp>

#include <algorithm>
#include <type_traits>

namespace tenon {

namespace {

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

bool isEmpty(const ConvolutionShape& shape) {
  return shape.batch * shape.inChannels * shape.outChannels * inputVolume(shape.window) *
             outputVolume(shape.window) ==
         0;
}

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
  resolveBackend<T>(backend, Space::Device);
  if constexpr (kHasDevice)
    return backend == Backend::Gemm || backend == Backend::Cufft
               ? makeGemmConvolution<T>(shape, std::move(context))
               : makeCudnnConvolution<T>(shape, std::move(context));
  return nullptr; // without it there is no such context
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
  const bool isDirect = backend == Backend::Direct ||
                        (backend == Backend::Auto && !isEmpty(shape) && isDirectFaster<T>(shape));
  if (isDirect)
    return makeDirect<T>(shape, contextOrOwn(std::move(context)));
  const Backend chosen = resolveBackend<T>(backend);
  if (chosen == Backend::Reference)
    return makeReferenceConvolution<T>(shape);
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
