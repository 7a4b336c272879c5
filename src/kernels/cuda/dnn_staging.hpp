// SPDX-License-Identifier: BSD-2-Clause
// Copies of arrays in the form that the engines of cuDNN prefer. Engines with tensor cores read
// arrays with channels last, and transpose other arrays in their workspace. Staging does this
// outside of the library instead, optionally with rounding to bfloat16:
//
//     x [n,c,h,w] float32, any strides  --stage-->  x [n,h,w,c] float32 or bfloat16
//     y [n,c,h,w] float32, any strides  <--unstage--  y [n,h,w,c]
//
// The library computes between the two, with sums in float32.
#pragma once

#include "kernels/cuda/dnn_graph.hpp"

namespace tenon::cuda {

// The graph that cuDNN computes on the staged copies of the arrays.
ConvolutionGraph staged(ConvolutionGraph g);

// Bytes of the copy of an array with these extents, rounded up to the alignment of copies.
Index bytesOfCopy(const ConvolutionGraph& g, const std::vector<Index>& extent);
// Bytes of all copies in the workspace, or 0 if the arrays are used in place.
Index stagedBytes(const ConvolutionGraph& graph);

// Copies an array of the user to its staged form, and back. `adds`: adds the copy to the array.
void stage(KernelContext& context, Staging form, const ArrayBox& array, const void* from, void* to);
void unstage(KernelContext& context, Staging form, const ArrayBox& array, const void* from,
             bool adds, void* to);

} // namespace tenon::cuda
