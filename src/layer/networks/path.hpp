// SPDX-License-Identifier: BSD-2-Clause
// Layers and parameters inside a container by a path of names: "encoder/conv1/weight". A layer
// without a name has its number in its container.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Both throw TENON_ERR_ARG, naming what there is, if nothing has the path.
Layer& childAt(Layer& container, std::string_view path);
Parameter& parameterAt(Layer& layer, std::string_view path);

// The name that a child has in paths.
std::string nameInPath(const Layer& container, const Layer& child);

// Throws the error in flight again. Where a child without a name calls itself "the layer" in it, it
// says which one it is: `layer 3 (conv) of layer "sgs"`.
[[noreturn]] void rethrowWithPlace(const Layer& container, const Layer& child, const Error& error);

} // namespace tenon
