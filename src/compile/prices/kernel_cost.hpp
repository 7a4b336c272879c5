// SPDX-License-Identifier: BSD-2-Clause
// The cost of a layer's kernels on the slowest process: operations, bytes read and written, and the
// seconds that these take by the rates of a machine.
//
//    apply     reads inputs and parameters, writes the output
//    adjoint   reads the output's cotangent and the inputs, writes the inputs' cotangents if they
//              are wanted; reads parameters for these, and adds to their gradients
//
// The seconds are the longer of the operations at their rate and the bytes at theirs (the roofline
// model of Williams, Waterman and Patterson, 2009), unless the machine has measured rates for this
// kind of kernels. For example, an affine layer of 180 x 24 weights and 4 samples takes
// 2 * 4320 * 4 = 34,560 operations forward, and twice as many in the adjoint.
//
// Rows and columns (kernel_rates.hpp) are those of the output and of the windows, once for each
// product.
#pragma once

#include "declaration/core/declaration.hpp"
#include "machine/kernel_rates.hpp"

namespace tenon {

// Work and seconds of the kernels of one layer, on the slowest process.
struct KernelCost {
  KernelWork apply, adjoint;
  double applySeconds = 0, adjointSeconds = 0;
};

// `hasCotangent` tells whether the cotangents of the inputs are wanted. The costs are the maximum
// over all positions, for any split points.
KernelCost kernelCost(const Declaration& layer, const Form& form, bool hasCotangent,
                      Index elementBytes, const KernelRates& rates);

} // namespace tenon
