// SPDX-License-Identifier: BSD-2-Clause
// The reduction method of -tenon_reduction nccl: sums over grid axes by NCCL, for arrays on the
// device. NCCL chooses the order of additions, so sums are not bitwise reproducible on other
// numbers of devices. Its collectives require pieces of equal size; for unequal ones, several calls
// are grouped into one launch.
#pragma once

#include "linop/exchange/reduction_method.hpp"

namespace tenon {

// Row of the table of reduction methods; null unless the option selects it.
ReductionMethodRef sumByNccl();

} // namespace tenon
