// SPDX-License-Identifier: BSD-2-Clause
// The proof that a model gives, on the processes of this run, what the program computed that wrote
// its file: a second instance of the network, on the run's process grid, with the inputs that the
// file has.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Collective, for a model whose file was read. Runs the stored test in float64 and in the layer's
// own data type, space and backend, or as the setting model_test says, and returns whether the file
// has one. Throws TENON_ERR_TEST where the results differ.
bool proveModel(const Layer& layer, const Layouts& inputs, const std::string& how);

} // namespace tenon
