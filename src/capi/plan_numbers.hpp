// SPDX-License-Identifier: BSD-2-Clause
// The numbers that a search has found, by the names under which tenon/plan.h lists them: of plans of
// layers and of plans by name alike.
#pragma once

#include "planner/network_plan.hpp"

namespace tenon {

// A number of the plan if `layer` is NULL, or else of that layer. Throws TENON_ERR_STATE before a
// search, or where there is no such plan, and TENON_ERR_ARG for another name.
double plannedNumber(const NetworkPlan& plan, const char* layer, const char* name);

} // namespace tenon
