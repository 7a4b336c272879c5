// SPDX-License-Identifier: BSD-2-Clause
// A small ring of the names of the last public calls and log scopes that were entered. A watchdog
// thread reads it while the main thread hangs, so it is made of atomics and holds only names that
// live as long as the process.
#pragma once

namespace tenon {

inline constexpr int kLastCalls = 16;

// name must never be freed.
void noteCall(const char* name) noexcept;
// The name entered last, or `back` entries before it (0 <= back < kLastCalls); "" if there is none.
const char* lastCallName(int back = 0) noexcept;

} // namespace tenon
