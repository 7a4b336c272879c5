// SPDX-License-Identifier: BSD-2-Clause
// Part of the stand-in, a library with the functions of CUDA and its libraries that runs on the
// host, to test device code without a GPU. This file stores the execution times that its events
// report, which tests of the autotuning set for kinds of work (costs.hpp), in one table of the
// process.
#include "standin/costs.hpp"

#include <map>
#include <mutex>
#include <string>

namespace tenon::standin {

namespace {

struct Costs {
  std::mutex mutex;
  std::map<std::string, double> seconds;
};

Costs& costs() {
  static auto* all = new Costs;
  return *all;
}

} // namespace

double costOf(const char* work) {
  const std::scoped_lock lock(costs().mutex);
  const auto found = costs().seconds.find(work);
  return found == costs().seconds.end() ? 0 : found->second;
}

} // namespace tenon::standin

void tenonStandinCost(const char* work, double seconds) {
  auto& all = tenon::standin::costs();
  const std::scoped_lock lock(all.mutex);
  if (*work == '\0') // "": no kind of work takes time any more
    all.seconds.clear();
  else
    all.seconds[work] = seconds;
}
