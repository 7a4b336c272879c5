// SPDX-License-Identifier: BSD-2-Clause
// The threads of this process: the limit that -tenon_threads sets to the library's own loops, how
// many OpenMP would start, and the CPUs that they may run on.
#pragma once

#include "sys/types.hpp"

#include <cstdint>
#include <vector>

namespace tenon {

// At least 0, which lifts the limit.
void setThreadLimit(Index most);
// At least 1; the largest int where nothing is set.
int threadLimit() noexcept;
// Of a parallel region that starts now; 1 where no OpenMP is loaded.
int openMpThreads() noexcept;
// A bit for each CPU that this thread may run on; of one length in all processes. No bit is set
// where the system does not tell.
std::vector<std::uint64_t> allowedCpus();

} // namespace tenon
