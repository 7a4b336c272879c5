// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, where the bytes of a plan are not the sum of the bytes of
// its layers: layers share the memory of temporary values, and a layer can recompute values for the
// adjoint instead of saving them. So the bytes of a plan are known only as a whole
// (CostModel::planBytes), whereas the search limits a sum. Two loops around the search account for
// this, where x_k is the plan that the search finds for the limit L_k, and b its bytes as a whole:
//
//     without recomputation   the limit L of the sum is lowered by the excess of the plan over the
//                             limit M, until the plan fits: L_0 = M, L_(k+1) = L_k - (b(x_k) - M)
//     with recomputation      candidates are the fastest plans within the sums B, B^(2/3) M^(1/3),
//                             B^(1/3) M^(2/3) and M, where B are the bytes of the fastest plan.
//                             In each, layers recompute until it is within M; the fastest of
//                             these is chosen
//
// For example, if the fastest plan needs B = 800 MB and the limit is M = 100 MB, plans within 800,
// 400, 200 and 100 MB are found. This is a heuristic, with a bound on its gap: no plan is faster
// than the one without a limit.
#pragma once

#include "planner/search/plan_search.hpp"

namespace tenon {

// The plan of the task, whose memory limit is a limit of CostModel::planBytes(). Throws
// TENON_ERR_MEMORY_LIMIT if none is found.
FoundPlan planWithinMemory(const CostModel& model, const SearchTask& task);
// The same if layers may compute again for the adjoint what they do not save.
FoundPlan recomputingPlanWithinMemory(const CostModel& model, const SearchTask& task);

} // namespace tenon
