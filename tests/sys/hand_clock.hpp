// SPDX-License-Identifier: BSD-2-Clause
// The time in seconds that a test passes to the log by setLogClock([] { return seconds; }), and
// advances by assignment, so all measured times are known.
#pragma once

namespace tenon::test {

inline double seconds = 0;

} // namespace tenon::test
