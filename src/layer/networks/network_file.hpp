// SPDX-License-Identifier: BSD-2-Clause
// Layers from network files, and back.
#pragma once

#include "declaration/core/network_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

// Collective. Reads the file on each rank.
Ref<Layer> readNetwork(const CommPtr& comm, const std::string& nameOrPath);
Ref<Layer> makeFrom(const CommPtr& comm, const LayerDescription& description);
// Describes what the layer was made from: types, names, settings that were set. Throws
// TENON_ERR_SUPPORT for a layer of the program's own functions that has no registered type.
LayerDescription describeNetwork(const Layer& layer);

} // namespace tenon
