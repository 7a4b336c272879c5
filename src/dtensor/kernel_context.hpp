// SPDX-License-Identifier: BSD-2-Clause
// The kernel context that all tensors and layers of one communicator share in one memory space: the
// stream of their kernels and the scratch memory (kernels/base/context.hpp). A communicator is used
// by one thread at a time; distinct communicators can be used in distinct threads.
#pragma once

#include "comm/communicator.hpp"
#include "kernels/base/context.hpp"

#include <optional>

namespace tenon {

// The context exists as long as it is referenced. Throws TENON_ERR_SUPPORT for the device if there
// is none.
KernelContextPtr contextOf(const CommPtr& comm, Space space = Space::Host);

// Sets the stream of the device context (a cudaStream_t, NULL for the default stream), which must
// outlive the context; std::nullopt means a stream of the library. Throws TENON_ERR_STATE while the
// context exists, and TENON_ERR_SUPPORT if there is no device.
void setStream(const CommPtr& comm, const std::optional<void*>& stream);
// True if the device context uses a stream of the user: work that the user queues on it later
// follows the kernels without a wait.
bool isOnUserStream(const CommPtr& comm);

} // namespace tenon
