// SPDX-License-Identifier: BSD-2-Clause
// Layouts that hold the same memory on every rank.
#pragma once

#include "geometry/layout.hpp"

namespace tenon {

// True if the conversion from a to b leaves every rank's memory as it is, so that both layouts may
// share one array: axes of one process count for nothing, nor do margins that add nothing.
bool sameHolding(const Layout& a, const Layout& b);

} // namespace tenon
