// SPDX-License-Identifier: BSD-2-Clause
// Runs of channels in which two layouts have the same boundary modes. If modes differ by channel,
// the extension E beyond the domain (boundary.hpp) is block-diagonal, and a quantity that otherwise
// is a product over dimensions is one product per run. For example, if one layout has other modes
// from channel 2 on and the other layout from channel 5 on, 8 channels have the runs [0, 2), [2, 5)
// and [5, 8).
//
// Beyond a pole the extension of a globe is a sum of two products (poles.cpp), which are the terms
// of a layout whose halo it fills, or folds.
#pragma once

#include "geometry/layout/layout.hpp"

#include <functional>

namespace tenon {

// Calls f(from, to, run) for each run, with the layouts restricted to its modes. If no modes differ
// by channel, there is one call, with the layouts themselves and run = NULL. Throws
// TENON_ERR_SUPPORT if modes differ by channel and the channel dimension has a halo, or longitudes.
void forEachChannelRun(
    const Layout& from, const Layout& to,
    const std::function<void(const Layout&, const Layout&, const Interval* run)>& f);

// Calls f(from, to) for each pair of a term of the source and a term of the target at their poles;
// without poles whose halos the conversion fills or folds, once with the layouts themselves.
void forEachPoleTerm(const Layout& from, const Layout& to,
                     const std::function<void(const Layout&, const Layout&)>& f);

// True if the elements that two ranks share in a conversion are one product over dimensions: modes
// do not differ by channel, and poles do not give several terms.
bool isOneProduct(const Layout& from, const Layout& to);

// The local indices of a run in a rank's part [begin, end) of the channels; empty if the part has
// none of the run.
Interval localChannels(const Interval& run, const Interval& part);

} // namespace tenon
