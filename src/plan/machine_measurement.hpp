// SPDX-License-Identifier: BSD-2-Clause
// The machine of a job, with rates measured by the library's own operators and layers: the rates at
// which conversions and kernels run.
//
//   links     on each level an exchange, a sum and an all-gather of pairs of ranks on both sides of
//             it, all pairs at once, in several sizes; latency, bandwidth and the rate of copies
//             are those whose prices have the least squares of relative errors
//   kernels   layers of several types, each measured separately on all ranks at once, forward and
//             adjoint, in float32 and float64, in several shapes of each kind, to whose work the
//             times of the kind are fitted; kinds that are not measured get the roof of the
//             largest rates
//
// Arrays are in one space, on the device with the copies that their messages need. Times are those
// of the fastest round, and of its slowest rank.
#pragma once

#include "comm/communicator.hpp"
#include "machine/places.hpp"

namespace tenon {

// Collective. Throws TENON_ERR_ARG unless rounds >= 1.
JoinedPlaces measuredMachine(const CommPtr& comm, Space space, int rounds);

} // namespace tenon
