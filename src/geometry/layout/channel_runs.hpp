// SPDX-License-Identifier: BSD-2-Clause
// Runs of channels in which two layouts have one boundary mode for each side. Where modes differ by
// channel the extension E is block-diagonal: whatever is a product over dimensions is one for each
// run, of the layouts with the run's modes and of its channels.
#pragma once

#include "geometry/layout/layout.hpp"

#include <functional>

namespace tenon {

// Calls f(from, to, run) for each run, with the layouts that have its modes. Without modes by
// channel there is one call, with the layouts themselves and no run. Throws TENON_ERR_SUPPORT where
// modes differ by channel and channels have a halo themselves.
void forEachChannelRun(
    const Layout& from, const Layout& to,
    const std::function<void(const Layout&, const Layout&, const Interval* run)>& f);

// The elements of a run in a rank's part [begin, end) of the channels, in its array.
Interval localChannels(const Interval& run, const Interval& part);

} // namespace tenon
