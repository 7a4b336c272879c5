// SPDX-License-Identifier: BSD-2-Clause
// Times of work that all ranks do together.
#pragma once

#include "comm/communicator.hpp"
#include "kernels/context.hpp"

#include <functional>

namespace tenon {

// Collective. The seconds of a call on the slowest rank, in the fastest round: others that use the machine make
// rounds slower, never faster. A round makes as many calls as last longer than a clock's step and a barrier, and then
// waits for what they have queued on the stream of a context of the device.
double leastSeconds(const Communicator& comm, int rounds, const KernelContext& at,
                    const std::function<void()>& call);

} // namespace tenon
