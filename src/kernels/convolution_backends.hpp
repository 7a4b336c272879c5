// SPDX-License-Identifier: BSD-2-Clause
// The makers behind makeConvolution; their shapes are checked already.
#pragma once

#include "kernels/convolution.hpp"

namespace tenon {

// How y lies, as said or by default.
ImageStrides outputStrides(const ConvolutionShape& shape);
// The same with three spatial dimensions, as embedWindow has them.
ImageStrides embedStrides(const ImageStrides& strides, int rank);

template <class T>
std::unique_ptr<Convolution<T>> makeReferenceConvolution(const ConvolutionShape& shape);
template <class T>
std::unique_ptr<Convolution<T>> makeBlasConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape,
                                                          KernelContextPtr context);

} // namespace tenon
