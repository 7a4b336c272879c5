// SPDX-License-Identifier: BSD-2-Clause
// The option -tenon_threads: a limit to the threads of the library's own loops.
#pragma once

#include "sys/types.hpp"

namespace tenon {

// 0 lifts the limit; TENON_ERR_OPTION for a negative one.
void setThreadLimit(Index most);
// At least 1; the largest int where nothing is set.
int threadLimit() noexcept;

} // namespace tenon
