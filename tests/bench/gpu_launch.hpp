// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "sys/device.hpp"

namespace tenon::bench {

// Queues an empty kernel, by the runtime's call and nothing else.
void launchNothing(const Stream& stream);

} // namespace tenon::bench
