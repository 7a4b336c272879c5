// SPDX-License-Identifier: BSD-2-Clause
// Queries OpenMP and Linux about threads. This module is not linked to OpenMP: the function of
// OpenMP is looked up among the libraries that the process has loaded, because the copy of OpenMP
// that matters is the one that the program uses.
#include "sys/threads.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace tenon {

namespace {

constexpr std::size_t kMaskWords = 128; // 8192 CPUs, the maximum of Linux
constexpr int kNoLimit = std::numeric_limits<int>::max();

// Read by every loop, from any thread.
std::atomic<int>& limit() {
  static std::atomic<int> instance = kNoLimit;
  return instance;
}

} // namespace

void setThreadLimit(Index threads) {
  limit() = threads == 0 ? kNoLimit : static_cast<int>(std::min<Index>(threads, kNoLimit));
}

int threadLimit() noexcept {
  return limit().load(std::memory_order_relaxed);
}

int openMpThreads() noexcept {
  auto* call = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return call ? call() : 1;
}

std::vector<std::uint64_t> allowedCpus() {
  std::vector<std::uint64_t> mask(kMaskWords);
  if (sched_getaffinity(0, kMaskWords * sizeof(std::uint64_t),
                        reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
    mask.assign(kMaskWords, 0);
  return mask;
}

} // namespace tenon
