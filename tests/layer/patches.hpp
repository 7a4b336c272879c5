// SPDX-License-Identifier: BSD-2-Clause
// Layers on patches under test: a tensor [patches, channels, y, x] whose patches are joined at
// their sides by links (PatchLinks). Numbers are small integers, which makes sums exact in any
// order, so most comparisons are exact.
#pragma once

#include "layer_run.hpp"

#include <functional>

namespace tenon::test::patches {

// A pseudo-random integer from -5 to 5, for an index `at` of an array; `kind` distinguishes arrays.
inline double integerAt(Index kind, Index at) {
  return double((at * 7919 + kind * 104729 + at * at * 31) % 11) - 5;
}

// Sets each element of this rank to value(global index).
inline void fillWith(DTensor& x, const std::function<double(const std::vector<Index>&)>& value) {
  const Box box = x.layout().boxOfRank(world()->rank());
  visitFloating(x.dataType(), [&]<class T>(T) {
    T* to = x.mutableData<T>();
    for (Index i = 0; i < elements(extents(box)); ++i) {
      std::vector<Index> index = unflattened(i, extents(box));
      for (std::size_t d = 0; d < index.size(); ++d)
        index[d] += box[d].begin;
      to[i] = static_cast<T>(value(index));
    }
  });
}

// Sets parameters to integers, and their gradients to 0.
inline void fillParameters(Layer& layer) {
  Index kind = 100;
  for (const auto& p : layer.parameters()) {
    const Shape shape = p->value().layout().shape();
    fillWith(p->value(), [&](const std::vector<Index>& index) {
      return integerAt(kind, flattened(index.data(), shape));
    });
    p->valueChanged();
    p->zeroGradient();
    ++kind;
  }
}

inline Ref<Layer> transposed(Index in, Index out, const std::vector<Window>& windows) {
  const auto layer = test::newLayer(world(), "transposedconv");
  layer->set("in_channels", in);
  layer->set("out_channels", out);
  test::setWindows(*layer, windows);
  return layer;
}

} // namespace tenon::test::patches
