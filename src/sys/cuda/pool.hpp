// SPDX-License-Identifier: BSD-2-Clause
// Memory for a device's buffers: one pool of the process, which keeps what is given back.
#pragma once

#include "sys/device.hpp"

namespace tenon::cuda {

std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> unpooledMemory(int device, const Stream& stream);
std::shared_ptr<MemorySource> pinnedMemory();

} // namespace tenon::cuda
