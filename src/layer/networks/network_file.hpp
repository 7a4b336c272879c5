// SPDX-License-Identifier: BSD-2-Clause
// Creates layers from network files, and descriptions of layers to write such files.
#pragma once

#include "declaration/core/network_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

// Reads the file on each rank. Collective.
Ref<Layer> readNetwork(const CommPtr& comm, const std::string& nameOrPath);
// Creates a layer, with the layers in it, from its description.
Ref<Layer> makeFrom(const CommPtr& comm, const LayerDescription& description);
// Describes how a layer was made: types, names, explicit settings. Throws TENON_ERR_SUPPORT for a
// layer of user functions whose type is not registered.
LayerDescription describeNetwork(const Layer& layer);

} // namespace tenon
