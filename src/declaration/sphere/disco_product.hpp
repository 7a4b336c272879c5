// SPDX-License-Identifier: BSD-2-Clause
// The kernel of discrete-continuous convolutions on the sphere on one rank.
#pragma once

#include "declaration/kernel/kernel_place.hpp"
#include "kernels/sphere/disco.hpp"

namespace tenon {

// The kernel of a convolution, or of a transposed one; its parameters are the weights, and the bias
// if there is one.
std::unique_ptr<ArrayKernel> makeDiscoProduct(const KernelPlace& at, const DiscoShape& shape,
                                              bool isTransposed);

} // namespace tenon
