// SPDX-License-Identifier: BSD-2-Clause
// Sums over grid axes by NCCL, for arrays on the device: the way of -tenon_reduction nccl. NCCL
// adds in an order that it chooses, so that neither the bits of a sum nor those of runs on other
// numbers of devices are the same. Its collectives take equal pieces; uneven ones are several of
// them, which it runs as one.
#pragma once

#include "linop/exchange/reduction_method.hpp"

namespace tenon {

// A row of the table of ways.
ReductionMethodRef sumByNccl();

} // namespace tenon
