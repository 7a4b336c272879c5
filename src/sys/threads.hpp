// SPDX-License-Identifier: BSD-2-Clause
// Threads of this process: the limit of -tenon_threads for the library's loops, the number that
// OpenMP would start, and the CPUs on which they can run.
#pragma once

#include "sys/types.hpp"

#include <cstdint>
#include <vector>

namespace tenon {

// Sets the largest number of threads of each loop. Requires threads >= 0; 0 removes the limit.
void setThreadLimit(Index threads);
// The limit, at least 1; INT_MAX if none is set.
int threadLimit() noexcept;
// Number of threads of a parallel region that starts now; 1 if OpenMP is not loaded.
int openMpThreads() noexcept;
// Affinity mask of this thread, one bit per CPU, with the same length in all processes. All bits
// are 0 if the system does not report it.
std::vector<std::uint64_t> allowedCpus();

} // namespace tenon
