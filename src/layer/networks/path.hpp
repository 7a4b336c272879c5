// SPDX-License-Identifier: BSD-2-Clause
// Layers and parameters inside a container by a path of names: "encoder/conv1/weight". In paths, a
// layer also has its number in the container.
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// childAt() and parameterAt() throw TENON_ERR_ARG, with the existing names, if the path does not
// exist.
Layer& childAt(Layer& container, std::string_view path);
Parameter& parameterAt(Layer& layer, std::string_view path);

// The name of a child in paths.
std::string nameInPath(const Layer& container, const Layer& child);

// A layer without a name in messages, by its number in its container, whose title is given:
// `layer 3 (conv) of layer "sgs"`.
std::string placeIn(const std::string& containerTitle, const Layer& container, const Layer& child);

// Rethrows the current error. If its text refers to an unnamed child as "the layer", that is
// replaced by `place`, the result of placeIn().
[[noreturn]] void rethrowWithPlace(const std::string& place, const Layer& child,
                                   const Error& error);

} // namespace tenon
