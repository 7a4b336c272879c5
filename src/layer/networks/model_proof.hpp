// SPDX-License-Identifier: BSD-2-Clause
// The test of an imported model. The exporting program stores, in the model's file, inputs and the
// results that it computed from them: outputs and gradients. A second instance of the network,
// distributed over this run's process grid, must compute the same results.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Runs the stored test for a model whose file was read. `how` is the setting model_test: "both"
// runs it in float64 on the host, and in the layer's own data type, space and backend; "run" only
// the latter. Returns whether the file has a test. Throws TENON_ERR_TEST if results differ.
// Collective.
bool proveModel(const Layer& layer, const Layouts& inputs, const std::string& how);

} // namespace tenon
