// SPDX-License-Identifier: BSD-2-Clause
// What kernels of some types of layers take on the processes of a job, all at once: the times of their work by which
// the predictions of all measured shapes of a kind are off by the least ratios.
#pragma once

#include "comm/communicator.hpp"
#include "machine/kernel_rates.hpp"

namespace tenon {

// Collective. Of arrays in a space. Times are those of the slowest process.
KernelRates measuredKernels(const Communicator& comm, Space space, int rounds);

} // namespace tenon
