// SPDX-License-Identifier: BSD-2-Clause
// Layers with windows, and networks of them.
#pragma once

#include "tools/check_case.hpp"

namespace tenon::tools {

void checkConvolution(Case& c);
void checkPooling(Case& c);
// Convolution, pooling, a function, flatten and an affine layer, each with a signature of its own.
void checkNetwork(Case& c);

} // namespace tenon::tools
