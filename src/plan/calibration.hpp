// SPDX-License-Identifier: BSD-2-Clause
// Rates fitted to what was measured: least squares of the relative errors of all phases of all layers,
//
//    sum over moves of   (1 - (latency rounds + bytes / bandwidth + rest) / measured)^2
//    sum over kernels of (1 - flops / rate / measured)^2
//
// where rounds, bytes and the rest (overheads and copies) are what the price of the phase counts.
#pragma once

#include "planner/own_model.hpp"

#include <vector>

namespace tenon {

// A phase: of a kernel its operations, else what it moves.
struct MeasuredPhase {
  double flops = 0, rounds = 0, bytes = 0, rest = 0;
  double seconds = 0;
};

// Rates of which nothing was measured stay as they are.
OwnRates fittedRates(const std::vector<MeasuredPhase>& phases, OwnRates rates);

} // namespace tenon
