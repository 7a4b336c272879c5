// SPDX-License-Identifier: BSD-2-Clause
// What the local kernels of losses read beside the input (losses.hpp): the target in its own type,
// and the weights of the terms, the user's and those by area.
#pragma once

#include "declaration/sphere/area.hpp"
#include "kernels/rows/losses.hpp"
#include "layer/types/losses.hpp"

#include <type_traits>

namespace tenon {

// The weights by area of a rank's elements: one for each row of its block, in the layer's type.
struct LossArea {
  LossArea(const AreaRows& rows, const Box& box, TenonDataType type, KernelContext& context)
      : dim(rows.dim), rows(box[rows.dim].size()) {
    for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < box.size(); ++d)
      rowElements *= box[d].size();
    const double each = 1 / double(rows.longitudes);
    if (type == TENON_FLOAT32)
      floats = sharesOf<float>(rows, box[dim], context, each);
    else
      doubles = sharesOf<double>(rows, box[dim], context, each);
    for (Index row = box[dim].begin; row < box[dim].end; ++row)
      sumOfRows += rows.share[row] * each;
  }
  template <class T>
  const T* values() const {
    if constexpr (std::is_same_v<T, float>)
      return floats.data();
    else
      return doubles.data();
  }

  int dim;
  Index rows, rowElements = 1;
  double sumOfRows = 0; // of the weights of one element of each row
  ReadList<float> floats;
  ReadList<double> doubles;
};

// Calls visit(elements of the target), or visit(null) if the loss has no target. The target can be
// float32 or float64, whatever the type T of the layer.
template <class T, class Visit>
void visitTarget(const LossPart& part, Visit&& visit) {
  if (!part.target)
    return visit(static_cast<const T*>(nullptr));
  const DTensor& target = part.target->value();
  visitFloating(target.dataType(), [&]<class U>(U) { visit(target.data<U>()); });
}

// The user's weights of elements, if there are any, times those by area.
template <class T>
ElementWeights<T> elementWeightsOf(const LossPart& part) {
  ElementWeights<T> weights{.values = part.elementWeights<T>()};
  if (part.area && part.area->rows > 0) {
    weights.rowValues = part.area->values<T>();
    weights.rowElements = part.area->rowElements;
    weights.rows = part.area->rows;
  }
  return weights;
}

// The same with the user's weights of samples, each of which applies to the elements of a sample.
template <class T>
ElementWeights<T> weightsOf(const LossPart& part) {
  ElementWeights<T> weights = elementWeightsOf<T>(part);
  if (part.weighsSamples) {
    weights.values = part.sampleWeights<T>();
    weights.elementsEach = std::max<Index>(1, part.rows() > 0 ? part.elements() / part.rows() : 1);
  }
  return weights;
}

// Input 1 of the kernels of terms, which exists only in a weighted mean.
inline const DTensor* weightSum(Inputs x) {
  return x.size() > 1 ? x[1] : nullptr;
}

} // namespace tenon
