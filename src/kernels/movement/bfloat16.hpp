// SPDX-License-Identifier: BSD-2-Clause
// Conversion of float or double to bfloat16 (the upper 16 bits of a float), rounded to nearest, and
// back. Tensors of this type store saved values in half of the memory of float32, and convolutions
// of the device stage their operands in it if the user allows the rounding.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/bfloat16.hpp"

namespace tenon {

// y <- x[i . xs] for all i in the box `extent`, in row-major order; the rank is 0 to 8.
template <class T>
void roundToBFloat16(KernelContext& context, int rank, const Index* extent, const T* x,
                     const Index* xs, BFloat16* y);

// y[i . ys] <- x, or y[i . ys] += x, for x in row-major order.
void expandBFloat16(KernelContext& context, int rank, const Index* extent, const BFloat16* x,
                    bool adds, float* y, const Index* ys);

// y[i] = x[i] for n contiguous elements.
template <class T>
void fromBFloat16(KernelContext& context, Index n, const BFloat16* x, T* y);

} // namespace tenon
