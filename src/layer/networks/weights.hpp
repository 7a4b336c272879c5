// SPDX-License-Identifier: BSD-2-Clause
// Parameters and running statistics from weights files, and back. Every process reads its own block
// of each tensor, and nothing is changed before all have read theirs.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Collective, for a layer that is set up. `map` is the path of a weights map; "" stands for that of
// the option weights_map, or for none.
void loadWeights(Layer& layer, const std::string& path, const std::string& map);
// Collective. Rank 0 writes one tensor after the other.
void saveWeights(Layer& layer, const std::string& path);

} // namespace tenon
