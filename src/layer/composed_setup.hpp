// SPDX-License-Identifier: BSD-2-Clause
// Layers whose list of maps is of their own, of one input.
#pragma once

#include "layer/layer.hpp"

namespace tenon {

// With the kernels of the list; the view says the signature and what happens to the input.
std::unique_ptr<Setup> setUpComposed(Layer& layer, const Form& form, const MakeKernel& make);

} // namespace tenon
