// SPDX-License-Identifier: BSD-2-Clause
// Searches a plan and certifies its prices (plan_search.hpp). Each search finds the best plan by
// the prices in the tables, and raises those of the plan, and of candidates that can be as fast, to
// closer bounds and then to exact prices. Most prices of other candidates are never evaluated.
#include "planner/search/plan_search.hpp"

#include "planner/prices/cost_model.hpp"
#include "planner/search/forest.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/overlap.hpp"
#include "planner/search/pruned.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

// The best plan in which one layer has another layout.
struct RunnerUp {
  int state = -1; // -1: there is none
  double seconds = 0;
};

// The result of CertifiedSearch: the best plan by exact prices, and the number of searches until
// none of its prices was raised.
struct CertifiedPlan {
  BoundedPlan plan; // states are positions in the lists of parallelizations
  int rounds = 1;   // number of searches
  // The best plans within the limit, this one first, by prices that are nearly always exact. There
  // can be fewer than requested if the limit binds.
  std::vector<std::vector<int>> best = {};
};

// Plans to list for each requested one, if the limit excludes some.
constexpr int kMaxPlansFor = 64;

class CertifiedSearch {
public:
  CertifiedSearch(const CostModel& model, const ParallelizationLists& parallelizations,
                  double limit)
      : model_(model), parallelizations_(parallelizations), limit_(limit),
        tables_(tablesOf(model, parallelizations, Precision::Least)),
        order_(eliminationOrder(tables_)) {}

  // Returns at most `count` of the best plans.
  CertifiedPlan run(int count) {
    for (int round = 1, close = 0;; ++round) {
      const BoundedPlan plan = fastestPlan(tables_, limit_);
      // Lower bounds are cheap and exclude most candidates. Closer bounds cost little more, and
      // nearly all prices that must be raised are found by them. Exact prices evaluate all
      // positions of the process grid, so only a plan that passes both bounds is priced exactly.
      if (!confirm(plan.choice, Precision::Lower)) {
        raiseLikely(plan, Precision::Lower);
        continue;
      }
      const bool isClose = confirm(plan.choice, Precision::Close);
      if (isClose && confirm(plan.choice, Precision::Exact))
        return {.plan = plan, .rounds = round, .best = bestPlans(plan.choice, count)};
      // All likely prices are raised to close ones once. The few that are likely only later are
      // raised with their plan, by confirm().
      if (!isClose && close++ == 0)
        raiseLikely(plan, Precision::Close);
    }
  }

  // For each layer the best plan in which it has another layout; the seconds are lower bounds if
  // the limit binds.
  std::vector<RunnerUp> runnersUp(const BoundedPlan& plan) {
    Forest forest(tables_);
    forest.run(plan.secondsPerByte);
    std::vector<RunnerUp> all;
    for (int layer = 0; layer < tables_.layers(); ++layer) {
      const std::vector<int> others =
          model_.isPinned(layer) ? std::vector<int>() : othersOf(layer, plan.choice[layer]);
      all.push_back(others.empty() ? RunnerUp()
                                   : runnerUpOf(layer, others, forest, plan.secondsPerByte));
    }
    return all;
  }

private:
  // Raises the price `known` in a table to the price `found` if that is higher. Returns whether the
  // known price was confirmed, that is, not raised.
  static bool confirm(double& known, double found) {
    const bool isConfirmed = found <= known * (1 + kCostRounding);
    known = std::max(known, found);
    return isConfirmed;
  }

  bool confirmLayer(int layer, int state, Precision precision) {
    return confirm(tables_.seconds[layer][state],
                   model_.layerSeconds(layer, parallelizations_[layer][state], precision));
  }

  bool confirmMove(std::size_t move, int from, int to, Precision precision) {
    PairTable& pair = tables_.pairs[move];
    return confirm(pair.seconds[std::size_t(from) * tables_.states(pair.to) + to],
                   model_.moveSeconds(static_cast<int>(move), parallelizations_[pair.from][from],
                                      parallelizations_[pair.to][to], precision));
  }

  bool confirm(const std::vector<int>& plan, Precision precision) {
    bool isConfirmed = true;
    for (int layer = 0; layer < tables_.layers(); ++layer)
      isConfirmed &= confirmLayer(layer, plan[layer], precision);
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m)
      isConfirmed &=
          confirmMove(m, plan[tables_.pairs[m].from], plan[tables_.pairs[m].to], precision);
    return isConfirmed;
  }

  // Raises the prices of all states, and pairs of states, that can be part of a plan as fast as the
  // one found, by the bounds of a forest. After a search the tables are too low in many places at
  // once. Without this, each such place would cost another search.
  void raiseLikely(const BoundedPlan& plan, Precision precision) {
    Forest forest(tables_);
    forest.run(plan.secondsPerByte);
    const double upperBound = tables_.secondsOf(plan.choice) + plan.secondsPerByte * limit_;
    const std::vector<std::vector<int>> likely = forest.upTo(upperBound);
    for (int layer = 0; layer < tables_.layers(); ++layer)
      for (int state : likely[layer])
        confirmLayer(layer, state, precision);
    forest.visitUpTo(upperBound, [&](std::size_t move, int from, int to) {
      confirmMove(move, from, to, precision);
    });
  }

  // Lists the best plans, and lists them again while closer prices raise the price of one of them.
  std::vector<std::vector<int>> bestPlans(const std::vector<int>& first, int count) {
    std::vector<std::vector<int>> best = {first};
    for (bool isClose = count == 1; !isClose;) {
      best = {first};
      isClose = true;
      for (const std::vector<int>& plan :
           plansWithLeastSums(limit_ > 0 ? kMaxPlansFor * count : count)) {
        if (static_cast<int>(best.size()) == count)
          break;
        if (plan == first || (limit_ > 0 && tables_.bytesOf(plan) > limit_))
          continue;
        isClose &= confirm(plan, Precision::Close);
        best.push_back(plan);
      }
    }
    return best;
  }

  // The `count` plans with the least sums of seconds. Only states whose bounds are at most
  // `upperBound` are eliminated, and `upperBound` is raised until the list is complete.
  std::vector<std::vector<int>> plansWithLeastSums(int count) const {
    Forest forest(tables_);
    forest.run();
    const std::vector<int> heuristicPlan = forest.goodPlan();
    double upperBound = tables_.secondsOf(heuristicPlan);
    for (;;) {
      // A network that is too wide for elimination has no list of best plans.
      if (!PrunedElimination::fits(order_, forest, upperBound))
        return {heuristicPlan};
      std::vector<std::vector<int>> plans =
          PrunedElimination(tables_, order_, forest, 0, upperBound).best(count);
      const bool isEnough = static_cast<int>(plans.size()) == count;
      const double last = tables_.secondsOf(plans.back());
      double next = std::numeric_limits<double>::infinity(); // bound of the excluded states
      for (const std::vector<double>& layer : forest.bounds())
        for (double bound : layer)
          next = bound > upperBound * (1 + kCostRounding) ? std::min(next, bound) : next;
      if (std::isinf(next) || (isEnough && last <= upperBound))
        return plans;
      // A complete list whose last sum is above the bound can miss a better plan with an excluded
      // state, so all plans up to this sum are searched. An incomplete list needs more states: at
      // least the one with the least bound of those excluded.
      upperBound = isEnough ? last : std::max(2 * upperBound, next);
    }
  }

  std::vector<int> othersOf(int layer, int state) const {
    std::vector<int> others;
    for (int s = 0; s < tables_.states(layer); ++s)
      if (s != state &&
          !model_.areAlike(layer, parallelizations_[layer][state], parallelizations_[layer][s]))
        others.push_back(s);
    return others;
  }

  // The states that can be in a plan of at most `upperBound` in which the layer has one of the
  // states `others`, whose numbers increase.
  static std::vector<std::vector<int>> candidatesWith(int layer, const std::vector<int>& others,
                                                      const Forest& forest, double upperBound) {
    std::vector<std::vector<int>> candidates = forest.upTo(upperBound * (1 + kCostRounding));
    std::erase_if(candidates[layer],
                  [&](int state) { return !std::ranges::binary_search(others, state); });
    return candidates;
  }

  // Prices the moves that can be in a plan of at most `upperBound` of the candidates. Returns
  // whether all were confirmed.
  bool confirmMovesUpTo(double upperBound, const Forest& forest,
                        const std::vector<std::vector<int>>& candidates) {
    bool isConfirmed = true;
    forest.visitUpTo(upperBound, [&](std::size_t move, int from, int to) {
      const PairTable& pair = tables_.pairs[move];
      isConfirmed &=
          confirmMove(move, candidates[pair.from][from], candidates[pair.to][to], Precision::Lower);
    });
    return isConfirmed;
  }

  // The best plan in which the layer has one of the states `others`. The bounds of `forest` stay
  // valid, since prices are only raised. Among the candidates, the layer has only the states
  // `others`, so a second forest has bounds close to the runner-up.
  RunnerUp runnerUpOf(int layer, const std::vector<int>& others, const Forest& forest,
                      double secondsPerByte) {
    double upperBound = forest.bounds()[layer][*std::ranges::min_element(
        others, {}, [&](int state) { return forest.bounds()[layer][state]; })];
    const auto weightedSum = [&](const std::vector<int>& plan) {
      return tables_.secondsOf(plan) + secondsPerByte * tables_.bytesOf(plan);
    };
    for (;;) {
      const std::vector<std::vector<int>> candidates =
          candidatesWith(layer, others, forest, upperBound);
      const CostTables rest = tables_.restrictedTo(candidates);
      Forest closer(rest);
      closer.run(secondsPerByte);
      // A plan of the candidates as a plan of all states.
      const auto inAllStates = [&](std::vector<int> plan) {
        for (std::size_t l = 0; l < plan.size(); ++l)
          plan[l] = candidates[l][plan[l]];
        return plan;
      };
      // Plans of the forest need no elimination, so they are priced first.
      const std::vector<int> heuristicPlan = inAllStates(closer.goodPlan());
      if (!confirm(heuristicPlan, Precision::Lower))
        continue;
      // A better plan can have states with any bounds up to the sum of this one, so all of these
      // become candidates.
      if (const double known = weightedSum(heuristicPlan);
          known > upperBound * (1 + kCostRounding)) {
        upperBound = known;
        continue;
      }
      // Candidates that can be as fast are priced before the elimination, which makes it far
      // smaller.
      if (!confirmMovesUpTo(weightedSum(heuristicPlan), closer, candidates))
        continue;
      const double bound = weightedSum(heuristicPlan);
      const std::vector<int> best =
          PrunedElimination::fits(order_, closer, bound)
              ? inAllStates(PrunedElimination(rest, order_, closer, secondsPerByte, bound).choice())
              : heuristicPlan;
      const double seconds = weightedSum(best) - secondsPerByte * limit_;
      if (confirm(best, Precision::Lower) && confirm(best, Precision::Close))
        return {.state = best[layer], .seconds = seconds};
    }
  }

  const CostModel& model_;
  const ParallelizationLists& parallelizations_;
  double limit_;
  CostTables tables_;
  std::vector<EliminationStep> order_;
};

int planLayerNamed(const CostModel& model, const std::string& name) {
  std::vector<std::string> names;
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    names.push_back(model.names()[layer]);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?",
                                           name, nearest(name, names)));
  return static_cast<int>(found - names.begin());
}

PlannedLayer plannedLayer(const CostModel& model, int layer,
                          const std::vector<int>& parallelizations, int state,
                          const RunnerUp& second) {
  const Parts parts = model.parts(layer, parallelizations[state]);
  PlannedLayer planned{.name = model.names()[layer],
                       .labels = model.text(layer, parallelizations[state]),
                       .meaning = meaningOf(parts, model.spatial(layer), model.channelLabel(layer)),
                       .signature = model.signature(layer, parallelizations[state]),
                       .isBalanced = model.isBalanced(layer, parallelizations[state]),
                       .uses = model.uses(layer, parallelizations[state]),
                       .parts = parts,
                       .bytes = model.layerBytes(layer, parallelizations[state]),
                       .runnerUp = {}};
  if (second.state >= 0) {
    planned.runnerUp = model.text(layer, parallelizations[second.state]);
    planned.runnerUpSeconds = second.seconds;
  }
  return planned;
}

// Number of plans that are replayed with overlap. The search minimises the sum of all times, which
// ignores overlap, so the plans with the least sums are replayed and the fastest is chosen. A few
// are enough, since overlap differs little between plans of nearly equal cost.
constexpr int kReplayed = 16;

// Replaces the plan by the one that is fastest with overlap. The first candidate has the least sum,
// and wins ties.
void replay(const CostModel& model, const ParallelizationLists& parallelizations, double overlap,
            CertifiedPlan& found, FoundPlan& result) {
  for (const std::vector<int>& choice : found.best) {
    std::vector<int> plan;
    for (int layer = 0; layer < model.layers(); ++layer)
      plan.push_back(parallelizations[layer][choice[layer]]);
    const double seconds = secondsOverlapped(model, plan, overlap);
    if (result.overlapped && *result.overlapped <= seconds)
      continue;
    result.overlapped = seconds;
    result.seconds = secondsOf(model, plan, Precision::Close);
    result.bytes = model.planBytes(plan);
    found.plan.choice = choice;
  }
}

} // namespace

bool recomputeWithin(const CostModel& model, double memoryLimit, FoundPlan& plan) {
  CostModel::RecomputedLayers recomputation =
      model.recomputedWithin(plan.parallelizations, memoryLimit);
  plan.bytes = recomputation.bytes;
  if (recomputation.layers.empty())
    return false;
  plan.recomputed = std::move(recomputation.layers);
  plan.recomputationSeconds = recomputation.seconds;
  plan.seconds += recomputation.seconds;
  // Recomputation consists mostly of kernels, which nothing hides.
  if (plan.overlapped)
    *plan.overlapped += recomputation.seconds;
  return true;
}

void shareHalos(const CostModel& model, Index depth, double memoryLimit, FoundPlan& plan) {
  CostModel::SharedHalos shared = model.sharedHalos(plan.parallelizations, depth, memoryLimit);
  if (shared.layers.empty())
    return;
  plan.shared = std::move(shared.layers);
  plan.sharedSeconds = shared.seconds;
  plan.seconds -= shared.seconds;
  plan.bytes = shared.bytes;
}

std::string recomputedText(const FoundPlan& plan) {
  return fmt::format("computed again for the adjoint, in {:.4g} ms of these: {}",
                     1e3 * plan.recomputationSeconds, fmt::join(plan.recomputed, ", "));
}

std::string sharedText(const FoundPlan& plan) {
  return fmt::format("halos are computed by the layers before, which saves {:.4g} ms: {}",
                     1e3 * plan.sharedSeconds, fmt::join(plan.shared, ", "));
}

FoundPlan findPlan(const CostModel& model, const SearchTask& task) {
  ParallelizationLists parallelizations = legalParallelizations(model);
  for (const auto& [name, text] : task.fixed) {
    const int layer = planLayerNamed(model, name);
    parallelizations[layer] = {model.parse(layer, text)};
  }
  CertifiedSearch search(model, parallelizations, task.memoryLimit);
  CertifiedPlan certified = search.run(task.overlap > 0 ? kReplayed : 1);
  const BoundedPlan& best = certified.plan;
  FoundPlan found{.grid = model.grid().grid(),
                  .seconds = best.seconds,
                  .overlapped = {},
                  .gap = best.gap,
                  .rounds = certified.rounds,
                  .baselines = baselinesOf(model),
                  .layers = {}};
  std::vector<int> chosen;
  for (int layer = 0; layer < model.layers(); ++layer)
    chosen.push_back(parallelizations[layer][best.choice[layer]]);
  found.bytes = model.planBytes(chosen);
  if (task.overlap > 0)
    replay(model, parallelizations, task.overlap, certified, found);
  for (int layer = 0; layer < model.layers(); ++layer)
    found.parallelizations.push_back(parallelizations[layer][best.choice[layer]]);
  const std::vector<RunnerUp> runnersUp = search.runnersUp(best);
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    found.layers.push_back(
        plannedLayer(model, layer, parallelizations[layer], best.choice[layer], runnersUp[layer]));
  return found;
}

} // namespace tenon
