// SPDX-License-Identifier: BSD-2-Clause
// Rates fitted to what was measured.
//
//    speed      least squares of the relative errors of kernels by their operations alone
//    kernels    of each kind and pass the factor by which all of them took longer than predicted
//    links      latencies, bandwidths and copies (price_parts.hpp), then all of them by the factor by which all
//               moves took longer
#pragma once

#include "plan/price_parts.hpp"
#include "planner/own_model.hpp"

#include <vector>

namespace tenon {

struct MeasuredKernel {
  std::string kind;
  KernelWork work;
  double seconds = 0;
};

// The parts of the moves are by these rates. Rates of which nothing was measured stay as they are.
OwnRates fittedRates(const std::vector<MeasuredKernel>& kernels,
                     const std::vector<MeasuredMove>& moves, Index cellBytes, OwnRates rates);

} // namespace tenon
