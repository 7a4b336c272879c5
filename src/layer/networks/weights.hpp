// SPDX-License-Identifier: BSD-2-Clause
// Loads parameters and running statistics from weight files, and saves them. Every process reads
// its own block of each tensor. No tensor is changed before all processes have read their blocks.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Loads the weights of a layer that is set up. `map` is the path of a weights map, a JSON file with
// the tensor of the weight file that each parameter takes; if `map` is empty, the option
// weights_map is used, if it is set. Collective.
void loadWeights(Layer& layer, const std::string& path, const std::string& map);
// Saves the weights; rank 0 writes one tensor after the other. Collective.
void saveWeights(Layer& layer, const std::string& path);
// A tensor with the elements of a parameter or statistic, all on rank 0 and none on other ranks. It
// is in the memory space of `value`. Collective.
Ref<DTensor> wholeOnRoot(const DTensor& value);

} // namespace tenon
