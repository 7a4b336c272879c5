// SPDX-License-Identifier: BSD-2-Clause
// The machine of a job, with rates measured by the library's own operators and layers: the rates at
// which conversions and kernels run.
//
//   links     On each level, pairs of ranks in different units run an exchange, a sum and an
//             all-gather in several sizes, all pairs at once. Latency, bandwidth and the rate of
//             copies are fitted: their prices have the least squares of relative errors.
//   kernels   Layers of several types run forward and adjoint, in float32 and float64 and in
//             several shapes, on all ranks at once without messages. The times per operation,
//             byte, row and column are fitted for each kind of kernel. Kinds that are not measured
//             get the largest measured rates (the roof of the roofline model).
//
// Arrays are in one memory space; on a device, messages include their copies. A time is that of the
// fastest of several rounds, and of the slowest rank in this round.
#pragma once

#include "comm/communicator.hpp"
#include "machine/places.hpp"

namespace tenon {

// Collective. Throws TENON_ERR_ARG unless rounds >= 1.
JoinedPlaces measuredMachine(const CommPtr& comm, Space space, int rounds);

} // namespace tenon
