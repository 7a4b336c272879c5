// SPDX-License-Identifier: BSD-2-Clause
// The kernels' context that all tensors and layers of one communicator in one space share. Calls on
// one communicator follow each other; calls on distinct communicators may come from distinct
// threads.
#pragma once

#include "comm/communicator.hpp"
#include "kernels/base/context.hpp"

#include <optional>

namespace tenon {

// The context lives as long as somebody holds it. Throws TENON_ERR_SUPPORT for a device that is not
// there.
KernelContextPtr contextOf(const CommPtr& comm, Space space = Space::Host);

// Sets the stream (a cudaStream_t, NULL for the default stream) on which the device's context works
// and which must outlive it; none stands for a stream of the library's. Throws TENON_ERR_STATE
// while there is a context, TENON_ERR_SUPPORT if there is no device.
void setStream(const CommPtr& comm, const std::optional<void*>& stream);
// Whether the device's context works on a stream of the user's: what the user queues there later
// runs after the kernels, without waiting.
bool isOnUserStream(const CommPtr& comm);

} // namespace tenon
