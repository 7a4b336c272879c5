// SPDX-License-Identifier: BSD-2-Clause
#include "sys/last_call.hpp"

#include <array>
#include <atomic>

namespace tenon {

namespace {
std::array<std::atomic<const char*>, kLastCalls> ring{};
std::atomic<unsigned> entered{0};
} // namespace

void noteCall(const char* name) noexcept {
  const unsigned position = entered.load(std::memory_order_relaxed);
  ring[position % kLastCalls].store(name, std::memory_order_relaxed);
  entered.store(position + 1, std::memory_order_release);
}

const char* lastCallName(int back) noexcept {
  if (back < 0 || back >= kLastCalls)
    return "";
  const unsigned position =
      entered.load(std::memory_order_acquire) - 1U - static_cast<unsigned>(back);
  const char* name = ring[position % kLastCalls].load(std::memory_order_relaxed);
  return name ? name : "";
}

} // namespace tenon
