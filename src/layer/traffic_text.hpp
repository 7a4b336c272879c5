// SPDX-License-Identifier: BSD-2-Clause
// A conversion in the view of a layer.
#pragma once

#include "linop/conversion.hpp"

namespace tenon {

// "[8,4] on mesh 4 as B: at most 3 messages and 64 bytes from a rank, 256 bytes in all", of one
// Apply. Goes through the schedules of all ranks.
std::string describeTraffic(const Conversion& conversion);

} // namespace tenon
