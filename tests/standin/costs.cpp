// SPDX-License-Identifier: BSD-2-Clause
// Stores the times that tests set for kinds of work (costs.hpp), in one table of the process.
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
  if (*work == '\0')
    all.seconds.clear();
  else
    all.seconds[work] = seconds;
}
