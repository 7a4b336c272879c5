// SPDX-License-Identifier: BSD-2-Clause
// Where the values of a pass lie in one range of bytes, by their lifetimes: two that are alive at
// the same step share no byte.
#pragma once

#include "declaration/core/pass.hpp"

#include <functional>

namespace tenon {

struct MemoryPlan {
  struct Place {
    ValueId value;
    Index begin, end; // bytes
  };
  std::vector<Place> places;
  Index bytes = 0; // of the range
};

// Places for the values that a pass has in memory and leaves to nobody. Those that Apply keeps in
// training lie elsewhere, and so do those that may stand in an argument's memory. The largest get
// their places first, each the lowest that is free as long as it is alive. Places begin at
// multiples of `alignment`.
MemoryPlan memoryPlanOf(const Pass& pass, const std::function<Index(ValueId)>& bytesOf,
                        Index alignment);

} // namespace tenon
