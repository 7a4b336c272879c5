// SPDX-License-Identifier: BSD-2-Clause
// The seconds of a plan if communication overlaps computation, from a simulation of one process and
// its network link. The process computes the layers forward and then backward. The link carries one
// transfer after the other: a move between two layers starts when its data have been computed, and
// its reader waits for its end; the reduction of a layer's gradients starts when they are complete.
// Only the fraction `share` of each transfer overlaps. The rest is added to the time of the
// process, as with an MPI library without asynchronous progress. With share = 0 the result is the
// sum that the search minimises.
//
// For example, two layers of 10 s forward and 20 s backward, a move of 1 s each way, and gradients
// of 5 s and 15 s (share 1): 10 + 1 + 10 forward, 20 + 1 + 20 backward, while the link carries the
// 15 s of the second layer, and the 5 s of the first layer at the end; 67 s instead of 82.
#pragma once

#include "planner/prices/cost_model.hpp"

namespace tenon {

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share);

} // namespace tenon
