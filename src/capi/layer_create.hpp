// SPDX-License-Identifier: BSD-2-Clause
// What the calls that create layers and change their settings have in common.
#pragma once

#include "capi/collective.hpp"
#include "sys/guard.hpp"

namespace tenon {

// make(comm) gives the layer.
template <class Make>
TenonErrorCode createLayer(const char* function, MPI_Comm comm, TenonLayer* layer, Make make) {
  return guard(function, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    createTogether(
        *own, layer, "layer", "the layer", [&] { return make(own); },
        [](const auto& made) { return made->settings(); });
  });
}

// set(layer); a failure is remembered, and SetUp fails for it on all ranks.
template <class Set>
TenonErrorCode specifyLayer(const char* function, TenonLayer handle, Set set) {
  return guard(function, [&] {
    Layer& layer = deref(handle, "layer");
    layer.specify(function, [&] { set(layer); });
  });
}

[[noreturn]] inline void throwLayerType(const Layer& layer, const char* expected) {
  throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type {}", layer.title(),
                                          layer.type(), expected));
}

// The layer as the class that the call is for; `expected` names it.
template <class Wanted>
Wanted& layerOf(Layer& layer, const char* expected) {
  if (auto* found = dynamic_cast<Wanted*>(&layer))
    return *found;
  throwLayerType(layer, expected);
}

} // namespace tenon
