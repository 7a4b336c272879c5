// SPDX-License-Identifier: BSD-2-Clause
// A tensor's values where somebody needs them who works in one space alone.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// x, or where it is in another space a copy of it in this one, for which `copy` is used or made. The host waits for
// it. On the device kernels of the communicator may use it.
const DTensor& inSpace(const DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);
// Such a copy without the values, to be written.
DTensor& likeInSpace(DTensor& x, const CommPtr& comm, Space space, Ref<DTensor>& copy);

} // namespace tenon
