// SPDX-License-Identifier: BSD-2-Clause
// First values of parameters. Weights are drawn by global position from the global fans, so they do
// not depend on the partition:
//   glorot  variance 2 / (fanIn + fanOut)   (Glorot & Bengio 2010)
//   he      variance 2 / fanIn              (He et al. 2015)
// uniform in +-sqrt(3 variance), or normal. Parameters without fans start with one value:
// biases with zero.
#pragma once

#include "layer/parameter.hpp"

namespace tenon {

void initializeParameter(Parameter& parameter, const std::string& rule, std::uint64_t seed,
                         std::uint64_t stream);

} // namespace tenon
