// SPDX-License-Identifier: BSD-2-Clause
// The best groups are a shortest path over the windows: for each number of leading windows the
// least cost and the last group. A run is priced for each group separately, and once more for all
// chosen groups together, since memory is not a sum over groups.
#include "planner/search/halo_groups.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

struct Group {
  int first, end;
  double saves = 0;
};

class HaloPath {
public:
  HaloPath(int windows, Index depth, double bytes, const RunOfHalos& run)
      : windows_(windows), depth_(depth), bytes_(bytes), run_(run) {}

  HaloRun fastest() const {
    const HaloRun separate = runOf({});
    std::vector<Group> groups = cheapestGroups(separate.seconds);
    // Together, groups can need more memory than each of them alone.
    for (; !groups.empty(); groups.erase(std::ranges::min_element(groups, {}, &Group::saves)))
      if (HaloRun all = runOf(groups); fits(all) && all.seconds < separate.seconds)
        return all;
    return separate;
  }

private:
  bool fits(const HaloRun& run) const { return bytes_ <= 0 || run.bytes <= bytes_; }

  HaloRun runOf(std::span<const Group> groups) const {
    std::vector<bool> mayCompute(windows_, false);
    for (const Group& group : groups)
      for (int window = group.first + 1; window < group.end; ++window)
        mayCompute[window] = true;
    return run_(mayCompute);
  }

  std::vector<Group> cheapestGroups(double separate) const {
    std::vector<double> costs = {0}; // relative to windows without groups
    std::vector<Group> last;
    for (int end = 1; end <= windows_; ++end) {
      Group best{end - 1, end};
      for (int first = end - 2; first >= 0 && end - first <= depth_; --first) {
        Group group{first, end};
        const HaloRun run = runOf({&group, 1});
        group.saves = separate - run.seconds;
        if (fits(run) && costs[first] - group.saves < costs[best.first] - best.saves)
          best = group;
      }
      costs.push_back(costs[best.first] - best.saves);
      last.push_back(best);
    }
    std::vector<Group> groups;
    for (int end = windows_; end > 0; end = last[end - 1].first)
      if (last[end - 1].saves > 0)
        groups.push_back(last[end - 1]);
    return groups;
  }

  int windows_;
  Index depth_;
  double bytes_;
  const RunOfHalos& run_;
};

} // namespace

HaloRun fastestHalos(int windows, Index depth, double bytes, const RunOfHalos& run) {
  return HaloPath(windows, depth, bytes, run).fastest();
}

} // namespace tenon
