// SPDX-License-Identifier: BSD-2-Clause
// The threads of this process: the limit that -tenon_threads sets to the library's own loops, how
// many OpenMP would start, and the CPUs that they may run on.
#pragma once

#include "sys/types.hpp"

#include <cstdint>
#include <vector>

namespace tenon {

// `most` is at least 0; 0 lifts the limit.
void setThreadLimit(Index most);
// The limit, at least 1; the largest int where none is set.
int threadLimit() noexcept;
// The number of threads that a parallel region would start now; 1 where no OpenMP is loaded.
int openMpThreads() noexcept;
// A bit for each CPU that this thread may run on, in a mask that has the same length in all
// processes. No bit is set where the system does not tell.
std::vector<std::uint64_t> allowedCpus();

} // namespace tenon
