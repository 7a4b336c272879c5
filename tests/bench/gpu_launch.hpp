// SPDX-License-Identifier: BSD-2-Clause
// Part of the benchmark gpu: the time that the host needs to launch a kernel.
#pragma once

#include "sys/device.hpp"

namespace tenon::bench {

// Queues an empty kernel on the stream, with only the call of the CUDA runtime.
void launchNothing(const Stream& stream);

} // namespace tenon::bench
