// SPDX-License-Identifier: BSD-2-Clause
#include "layer/weights.hpp"

#include "capi/collective.hpp"
#include "sys/guard.hpp"

#include <tenon/layer_weights.h>

using namespace tenon;

TenonErrorCode TenonLayerLoadWeights(TenonLayer layer, const char* path, const char* map) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    collectively(*comm, [&] {
      loadWeights(deref(layer, "layer"), textOf(path, "path"), textOrEmpty(map));
      return 0;
    });
  });
}

TenonErrorCode TenonLayerSaveWeights(TenonLayer layer, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    collectively(*comm, [&] {
      saveWeights(deref(layer, "layer"), textOf(path, "path"));
      return 0;
    });
  });
}
