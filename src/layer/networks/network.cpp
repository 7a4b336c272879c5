// SPDX-License-Identifier: BSD-2-Clause
// Hands the settings of a container down to the layers in it, at the first set-up of each layer. A
// value that was set on a layer itself stays. For example, a sequence of data type float64 that
// holds 2 levels of evaluations:
//
//   sequence   data_type float64, stack_depth 2
//     conv     takes over both
//     relu     is two nodes of the sequence: takes over float64, and needs stack depth 4
//
// The functions are members of class Layer (core/layer.hpp), except those that network.hpp
// declares.
#include "layer/networks/network.hpp"

#include "compile/network/inheritance.hpp"
#include "layer/core/layer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

// Takes over settings from a container unless they were set on this layer itself. The stack depth
// becomes that of the container times `uses`, the number of its nodes that are this layer: each
// Apply of the container calls the layer that many times.
void Layer::inheritSettings(const Layer& container, int uses) {
  handDownSettings(*container.declaration_, *declaration_);
  handDownLists(container.declaration_->lists(), *declaration_, declaration_->lists());
  const int needed = container.depth_ * uses;
  declaration_->inherit("stack_depth", Index(needed));
  readSettings();
  if (type_ != container.type_)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} has data type {}, but {}, which contains it, has {}; set the "
                            "container's, which its layers take over",
                            title(), dataTypeName(type_), container.title(),
                            dataTypeName(container.type_)));
  if (space_ != container.space_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} is on the {}, but {}, which contains it, on the {}; set the "
                            "container's space, which its layers take over",
                            title(), spaceName(space_), container.title(),
                            spaceName(container.space_)));
  if (depth_ < needed)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has stack depth {}, but {}, which contains it, needs {}; set at "
                            "least that, or leave it to the container",
                            title(), depth_, container.title(), needed));
}

// Passes the settings of this container to a layer in it, before the first set-up of that layer.
void Layer::handOn(Layer& child) const {
  const auto isChild = [&](const Node& node) { return node.layer.get() == &child; };
  if (!child.isSetUp())
    child.inheritSettings(*this, static_cast<int>(std::ranges::count_if(nodes_, isChild)));
}

} // namespace tenon
