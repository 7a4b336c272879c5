// SPDX-License-Identifier: BSD-2-Clause
// The test of an imported model: a second instance of the network, on this run's process grid, must
// compute the results that the exporting program stored in the file for given inputs.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Runs the stored test for a model whose file was read: in float64 and in the layer's own data
// type, space and backend, or as the setting model_test (`how`) says. Returns whether the file has
// a test. Throws TENON_ERR_TEST if results differ. Collective.
bool proveModel(const Layer& layer, const Layouts& inputs, const std::string& how);

} // namespace tenon
