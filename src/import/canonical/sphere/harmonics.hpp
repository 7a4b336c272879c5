// SPDX-License-Identifier: BSD-2-Clause
// Spherical harmonics in the canonical graph, as ModelBuilder finds them (spherical.cpp).
#pragma once

#include "import/canonical/model_graph.hpp"

#include <string>

namespace tenon {

// Coefficients of spherical harmonics, with a role for each dimension: l, m (degree, order), and
// before them b, c (batch, channel); g, i (group, channel of a group); or capitals, in fields of
// other ranks. x is the field. A weight may have been applied.
struct ModelHarmonics {
  const ModelValue* x;
  std::string roles;
  ModelSphere sphere;
  Index allOrders = 0; // of the model; those beyond sphere.orders are 0
  double factor = 1;
  const ModelValue* weight = nullptr; // pairs, as the layer has it
  Index outputs = 0, groups = 1;
};

} // namespace tenon
