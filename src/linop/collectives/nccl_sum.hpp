// SPDX-License-Identifier: BSD-2-Clause
// Sums over grid axes by NCCL, for arrays on the device. NCCL chooses the order of additions, so
// sums are not bitwise reproducible on other numbers of devices. Its collectives require pieces of
// equal size; for unequal ones, several calls are grouped into one launch.
#pragma once

#include "linop/linear_op.hpp"
#include "machine/route.hpp"

namespace tenon {

// The operator of a collective. Collective on the communicator. `onHost` carries out the conversion
// for arrays on the host; without it, only arrays on the device are accepted, and the devices
// connect now.
LinearOpRef sumByNccl(const CommPtr& comm, const RouteStep& collective, TenonDataType type,
                      LinearOpRef onHost);

// Throws TENON_ERR_SUPPORT unless a device and the NCCL library are found.
void checkNccl();

} // namespace tenon
