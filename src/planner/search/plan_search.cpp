// SPDX-License-Identifier: BSD-2-Clause
// Searches plans, certifies their prices, replays them with overlap and compares them with uniform
// grids. A search sees tables that hold lower bounds: prices are only ever raised to what a closer
// look finds, and the plan whose layers and moves need no raise is the best by exact prices, though
// most others were never looked at.
#include "planner/search/plan_search.hpp"

#include "planner/prices/cost_model.hpp"
#include "planner/search/forest.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/pruned.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

// The best plan that lays a layer out in another way.
struct RunnerUp {
  int state = -1; // -1: there is none
  double seconds = 0;
};

// The best plan by exact prices, where a model's prices are lower bounds. The layers and moves of
// the plan found are looked at closely, and it is searched again with what was found, until nothing
// new is. The plan is then the best of all, since the others cost no less than the tables say.
struct CertifiedPlan {
  BoundedPlan plan; // its states are places in the lists of parallelizations
  int rounds = 1;   // searches
  // The best plans within the limit, this one first, by prices that are nearly always exact. Where
  // the limit binds there may be fewer than were requested.
  std::vector<std::vector<int>> best = {};
};

// How many plans are looked at for each that is wanted, where the limit excludes some.
constexpr int kMaxPlansFor = 64;

class CertifiedSearch {
public:
  CertifiedSearch(const CostModel& model, const ParallelizationLists& parallelizations,
                  double limit)
      : model_(model), parallelizations_(parallelizations), limit_(limit),
        tables_(tablesOf(model, parallelizations, kMinBounds)), order_(eliminationOrder(tables_)) {}

  // `count` plans of the best, as far as there are so many.
  CertifiedPlan run(int count) {
    for (int round = 1, close = 0;; ++round) {
      const BoundedPlan plan = fastestPlan(tables_, limit_);
      // Bounds that take no time tell what hardly matters; prices are requested what may. The
      // closer look costs little and finds nearly all, so the look at all positions is only for a
      // plan that has passed it.
      if (!raise(plan.choice, kLowerBounds)) {
        raiseLikely(plan, kLowerBounds);
        continue;
      }
      const bool isClose = raise(plan.choice, kCloserBounds);
      if (isClose && raise(plan.choice, kExactPrices))
        return {plan, round, bestPlans(plan.choice, count)};
      if (!isClose && close++ == 0)
        raiseLikely(plan, kCloserBounds);
    }
  }

  // For each layer the best plan that lays it out in another way than the plan; the seconds are
  // lower bounds where the limit binds.
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
  // Whether a price is what the tables say; if it is more, they say so from now on.
  static bool raise(double& known, double found) {
    const bool isTrue = found <= known * (1 + kCostRounding);
    known = std::max(known, found);
    return isTrue;
  }

  bool raiseLayer(int layer, int state, Closeness prices) {
    return raise(tables_.seconds[layer][state],
                 (model_.*prices.layer)(layer, parallelizations_[layer][state]));
  }

  bool raiseMove(std::size_t move, int from, int to, Closeness prices) {
    PairTable& pair = tables_.pairs[move];
    return raise(pair.seconds[std::size_t(from) * tables_.states(pair.to) + to],
                 (model_.*prices.move)(static_cast<int>(move), parallelizations_[pair.from][from],
                                       parallelizations_[pair.to][to]));
  }

  bool raise(const std::vector<int>& plan, Closeness prices) {
    bool isTrue = true;
    for (int layer = 0; layer < tables_.layers(); ++layer)
      isTrue &= raiseLayer(layer, plan[layer], prices);
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m)
      isTrue &= raiseMove(m, plan[tables_.pairs[m].from], plan[tables_.pairs[m].to], prices);
    return isTrue;
  }

  // Looks at the parallelizations, and at the pairs of them, that are in some plan as fast as the
  // one found, as far as a forest can tell. After a search the tables are wrong in many places at
  // once, and every one of them would cost a round of its own.
  void raiseLikely(const BoundedPlan& plan, Closeness prices) {
    Forest forest(tables_);
    forest.run(plan.secondsPerByte);
    const double most = tables_.secondsOf(plan.choice) + plan.secondsPerByte * limit_;
    const std::vector<std::vector<int>> likely = forest.upTo(most);
    for (int layer = 0; layer < tables_.layers(); ++layer)
      for (int state : likely[layer])
        raiseLayer(layer, state, prices);
    forest.visitUpTo(
        most, [&](std::size_t move, int from, int to) { raiseMove(move, from, to, prices); });
  }

  // Lists the best plans, and lists them again as long as a closer look makes one of them dearer.
  std::vector<std::vector<int>> bestPlans(const std::vector<int>& first, int count) {
    std::vector<std::vector<int>> best = {first};
    for (bool isClose = count == 1; !isClose;) {
      best = {first};
      isClose = true;
      for (const std::vector<int>& plan : listed(limit_ > 0 ? kMaxPlansFor * count : count)) {
        if (static_cast<int>(best.size()) == count)
          break;
        if (plan == first || (limit_ > 0 && tables_.bytesOf(plan) > limit_))
          continue;
        isClose &= raise(plan, kCloserBounds);
        best.push_back(plan);
      }
    }
    return best;
  }

  // The plans with the least sums. The sum of the last of some that are known bounds what has to be
  // eliminated for them.
  std::vector<std::vector<int>> listed(int count) const {
    Forest forest(tables_);
    forest.run();
    const std::vector<int> good = forest.goodPlan();
    double most = tables_.secondsOf(good);
    for (;;) {
      // What is too wide to be eliminated has no list of its best.
      if (!PrunedElimination::fits(order_, forest, most))
        return {good};
      std::vector<std::vector<int>> plans =
          PrunedElimination(tables_, order_, forest, 0, most).best(count);
      const bool isEnough = static_cast<int>(plans.size()) == count;
      const double last = tables_.secondsOf(plans.back());
      double next = std::numeric_limits<double>::infinity(); // bound of what was left out
      for (const std::vector<double>& layer : forest.bounds())
        for (double bound : layer)
          next = bound > most * (1 + kCostRounding) ? std::min(next, bound) : next;
      if (std::isinf(next) || (isEnough && last <= most))
        return plans;
      most = isEnough ? last : std::max(2 * most, next);
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

  // The forest has bounds of all states, and prices that were raised since then make them no less.
  // Without the plan's own state, what is left has bounds that are close to the runner-up.
  RunnerUp runnerUpOf(int layer, const std::vector<int>& others, const Forest& forest,
                      double perByte) {
    double most = forest.bounds()[layer][*std::ranges::min_element(
        others, {}, [&](int state) { return forest.bounds()[layer][state]; })];
    for (;;) {
      std::vector<std::vector<int>> kept = forest.upTo(most * (1 + kCostRounding));
      std::erase_if(kept[layer],
                    [&](int state) { return !std::ranges::binary_search(others, state); });
      const CostTables rest = tables_.restrictedTo(kept);
      Forest closer(rest);
      closer.run(perByte);
      const auto whole = [&](std::vector<int> plan) {
        for (std::size_t l = 0; l < plan.size(); ++l)
          plan[l] = kept[l][plan[l]];
        return plan;
      };
      const auto weighed = [&](const std::vector<int>& plan) {
        return tables_.secondsOf(plan) + perByte * tables_.bytesOf(plan);
      };
      // Plans of the forest cost no elimination, and are asked first.
      const std::vector<int> good = whole(closer.goodPlan());
      if (!raise(good, kLowerBounds))
        continue;
      if (const double known = weighed(good); known > most * (1 + kCostRounding)) {
        most = known;
        continue;
      }
      // What may be as fast is priced before elimination is asked, which it makes far smaller.
      bool isPriced = true;
      closer.visitUpTo(weighed(good), [&](std::size_t move, int from, int to) {
        const auto [a, b] = std::pair(tables_.pairs[move].from, tables_.pairs[move].to);
        isPriced &= raiseMove(move, kept[a][from], kept[b][to], kLowerBounds);
      });
      if (!isPriced)
        continue;
      const std::vector<int> best =
          PrunedElimination::fits(order_, closer, weighed(good))
              ? whole(PrunedElimination(rest, order_, closer, perByte, weighed(good)).choice())
              : good;
      const double seconds = weighed(best) - perByte * limit_;
      if (raise(best, kLowerBounds) && raise(best, kCloserBounds))
        return {best[layer], seconds};
    }
  }

  const CostModel& model_;
  const ParallelizationLists& parallelizations_;
  double limit_;
  CostTables tables_;
  std::vector<EliminationStep> order_;
};

// The times of one process and of its link, which carries one transfer after the other.
class Timeline {
public:
  explicit Timeline(double share) : share_(share) {}

  struct Transfer {
    double end = 0;  // when the share that goes on by itself has arrived
    double rest = 0; // seconds of the process for the remaining share
  };

  void compute(double seconds) { now_ += seconds; }
  Transfer start(double seconds) {
    link_ = std::max(now_, link_) + share_ * seconds;
    return {link_, (1 - share_) * seconds};
  }
  void wait(const Transfer& transfer) { now_ = std::max(now_, transfer.end) + transfer.rest; }
  double now() const { return now_; }

private:
  double share_, now_ = 0, link_ = 0;
};

// The layers in an order in which each comes behind those that it reads. They are listed so except
// for a pinned input, which is the last but runs first.
std::vector<int> runningOrder(const CostModel& model) {
  std::vector<int> order, waitsFor(model.layers(), 0);
  for (const CostModel::Move& move : model.moves())
    ++waitsFor[move.to];
  std::vector<bool> isDone(model.layers(), false);
  while (static_cast<int>(order.size()) < model.layers())
    for (int layer = 0; layer < model.layers(); ++layer)
      if (!isDone[layer] && waitsFor[layer] == 0) {
        isDone[layer] = true;
        order.push_back(layer);
        for (const CostModel::Move& move : model.moves())
          waitsFor[move.to] -= move.from == layer;
      }
  return order;
}

} // namespace

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share) {
  const std::vector<int> order = runningOrder(model);
  const auto& moves = model.moves();
  std::vector<MoveParts> seconds;
  for (std::size_t m = 0; m < moves.size(); ++m)
    seconds.push_back(model.moveParts(static_cast<int>(m), plan[moves[m].from], plan[moves[m].to]));
  Timeline time(share);
  std::vector<Timeline::Transfer> moved(moves.size());
  for (int layer : order) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == layer)
        time.wait(moved[m]);
    time.compute(model.layerParts(layer, plan[layer]).forward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == layer)
        moved[m] = time.start(seconds[m].there);
  }
  // Gradients are needed at the end only, so their sums are waited for when all layers are done.
  std::vector<Timeline::Transfer> sums;
  for (auto layer = order.rbegin(); layer != order.rend(); ++layer) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == *layer)
        time.wait(moved[m]);
    const LayerParts parts = model.layerParts(*layer, plan[*layer]);
    time.compute(parts.backward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == *layer)
        moved[m] = time.start(seconds[m].back);
    sums.push_back(time.start(parts.gradients));
  }
  for (const Timeline::Transfer& sum : sums)
    time.wait(sum);
  return time.now();
}

namespace {

struct UniformPlan {
  Parallelization parallelization;
  std::vector<int> plan;
  double seconds = 0; // a lower bound
};

std::optional<UniformPlan> uniformOf(const CostModel& model,
                                     const Parallelization& parallelization) {
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.isPinned(layer)) {
      plan.push_back(0);
      continue;
    }
    Parallelization own = parallelization;
    // A fully connected layer has no space to split; its output channels take the processes, as in
    // the papers.
    if (model.spatial(layer).empty()) {
      own.outputs += own.space;
      own.space = 0;
    }
    plan.push_back(model.numberOf(own));
    if (!model.fault(layer, plan.back()).empty())
      return std::nullopt;
  }
  const double seconds = secondsOf(model, plan);
  return UniformPlan{parallelization, std::move(plan), seconds};
}

Baseline closer(const CostModel& model, const UniformPlan& uniform) {
  return {uniform.parallelization, secondsOf(model, uniform.plan, kCloserBounds)};
}

std::optional<Baseline> baselineOf(const CostModel& model, const Parallelization& parallelization) {
  const auto uniform = uniformOf(model, parallelization);
  return uniform ? std::optional(closer(model, *uniform)) : std::nullopt;
}

std::optional<Baseline> bestUniform(const CostModel& model) {
  std::vector<UniformPlan> all;
  for (const Parallelization& parallelization : model.parallelizations())
    if (parallelization.inputs == 0)
      if (auto uniform = uniformOf(model, parallelization))
        all.push_back(std::move(*uniform));
  std::stable_sort(all.begin(), all.end(), [](const UniformPlan& a, const UniformPlan& b) {
    return a.seconds < b.seconds;
  });
  std::optional<Baseline> best;
  for (const UniformPlan& uniform : all) {
    // They come by their lower bounds: the rest cannot be faster.
    if (best && best->seconds <= uniform.seconds)
      break;
    const Baseline found = closer(model, uniform);
    if (!best || found.seconds < best->seconds)
      best = found;
  }
  return best;
}

} // namespace

Baselines baselinesOf(const CostModel& model) {
  const int axes = model.grid().axes();
  return {.uniform = bestUniform(model),
          .batch = baselineOf(model, {.batch = axes}),
          .model = baselineOf(model, {.outputs = axes}),
          .domain = baselineOf(model, {.space = axes})};
}

namespace {

int planLayerNamed(const CostModel& model, const std::string& name) {
  std::vector<std::string> names;
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    names.push_back(model.names()[layer]);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?",
                                           name, nearest(name, names)));
  return static_cast<int>(at - names.begin());
}

PlannedLayer plannedLayer(const CostModel& model, int layer,
                          const std::vector<int>& parallelizations, int state,
                          const RunnerUp& second) {
  const Parts parts = model.parts(layer, parallelizations[state]);
  PlannedLayer made{.name = model.names()[layer],
                    .labels = model.text(layer, parallelizations[state]),
                    .meaning = meaningOf(parts, model.spatial(layer), model.channelLabel(layer)),
                    .signature = model.signature(layer, parallelizations[state]),
                    .isBalanced = model.isBalanced(layer, parallelizations[state]),
                    .uses = model.uses(layer, parallelizations[state]),
                    .parts = parts,
                    .bytes = model.layerBytes(layer, parallelizations[state]),
                    .runnerUp = {}};
  if (second.state >= 0) {
    made.runnerUp = model.text(layer, parallelizations[second.state]);
    made.runnerUpSeconds = second.seconds;
  }
  return made;
}

// The number of plans that are replayed with overlap, those with the least sums. What overlap hides
// differs little between plans that cost nearly the same.
constexpr int kReplayed = 16;

// Makes the plan that is fastest with overlap the plan. The first is the one with the least sum,
// and stays where another is no faster.
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
    result.seconds = secondsOf(model, plan, kCloserBounds);
    result.bytes = model.planBytes(plan);
    found.plan.choice = choice;
  }
}

} // namespace

bool recomputeWithin(const CostModel& model, double memoryLimit, FoundPlan& plan) {
  CostModel::Again again = model.recomputedWithin(plan.parallelizations, memoryLimit);
  plan.bytes = again.bytes;
  if (again.layers.empty())
    return false;
  plan.recomputed = std::move(again.layers);
  plan.againSeconds = again.seconds;
  plan.seconds += again.seconds;
  // Kernels, for the most part, which nothing hides.
  if (plan.overlapped)
    *plan.overlapped += again.seconds;
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

FoundPlan findPlan(const CostModel& model, const FixedParallelizations& fixed, double memoryLimit,
                   double overlap) {
  ParallelizationLists parallelizations = legalParallelizations(model);
  for (const auto& [name, text] : fixed) {
    const int layer = planLayerNamed(model, name);
    parallelizations[layer] = {model.parse(layer, text)};
  }
  CertifiedSearch search(model, parallelizations, memoryLimit);
  CertifiedPlan certified = search.run(overlap > 0 ? kReplayed : 1);
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
  if (overlap > 0)
    replay(model, parallelizations, overlap, certified, found);
  for (int layer = 0; layer < model.layers(); ++layer)
    found.parallelizations.push_back(parallelizations[layer][best.choice[layer]]);
  const std::vector<RunnerUp> runnersUp = search.runnersUp(best);
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    found.layers.push_back(
        plannedLayer(model, layer, parallelizations[layer], best.choice[layer], runnersUp[layer]));
  return found;
}

} // namespace tenon
