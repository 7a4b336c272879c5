// SPDX-License-Identifier: BSD-2-Clause
// The seconds that a test gives to setLogClock, and moves by hand.
#pragma once

namespace tenon::test {

inline double seconds = 0;

} // namespace tenon::test
