// SPDX-License-Identifier: BSD-2-Clause
// For tests that compare a layer with one input with a definition in plain loops. expectOutput()
// sets up a layer of a type with settings, gives it an input whose elements follow from their
// global indices (elementsOf()), and compares its output on all ranks with the numbers that the
// test has computed. Input, settings and expected numbers are the same for every split of the
// input.
#pragma once

#include "layer_run.hpp"
#include "sys/expect_error.hpp"

#include <algorithm>

namespace tenon::test {

using Settings = std::vector<std::pair<const char*, SettingValue>>;

// A layer of this type on all ranks, with these settings.
inline Ref<Layer> layerWith(const std::string& type, const Settings& settings) {
  const Ref<Layer> layer = newLayer(world(), type);
  for (const auto& [name, value] : settings)
    layer->set(name, value);
  return layer;
}

// A value for each global index, in row-major order; other values for another seed.
inline std::vector<double> elementsOf(const Shape& shape, int seed = 0) {
  std::vector<double> all;
  for (Index i = 0; i < elements(shape); ++i)
    all.push_back(std::sin(1.3 * double(i) + seed) + 0.1 * double(i % 7));
  return all;
}

// Sets each rank's elements of a tensor from the values of the whole tensor, `all`. The layout must
// not have partial sums (P).
inline void fillFrom(DTensor& x, const std::vector<double>& all) {
  const Layout everywhere = onWorld(x.layout().shape(), "B");
  const Ref<DTensor> copy = tensor(everywhere, x.dataType());
  visitFloating(x.dataType(), [&]<class T>(T) {
    std::transform(all.begin(), all.end(), copy->mutableData<T>(),
                   [](double value) { return static_cast<T>(value); });
  });
  makeConversion(world(), everywhere, x.layout(), x.dataType())->apply(*copy, x);
}

// The properties of layouts on one grid axis: replicated (B), on the root (R), and one split per
// dimension (S0, S1, ...).
inline std::vector<std::string> splitsOf(const Shape& shape) {
  std::vector<std::string> all = {"B", "R"};
  for (std::size_t d = 0; d < shape.size(); ++d)
    all.push_back("S" + std::to_string(d));
  return all;
}

// Compares the layer's output for the input elementsOf(shape) with `wanted`, for every layout of
// splitsOf() and both data types.
inline void expectOutput(const std::string& type, const Settings& settings, const Shape& shape,
                         const Shape& wantedShape, const std::vector<double>& wanted) {
  for (const std::string& split : splitsOf(shape))
    for (const TenonDataType dataType : {TENON_FLOAT64, TENON_FLOAT32}) {
      const Ref<Layer> layer = layerWith(type, settings);
      Step step(layer, onWorld(shape, split), dataType);
      ASSERT_EQ(step.y->layout().shape(), wantedShape) << type;
      fillFrom(*step.x, elementsOf(shape));
      step.apply();
      ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*step.y), wanted,
                                         dataType == TENON_FLOAT64 ? 1e-13 : 1e-6,
                                         type + " of " + split));
    }
}

// visit(index) for each index of a shape, in row-major order.
template <class Visit>
void forEachIndex(const Shape& shape, Visit visit) {
  for (Index i = 0; i < elements(shape); ++i) {
    Shape index(shape.size());
    Index rest = i;
    for (std::size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    visit(index);
  }
}

// The row-major number of an index.
inline Index placeOf(const Shape& index, const Shape& shape) {
  Index place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

} // namespace tenon::test
