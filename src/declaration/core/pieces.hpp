// SPDX-License-Identifier: BSD-2-Clause
// Decides whether a layer with windows computes in pieces during its halo exchange: first the
// interior of a rank's block, which needs no halo, then strips along its sides (form.hpp,
// FormPiece). The runner and the planner, which counts memory, both use this one decision.
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>
#include <optional>

namespace tenon {

// Rates of the links that exchange halos, from the options, on the host. On the device the benefit
// of pieces has not been measured, and no piece is used.
struct PieceRates {
  double latency = 0, copyBandwidth = 0; // seconds, bytes per second
};

// The form to run: in pieces if the user requires it, or if that is predicted to save time.
// formOf(true) makes the form in pieces, if the type has pieces.
Form formThatRuns(const Declaration& declaration, Index elementBytes,
                  const std::optional<PieceRates>& rates,
                  const std::function<Form(bool inPieces)>& formOf);

} // namespace tenon
