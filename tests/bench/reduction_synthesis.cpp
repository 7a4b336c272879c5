// SPDX-License-Identifier: BSD-2-Clause
// Times the synthesis of reduction programs: the processor time to find all programs of up to five
// instructions (median of 31 runs), the memory that they use, and the additional memory of the
// search. Two methods are compared: synthesis on the devices themselves ("direct"), and on levels
// of two devices, with the groups then formed for the real sizes, as the library does.
//
//   tests/bench/reduction_synthesis
#include "bench/race.hpp"
#include "placement/synthesis.hpp"
#include "reduction/execution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <new>
#include <numeric>
#include <optional>

namespace {

// Allocated bytes, and the largest number of bytes that were allocated at the same time.
std::atomic<std::size_t> live{0}, peak{0};

} // namespace

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (!memory)
    throw std::bad_alloc();
  live += malloc_usable_size(memory);
  peak = std::max(peak.load(), live.load());
  return memory;
}
void operator delete(void* memory) noexcept {
  live -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace tenon::bench {
namespace {

constexpr int kSize = 5; // maximum number of instructions of a program

// Processor time of this thread; the work is serial.
double processorMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * double(now.tv_sec) + 1e-6 * double(now.tv_nsec);
}

ProgramSet synthesised(const Hierarchy& hierarchy) {
  const int devices = deviceCount(hierarchy);
  std::vector<int> all(devices);
  std::iota(all.begin(), all.end(), 0);
  return ProgramSet(devices, movesOf(hierarchy), {all}, kSize);
}

ProgramSet remapped(const Hierarchy& hierarchy) {
  ProgramSet programs = synthesised(levelsOfTwo(static_cast<int>(hierarchy.size())));
  movesOf(hierarchy);
  return programs;
}

void measure(const char* way, ProgramSet (*find)(const Hierarchy&), const Hierarchy& hierarchy,
             int runs, std::optional<double> target = {}) {
  std::vector<double> times;
  const std::size_t before = live;
  std::size_t kept = 0, taken = 0;
  Index programs = 0;
  int states = 0;
  for (int run = 0; run < runs; ++run) {
    peak = live.load();
    const double start = processorMilliseconds();
    const ProgramSet found = find(hierarchy);
    times.push_back(processorMilliseconds() - start);
    kept = live - before;
    taken = peak - before;
    programs = found.count();
    states = found.states();
  }
  fmt::print("{:<8} {:<18} {:>7} {:>7} {:>8} {:>9.2f} {:>9.2f} {:>9.2f} {:>9} {:>9}", way,
             fmt::format("[{}]", fmt::join(hierarchy, ",")), deviceCount(hierarchy), states,
             programs, quantile(times, 0.5), quantile(times, 0.1), quantile(times, 0.9),
             kept / 1024, taken / 1024);
  if (target)
    fmt::print("  <= {} ms {}", *target, quantile(times, 0.5) <= *target ? "met" : "not met");
  fmt::print("\n");
}

} // namespace
} // namespace tenon::bench

int main() {
  using namespace tenon::bench;
  fmt::print("{:<8} {:<18} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", "way",
             "hierarchy", "devices", "states", "programs", "ms", "p10", "p90", "kept KiB",
             "peak KiB", "target");
  measure("direct", synthesised, {4, 16}, kRepetitions, 5);
  measure("direct", synthesised, {2, 2, 2, 2}, kRepetitions, 100);
  measure("remapped", remapped, {4, 16}, kRepetitions, 5);
  measure("remapped", remapped, {2, 2, 2, 2}, kRepetitions, 100);
  measure("direct", synthesised, {8, 32}, 3);
  measure("remapped", remapped, {4096}, kRepetitions);
  measure("remapped", remapped, {64, 64}, kRepetitions);
  measure("remapped", remapped, {16, 16, 16}, kRepetitions);
  measure("remapped", remapped, {8, 8, 8, 8}, kRepetitions);
  measure("remapped", remapped, {4, 4, 4, 8, 8}, 3);
  measure("remapped", remapped, {4, 4, 4, 4, 4, 4}, 1);
  return 0;
}
