// SPDX-License-Identifier: BSD-2-Clause
// Assigns the values of a pass to offsets in one buffer, by their lifetimes: values that are alive
// at the same step share no byte.
#pragma once

#include "declaration/core/pass.hpp"

#include <functional>

namespace tenon {

struct MemoryPlan {
  struct Place {
    ValueId value;
    Index begin, end; // offsets in bytes
  };
  std::vector<Place> places;
  Index bytes = 0; // size of the buffer
};

// Offsets for the temporaries of a pass, at multiples of `alignment`. Values that Apply saves in
// training are stored elsewhere, and so are values that can use an argument's memory. The largest
// value is placed first, each at the lowest offset that is free during its lifetime.
MemoryPlan memoryPlanOf(const Pass& pass, const std::function<Index(ValueId)>& bytesOf,
                        Index alignment);

} // namespace tenon
