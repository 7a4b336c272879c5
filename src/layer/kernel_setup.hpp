// SPDX-License-Identifier: BSD-2-Clause
// Layers that are one local kernel between conversions (declaration/kernel_maps.cpp): a layer type
// says its kernel.
#pragma once

#include "layer/layer.hpp"
#include "layer/local_kernel.hpp"

namespace tenon {

// Makes the kernel that computes some of this rank's outputs, in global indices, from what it holds of
// the input in `use`.
using KernelMaker = std::unique_ptr<LocalKernel> (*)(Layer& layer, const Form& form,
                                                     const Layout& use, const Box& outputs);
// In pieces where the user says so, or where that is predicted to save time.
std::unique_ptr<Setup> setUpKernel(Layer& layer, const Layouts& inputs, KernelMaker make);

} // namespace tenon
