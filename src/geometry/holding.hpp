// SPDX-License-Identifier: BSD-2-Clause
// Layouts that hold the same memory on every rank, and those on the way between two that do not.
#pragma once

#include "geometry/layout.hpp"

namespace tenon {

// True if the conversion from a to b leaves every rank's memory as it is, so that both layouts may
// share one array: they are equal but for margins that add nothing.
bool sameHolding(const Layout& a, const Layout& b);

// Where a tensor stops on its way, `to` last; none if both hold the same. One stop, but between two meshes margins
// are left before, and filled behind, by conversions on their own mesh.
std::vector<Layout> stopsBetween(const Layout& from, const Layout& to);

} // namespace tenon
