// SPDX-License-Identifier: BSD-2-Clause
// What a network costs whose input lies somewhere and whose layers have certain signatures, before it is set up: the
// plan's sum, of the layouts that follow from each other.
#pragma once

#include "plan/unfolded.hpp"
#include "planner/own_model.hpp"

namespace tenon {

struct PricedNetwork {
  double seconds = 0;
  std::vector<Form> forms; // by node
};

// signatures: by node; "" for the layer's own choice. Throws what a layer throws that cannot have its own.
PricedNetwork priceOfNetwork(const std::vector<UnfoldedNode>& nodes,
                             const std::vector<std::string>& signatures, const Layout& input,
                             const OwnRates& rates, Index cellBytes);

// Of a conversion, and, if wanted, of its adjoint.
double secondsOfMove(const Layout& from, const Layout& to, bool adjoint, const OwnRates& rates,
                     Index cellBytes);

} // namespace tenon
