// SPDX-License-Identifier: BSD-2-Clause
#include "planner/certificate.hpp"

#include "planner/elimination.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr int kMostPlansFor = 64; // looked at for each that is wanted, as the limit excludes some

class CertifiedSearch {
public:
  CertifiedSearch(const CostModel& model, const WordLists& words, double limit)
      : model_(model), words_(words), limit_(limit), tables_(tablesOf(model, words)) {}

  CertifiedPlan run(int count) {
    for (int round = 1;; ++round) {
      const BoundedPlan plan = fastestPlan(tables_, limit_);
      const bool isClose = raise(plan.choice, &CostModel::closerMoveSeconds);
      if (isClose && raise(plan.choice, &CostModel::exactMoveSeconds))
        return {plan, round, bestPlans(plan.choice, count)};
      if (!isClose && round == 1)
        raiseLikely(plan);
    }
  }

private:
  // Whether the price of a move is what the tables say; else they say so now.
  bool raise(std::size_t move, int from, int to, MoveSeconds price) {
    PairTable& pair = tables_.pairs[move];
    double& known = pair.seconds[std::size_t(from) * tables_.states(pair.to) + to];
    const double found =
        (model_.*price)(static_cast<int>(move), words_[pair.from][from], words_[pair.to][to]);
    const bool isTrue = found <= known * (1 + kCostRounding);
    known = std::max(known, found);
    return isTrue;
  }

  bool raise(const std::vector<int>& plan, MoveSeconds price) {
    bool isTrue = true;
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m)
      isTrue &= raise(m, plan[tables_.pairs[m].from], plan[tables_.pairs[m].to], price);
    return isTrue;
  }

  // The words that a plan may have that takes no longer than the one found: a look at all of their moves
  // spares the search one round for each.
  void raiseLikely(const BoundedPlan& plan) {
    const double most = tables_.secondsOf(plan.choice);
    const auto isLikely = [&](int layer, int state) {
      return plan.minMarginals[layer][state] <= most;
    };
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m) {
      const PairTable& pair = tables_.pairs[m];
      for (int from = 0; from < tables_.states(pair.from); ++from)
        for (int to = 0; to < tables_.states(pair.to) && isLikely(pair.from, from); ++to)
          if (isLikely(pair.to, to))
            raise(m, from, to, &CostModel::closerMoveSeconds);
    }
  }

  // Again while a look at their moves makes one of them dearer.
  std::vector<std::vector<int>> bestPlans(const std::vector<int>& first, int count) {
    std::vector<std::vector<int>> best = {first};
    for (bool isClose = count == 1; !isClose;) {
      Elimination elimination(tables_);
      elimination.run();
      best = {first};
      isClose = true;
      for (const std::vector<int>& plan :
           elimination.best(limit_ > 0 ? kMostPlansFor * count : count)) {
        if (static_cast<int>(best.size()) == count)
          break;
        if (plan == first || (limit_ > 0 && tables_.bytesOf(plan) > limit_))
          continue;
        isClose &= raise(plan, &CostModel::closerMoveSeconds);
        best.push_back(plan);
      }
    }
    return best;
  }

  const CostModel& model_;
  const WordLists& words_;
  double limit_;
  CostTables tables_;
};

} // namespace

CertifiedPlan certifiedPlan(const CostModel& model, const WordLists& words, double memoryLimit,
                            int count) {
  return CertifiedSearch(model, words, memoryLimit).run(count);
}

} // namespace tenon
