// SPDX-License-Identifier: BSD-2-Clause
// The kernels' context that the layers of one communicator share: layers on one communicator run
// one after the other, those on distinct communicators may run in distinct threads.
#pragma once

#include "comm/communicator.hpp"
#include "kernels/context.hpp"

namespace tenon {

// It lives as long as a kernel uses it.
KernelContextPtr contextOf(const CommPtr& comm);

} // namespace tenon
