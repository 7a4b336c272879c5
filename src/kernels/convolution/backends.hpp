// SPDX-License-Identifier: BSD-2-Clause
// Factories of the convolution backends, called by makeConvolution() with shapes that have been
// checked: BLAS, oneDNN, cuDNN, cuBLAS (Gemm) and direct convolution. For direct convolution there
// are also functions that tell for which windows it is possible, with which instruction set, and
// whether it is the fastest.
#pragma once

#include "kernels/base/instruction_set.hpp"
#include "kernels/convolution/convolution.hpp"

#include <string>
#include <vector>

namespace tenon {

// Strides of y: those in the shape, or, if the shape has no strides, those of a contiguous array.
ImageStrides outputStrides(const ConvolutionShape& shape);
// The strides extended to three spatial dimensions, to match embedWindow().
ImageStrides embedStrides(const ImageStrides& strides, int rank);

template <class T>
std::unique_ptr<Convolution<T>> makeBlasConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape,
                                                          KernelContextPtr context);
// Factories for the device; the context must be on the device. If `mayTakeProducts`,
// the cuDNN convolution uses im2col and cuBLAS for the passes (forward or an adjoint) in which they
// were measured to be faster.
template <class T>
std::unique_ptr<Convolution<T>>
makeCudnnConvolution(const ConvolutionShape& shape, KernelContextPtr context, bool mayTakeProducts);
template <class T>
std::unique_ptr<Convolution<T>> makeGemmConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context);
// Requires a window that the direct convolution supports, and a processor with the instruction set.
template <class T>
std::unique_ptr<Convolution<T>> makeDirectConvolution(const ConvolutionShape& shape,
                                                      KernelContextPtr context, InstructionSet set);
// Sets for which direct convolution is compiled and enabled, in increasing width.
std::vector<InstructionSet> directInstructionSets();
// The reason why direct convolution does not support this window, or "" if it does.
std::string whyNotDirect(const WindowShape& window);
// The narrowest set whose vectors hold a whole row of outputs, or else the widest set.
template <class T>
InstructionSet directInstructions(const WindowShape& window);
// Whether direct convolution is faster than the alternative (BLAS in float64, oneDNN in float32),
// summed over the three passes: forward, adjoint in the data, adjoint in the weights.
template <class T>
bool isDirectFaster(const ConvolutionShape& shape);

} // namespace tenon
