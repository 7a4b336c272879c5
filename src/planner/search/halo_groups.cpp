// SPDX-License-Identifier: BSD-2-Clause
// Finds the groups of layers with windows that share a halo exchange (halo_groups.hpp). With 4
// windows 0 to 3 and groups of at most 3, a path of groups [0,3) [3,4) means that window 0
// exchanges a wide halo, 1 and 2 compute theirs, and 3 exchanges its own:
//
//   0 --- 1 --- 2 --- 3 --- 4       an arc from i to j is the group of windows i to j - 1
//    \_______________/              and costs minus the seconds that it saves
//
// The best groups are a shortest path: for each number of leading windows, the least cost and the
// last group. A run is priced for each group separately, and once more for all chosen groups
// together, since memory is not a sum over groups.
#include "planner/search/halo_groups.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

struct Group {
  int first, end;   // windows first to end - 1
  double saves = 0; // seconds
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

  // The groups of a shortest path. `separate` are the seconds of the run without groups.
  std::vector<Group> cheapestGroups(double separate) const {
    std::vector<double> costs = {0}; // relative to windows without groups
    std::vector<Group> last;
    for (int end = 1; end <= windows_; ++end) {
      Group best{.first = end - 1, .end = end}; // a single window saves nothing
      for (int first = end - 2; first >= 0 && end - first <= depth_; --first) {
        Group group{.first = first, .end = end};
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
