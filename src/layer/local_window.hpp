// SPDX-License-Identifier: BSD-2-Clause
// A sliding window as a local kernel sees it.
#pragma once

#include "declaration/window_layout.hpp"
#include "kernels/window.hpp"

namespace tenon {

static_assert(kMaxSpatial == kMostSpatial);

// The window of arrays that hold a box of the input, of extents `shape`, and a box of the output.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out);

} // namespace tenon
