// SPDX-License-Identifier: BSD-2-Clause
// Whether a layer computes in pieces (form.hpp) while its halo travels: one choice for those who
// run it and those who count its memory before.
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>
#include <optional>

namespace tenon {

// Of the links by which halos come. Those of the options on the host; what pieces save on the
// device was not measured, and there are none there.
struct PieceRates {
  double latency = 0, copyBandwidth = 0; // seconds, bytes a second
};

// The form that runs: in pieces where the user says so, or where that is predicted to save time.
// formOf(true) is the one in pieces, where the type has pieces.
Form formThatRuns(const Declaration& declaration, Index elementBytes,
                  const std::optional<PieceRates>& rates,
                  const std::function<Form(bool inPieces)>& formOf);

} // namespace tenon
