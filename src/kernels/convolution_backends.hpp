// SPDX-License-Identifier: BSD-2-Clause
// The makers behind makeConvolution; their shapes are checked already.
#pragma once

#include "kernels/convolution.hpp"

namespace tenon {

template <class T>
std::unique_ptr<Convolution<T>> makeReferenceConvolution(const ConvolutionShape& shape);
template <class T>
std::unique_ptr<Convolution<T>> makeBlasConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape,
                                                          KernelContextPtr context);

} // namespace tenon
