// SPDX-License-Identifier: BSD-2-Clause
// The makers behind makeConvolution; their shapes are checked already.
#pragma once

#include "kernels/base/instruction_set.hpp"
#include "kernels/convolution/convolution.hpp"

#include <string>
#include <vector>

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
// On the device; a context of it.
template <class T>
std::unique_ptr<Convolution<T>> makeCudnnConvolution(const ConvolutionShape& shape,
                                                     KernelContextPtr context);
template <class T>
std::unique_ptr<Convolution<T>> makeGemmConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
// For a window that the direct convolution supports, and instructions that the processor has.
template <class T>
std::unique_ptr<Convolution<T>> makeDirectConvolution(const ConvolutionShape& shape,
                                                      KernelContextPtr context, InstructionSet set);
// The sets for which it is compiled and that may be used, the widest last.
std::vector<InstructionSet> directInstructionSets();
// Why it cannot compute this one; "" if it can.
std::string whyNotDirect(const WindowShape& window);
// The widest vectors that the processor has, or narrower ones into which a row of outputs fits.
template <class T>
InstructionSet directInstructions(const WindowShape& window);
// Whether it is faster than BLAS in float64, or oneDNN in float32, in its three products together.
template <class T>
bool isDirectFaster(const ConvolutionShape& shape);

} // namespace tenon
