// SPDX-License-Identifier: BSD-2-Clause
// The makers behind makeConvolution; their shapes are checked already.
#pragma once

#include "kernels/convolution.hpp"
#include "kernels/instruction_set.hpp"

#include <string>

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
// For a window that the direct convolution knows, and a set that the processor has.
template <class T>
std::unique_ptr<Convolution<T>> makeDirectConvolution(const ConvolutionShape& shape,
                                                      KernelContextPtr context, InstructionSet set);
// Why it cannot compute this one; "" if it can.
std::string whyNotDirect(const WindowShape& window);

} // namespace tenon
