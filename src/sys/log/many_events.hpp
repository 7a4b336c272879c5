// SPDX-License-Identifier: BSD-2-Clause
// Events of which a program can have more than the log has slots, such as those of layers: the
// layers of a very deep network then share one event.
#pragma once

namespace tenon {

// The number of the event of this name, or of the event `shared` if most slots are taken, which
// reserves slots for other events.
int logEventOfMany(const char* name, const char* shared);

} // namespace tenon
