// SPDX-License-Identifier: BSD-2-Clause
#include "sys/threads.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace tenon {

namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

std::atomic<int>& limit() {
  static std::atomic<int> instance = kNoLimit;
  return instance;
}

} // namespace

void setThreadLimit(Index most) {
  if (most < 0)
    throw Error(TENON_ERR_OPTION,
                fmt::format("-tenon_threads is {}; expected 1 or more threads, or 0 for as many as "
                            "OpenMP gives",
                            most));
  limit() = most == 0 ? kNoLimit : static_cast<int>(std::min<Index>(most, kNoLimit));
}

int threadLimit() noexcept {
  return limit().load(std::memory_order_relaxed);
}

} // namespace tenon
