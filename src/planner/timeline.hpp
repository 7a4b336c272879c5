// SPDX-License-Identifier: BSD-2-Clause
// How long a plan takes if communication goes on beside computation. One process runs the layers forward and then
// backward; a move starts as soon as what is moved is there, and so does the sum of a layer's gradients, and
// its reader waits for it. The network carries one transfer after the other. Of a transfer only a share goes on by
// itself; the rest takes the process while it waits, as where MPI makes no progress by itself: with a share
// of 0 the time is the sum that the search minimises.
#pragma once

#include "planner/cost_model.hpp"

namespace tenon {

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share);

} // namespace tenon
