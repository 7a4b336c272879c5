// SPDX-License-Identifier: BSD-2-Clause
// What all processes together send in a conversion that is one exchange. Throws TENON_ERR_SHAPE where that is
// more than Index counts.
#pragma once

#include "geometry/schedule.hpp"

namespace tenon {

Traffic conversionTraffic(const Layout& from, const Layout& to);

} // namespace tenon
