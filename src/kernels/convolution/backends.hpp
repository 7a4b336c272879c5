// SPDX-License-Identifier: BSD-2-Clause
// The makers that makeConvolution() chooses among. The shapes that they get are checked already.
#pragma once

#include "kernels/base/instruction_set.hpp"
#include "kernels/convolution/convolution.hpp"

#include <string>
#include <vector>

namespace tenon {

// The strides of y: those that the shape gives, or those of a contiguous array.
ImageStrides outputStrides(const ConvolutionShape& shape);
// The strides with three spatial dimensions, as embedWindow() has them.
ImageStrides embedStrides(const ImageStrides& strides, int rank);

template <class T>
std::unique_ptr<Convolution<T>> makeBlasConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape,
                                                          KernelContextPtr context);
// The two of the device take a context of the device. Where it `mayTakeProducts`, cuDNN's leaves
// passes to those of cuBLAS that are measured to be faster.
template <class T>
std::unique_ptr<Convolution<T>>
makeCudnnConvolution(const ConvolutionShape& shape, KernelContextPtr context, bool mayTakeProducts);
template <class T>
std::unique_ptr<Convolution<T>> makeGemmConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
// The window must be one that the direct convolution supports, and the processor must have the
// instructions.
template <class T>
std::unique_ptr<Convolution<T>> makeDirectConvolution(const ConvolutionShape& shape,
                                                      KernelContextPtr context, InstructionSet set);
// The sets for which it is compiled and that may be used, the widest last.
std::vector<InstructionSet> directInstructionSets();
// Why the direct convolution does not support this window; "" if it does.
std::string whyNotDirect(const WindowShape& window);
// The set with the widest vectors that the processor has, or with narrower ones into which a row of
// outputs fits.
template <class T>
InstructionSet directInstructions(const WindowShape& window);
// Whether the direct convolution is faster than BLAS in float64, or oneDNN in float32, in its three
// products together.
template <class T>
bool isDirectFaster(const ConvolutionShape& shape);

} // namespace tenon
