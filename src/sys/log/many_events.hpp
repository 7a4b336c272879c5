// SPDX-License-Identifier: BSD-2-Clause
// Events of which a program may have more than there are places for, as those of layers.
#pragma once

namespace tenon {

// The number of the event of that name; or of the event `shared`, where most places are taken, so
// that others find one.
int logEventOfMany(const char* name, const char* shared);

} // namespace tenon
