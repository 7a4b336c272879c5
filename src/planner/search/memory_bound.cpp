// SPDX-License-Identifier: BSD-2-Clause
// Searches the fastest plan within a memory limit per process: a lower and an upper bound by a
// Lagrange multiplier, then an exact search on the states that the bounds leave (memory_bound.hpp).
// A plan is a point of bytes and seconds:
//
//   seconds |  small   |
//           |      \   |        `small` is within the limit and `fast` above it. The multiplier is
//           |        \ |        minus the slope of the line through both. A plan below the line,
//           |    next  \        `next`, replaces `small` if it is within the limit, else `fast`.
//           |          |  \ fast
//           +----------+---------> bytes
//                    limit
//
// The tables contain rounded sums of many numbers, so all comparisons with the limit and between
// bounds have the relative tolerance kCostRounding. Without it, rounding would decide whether a
// plan exactly at the limit is accepted.
#include "planner/search/memory_bound.hpp"

#include "planner/search/forest.hpp"
#include "planner/search/pareto.hpp"
#include "planner/search/pruned.hpp"
#include "planner/search/wide.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace tenon {

namespace {

// About 130 MB of labels, the partial plans of the exact search (pareto.hpp); a search that needs
// more reports the proven gap.
constexpr std::size_t kMaxLabels = std::size_t(1) << 22;
// Not infinite: a multiplier of 0 times the limit must be 0, and 0 times infinity is not a number.
constexpr double kNoLimit = 1e300;
// Each multiplier finds another plan on the convex hull of (bytes, seconds), which has few. The
// limit only ends cycles that rounding can cause.
constexpr int kMaxMultipliers = 100;
constexpr std::size_t kMaxNamed = 5; // layers in a message

struct Plan {
  std::vector<int> choice;
  double seconds = std::numeric_limits<double>::infinity(), bytes = 0;
};

// The seconds that one layer adds to a plan in each of its states, including its communication.
std::vector<double> secondsOfLayer(const CostTables& tables, const std::vector<int>& choice,
                                   int layer) {
  std::vector<double> seconds = tables.seconds[layer];
  for (const PairTable& pair : tables.pairs) {
    const std::size_t columns = tables.states(pair.to);
    for (std::size_t k = 0; k < seconds.size(); ++k)
      if (pair.from == layer)
        seconds[k] += pair.seconds[k * columns + choice[pair.to]];
      else if (pair.to == layer)
        seconds[k] += pair.seconds[choice[pair.from] * columns + k];
  }
  return seconds;
}

// One search. best_ is the best plan within the limit so far, lower_ a lower bound of all such
// plans, and multiplier_ the seconds per byte by which plans are compared.
class BoundedSearch {
public:
  BoundedSearch(const CostTables& tables, double limit)
      : tables_(tables), limit_(limit * (1 + kCostRounding)), order_(eliminationOrder(tables)),
        forest_(tables) {}

  BoundedPlan run() {
    checkLimit();
    auto [fast, least] = solve(0);
    lower_ = least;
    // In most cases the fastest plan of all is within the limit, and the search is complete.
    if (fast.bytes <= limit_) {
      best_ = fast;
    } else {
      raiseLowerBound(fast);
      improve(fast);
    }
    BoundedPlan found;
    found.minMarginals = bounds();
    // The min-marginals show which states a better plan can have; often only those of the plan
    // remain. Without a limit, searchWide() has already tried an exact search of such states.
    if (gap() > kCostRounding && (limit_ < kNoLimit || wideBounds_.empty()))
      finish(found.minMarginals);
    found.choice = best_.choice;
    found.seconds = best_.seconds;
    found.bytes = best_.bytes;
    found.secondsPerByte = multiplier_;
    found.gap = gap() > kCostRounding ? gap() : 0;
    return found;
  }

private:
  double gap() const {
    if (best_.seconds <= lower_)
      return 0;
    return lower_ > 0 ? best_.seconds / lower_ - 1 : std::numeric_limits<double>::infinity();
  }

  Plan planOf(std::vector<int> choice) const {
    Plan plan;
    plan.seconds = tables_.secondsOf(choice);
    plan.bytes = tables_.bytesOf(choice);
    plan.choice = std::move(choice);
    return plan;
  }

  // The best plan for a multiplier, or a good one, and a lower bound of all plans:
  //   1  The forest gives a good plan, and for each state a lower bound of all plans with it.
  //   2  States whose bound is above the good plan are in no better one. If elimination can process
  //      the others, the result is the best plan.
  //   3  Otherwise the layers have too many neighbours, and searchWide() gives a good plan and a
  //      bound.
  struct Solved {
    Plan plan;
    double least = 0;
  };
  Solved solve(double multiplier) {
    forest_.run(multiplier);
    const Plan good = planOf(forest_.goodPlan());
    const double upperBound = good.seconds + multiplier * good.bytes;
    wideBounds_.clear();
    if (PrunedElimination::fits(order_, forest_, upperBound)) {
      Plan best =
          planOf(PrunedElimination(tables_, order_, forest_, multiplier, upperBound).choice());
      const double least = best.seconds + multiplier * best.bytes;
      return {.plan = std::move(best), .least = least};
    }
    WideResult wide = searchWide(tables_, multiplier, good.choice);
    wideBounds_ = std::move(wide.bounds);
    return {.plan = planOf(std::move(wide.choice)), .least = wide.least};
  }

  Plan leastBytes() const {
    std::vector<int> choice;
    for (const std::vector<double>& bytes : tables_.bytes)
      choice.push_back(
          static_cast<int>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin()));
    return planOf(std::move(choice));
  }

  void checkLimit() const {
    const Plan least = leastBytes();
    if (least.bytes <= limit_)
      return;
    // The largest layers are named, since the user must know which layers fill the memory.
    std::vector<int> order(tables_.layers());
    std::iota(order.begin(), order.end(), 0);
    const auto bytesOf = [&](int layer) { return tables_.bytes[layer][least.choice[layer]]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return bytesOf(a) > bytesOf(b); });
    std::vector<std::string> named;
    for (int layer : std::span(order).first(std::min(order.size(), kMaxNamed)))
      named.push_back(
          fmt::format("{} {}", tables_.names[layer], sizeText(std::llround(bytesOf(layer)))));
    const double limit = limit_ / (1 + kCostRounding);
    throw Error(TENON_ERR_MEMORY_LIMIT,
                fmt::format("the memory limit is {} for each process, but every plan needs at "
                            "least {}, {} more; the largest layers are {}. Raise the "
                            "limit, or use a smaller batch, or float32 instead of float64",
                            sizeText(std::llround(limit)), sizeText(std::llround(least.bytes)),
                            sizeText(std::llround(least.bytes - limit)), joined(named)));
  }

  // Two plans, `small` within the limit and `fast` above it, are points (bytes, seconds). The slope
  // of the line through these points is the next multiplier. A plan below the line replaces `small`
  // or `fast`. If there is no such plan, no multiplier proves a better bound. On return `fast` is
  // the last plan above the limit.
  void raiseLowerBound(Plan& fast) {
    Plan small = leastBytes();
    keep(small);
    for (int round = 0; round < kMaxMultipliers; ++round) {
      multiplier_ = (small.seconds - fast.seconds) / (fast.bytes - small.bytes);
      // Both plans have the same sum of seconds and multiplier times bytes: they are on one line.
      const double onLine = fast.seconds + multiplier_ * fast.bytes;
      const auto [next, least] = solve(multiplier_);
      const double value = next.seconds + multiplier_ * next.bytes;
      // A plan within the limit has bytes <= limit, so its seconds are at least this.
      lower_ = std::max(lower_, least - multiplier_ * limit_);
      if (value >= onLine * (1 - kCostRounding))
        break;
      keep(next);
      (next.bytes <= limit_ ? small : fast) = next;
    }
    // The plan within the limit can still use the memory that remains.
    improve(small);
  }

  void keep(const Plan& plan) {
    if (plan.bytes <= limit_ && plan.seconds < best_.seconds)
      best_ = plan;
  }

  // Changes single layers while that helps: first the changes that save the most bytes per second,
  // until the plan is within the limit, then the changes that save time within it.
  void improve(Plan plan) {
    while (changeOne(plan)) {
    }
    keep(plan);
  }

  // Makes the change of one layer's state with the largest gain; returns false if none helps.
  bool changeOne(Plan& plan) const {
    int layer = -1, state = -1;
    double largestGain = 0, seconds = 0, bytes = 0;
    for (int l = 0; l < tables_.layers(); ++l) {
      const std::vector<double> costs = secondsOfLayer(tables_, plan.choice, l);
      for (std::size_t k = 0; k < costs.size(); ++k) {
        const double addedSeconds = costs[k] - costs[plan.choice[l]];
        const double addedBytes = tables_.bytes[l][k] - tables_.bytes[l][plan.choice[l]];
        const double gain = gainOf(plan, addedSeconds, addedBytes);
        if (gain > largestGain) {
          largestGain = gain;
          layer = l;
          state = static_cast<int>(k);
          seconds = addedSeconds;
          bytes = addedBytes;
        }
      }
    }
    if (layer < 0)
      return false;
    plan.choice[layer] = state;
    plan.seconds += seconds;
    plan.bytes += bytes;
    return true;
  }

  // The gain of a change that adds seconds and bytes to the plan; both can be negative.
  double gainOf(const Plan& plan, double addedSeconds, double addedBytes) const {
    // Above the limit a change must save bytes: the gain is the number of bytes saved per
    // additional second, and infinite if no additional time is needed. Within the limit the gain is
    // the number of seconds saved.
    if (plan.bytes > limit_)
      return addedBytes >= 0     ? 0
             : addedSeconds <= 0 ? std::numeric_limits<double>::infinity()
                                 : -addedBytes / addedSeconds;
    const bool isFaster = addedSeconds < -kCostRounding * plan.seconds;
    return isFaster && plan.bytes + addedBytes <= limit_ ? -addedSeconds : 0;
  }

  // For each layer and state a lower bound of the seconds of all plans within the limit that use
  // it, by the best of the bounds that can be computed. Uses the forest and the wide bounds of the
  // last call of solve(), which must have been solve(multiplier_).
  std::vector<std::vector<double>> bounds() {
    // Seconds + multiplier bytes of a plan within the limit are at most its seconds plus this.
    const double priceOfLimit = multiplier_ * limit_;
    const double upperBound = best_.seconds + priceOfLimit;
    std::vector<std::vector<double>> marginals = wideBounds_;
    if (marginals.empty() && !PrunedElimination::fits(order_, forest_, upperBound))
      marginals = forest_.bounds();
    if (marginals.empty())
      marginals =
          PrunedElimination(tables_, order_, forest_, multiplier_, upperBound).minMarginals();
    for (std::vector<double>& layer : marginals)
      for (double& seconds : layer)
        seconds -= priceOfLimit;
    return marginals;
  }

  // Searches exactly among the states that a better plan can have.
  void finish(const std::vector<std::vector<double>>& bounds) {
    std::vector<std::vector<int>> candidates(tables_.layers());
    for (int layer = 0; layer < tables_.layers(); ++layer)
      for (int state = 0; state < tables_.states(layer); ++state)
        // A state whose bound is above a known plan cannot be part of a better plan.
        if (bounds[layer][state] <= best_.seconds * (1 + kCostRounding))
          candidates[layer].push_back(state);
    const CostTables rest = tables_.restrictedTo(candidates);
    if (mostCombinations(eliminationOrder(rest), [&](int layer) { return rest.states(layer); }) >
        kMaxCombinations)
      return;
    const ParetoResult exact =
        fastestWithin(rest, limit_, best_.seconds * (1 + kCostRounding), kMaxLabels);
    // With too many labels the plan remains as it is, and the gap between the bounds is reported.
    if (!exact.finished)
      return;
    if (exact.choice) {
      std::vector<int> choice;
      for (int layer = 0; layer < tables_.layers(); ++layer)
        choice.push_back(candidates[layer][(*exact.choice)[layer]]);
      keep(planOf(std::move(choice)));
    }
    // No better plan exists: the plan is its own lower bound.
    lower_ = best_.seconds;
  }

  const CostTables& tables_;
  double limit_;
  std::vector<EliminationStep> order_;
  Forest forest_;
  std::vector<std::vector<double>> wideBounds_; // of the last search that could not use elimination
  double multiplier_ = 0, lower_ = -std::numeric_limits<double>::infinity();
  Plan best_;
};

} // namespace

BoundedPlan fastestPlan(const CostTables& tables, double limit) {
  return BoundedSearch(tables, limit > 0 ? limit : kNoLimit).run();
}

} // namespace tenon
