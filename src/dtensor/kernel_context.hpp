// SPDX-License-Identifier: BSD-2-Clause
// The kernels' context that all tensors and layers of one communicator in one space share: what is done on one
// communicator is done one after the other, on distinct ones it may be done in distinct threads.
#pragma once

#include "comm/communicator.hpp"
#include "kernels/base/context.hpp"

namespace tenon {

// It lives as long as a kernel uses it. Throws TENON_ERR_SUPPORT for a device that is not there.
KernelContextPtr contextOf(const CommPtr& comm, Space space = Space::Host);

// The stream of the device's context (a cudaStream_t), which has to outlive it; NULL for one of the library's. Throws
// TENON_ERR_STATE while there is a context, TENON_ERR_SUPPORT for a device that is not there.
void setStream(const CommPtr& comm, void* stream);
// Whether the device's context has it: what the caller queues there later runs after the kernels.
bool isOnCallersStream(const CommPtr& comm);

} // namespace tenon
