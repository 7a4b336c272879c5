// SPDX-License-Identifier: BSD-2-Clause
// Searches plans, certifies their prices, replays them with overlap and compares them with uniform
// grids. A search sees tables that hold lower bounds: prices are only ever raised to what a closer
// look finds, and the plan whose moves need no raise is the best by exact prices, though most
// others were never looked at.
#include "planner/search/plan_search.hpp"

#include "planner/prices/cost_model.hpp"
#include "planner/search/elimination.hpp"
#include "planner/search/memory_bound.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

// The best plan by exact prices, where a model's prices are lower bounds. The layers and moves of
// the plan found are looked at closely, and it is searched again with what was found, until nothing new
// is. The plan is then the best of all, since the others cost no less than the tables say.

struct CertifiedPlan {
  BoundedPlan plan; // its states are places in the lists of words
  int rounds = 1;   // searches
  // The best plans within the limit, this one first, by prices that are nearly always exact. Where
  // the limit binds there may be fewer than were asked for.
  std::vector<std::vector<int>> best = {};
};

// memoryLimit in bytes; 0: none. Throws TENON_ERR_SHAPE if no plan is within the limit.
CertifiedPlan certifiedPlan(const CostModel& model, const WordLists& words, double memoryLimit,
                            int count = 1);

namespace {

// How many plans are looked at for each that is wanted, where the limit excludes some.
constexpr int kMostPlansFor = 64;

class CertifiedSearch {
public:
  CertifiedSearch(const CostModel& model, const WordLists& words, double limit)
      : model_(model), words_(words), limit_(limit), tables_(tablesOf(model, words)) {}

  CertifiedPlan run(int count) {
    for (int round = 1;; ++round) {
      const BoundedPlan plan = fastestPlan(tables_, limit_);
      // The closer look costs little and finds nearly all, so the look at all positions is only for
      // a plan that has passed it.
      const bool isClose = raise(plan.choice, kCloserBounds);
      if (isClose && raise(plan.choice, kExactPrices))
        return {plan, round, bestPlans(plan.choice, count)};
      if (!isClose && round == 1)
        raiseLikely(plan);
    }
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
                 (model_.*prices.layer)(layer, words_[layer][state]));
  }

  bool raiseMove(std::size_t move, int from, int to, Closeness prices) {
    PairTable& pair = tables_.pairs[move];
    return raise(pair.seconds[std::size_t(from) * tables_.states(pair.to) + to],
                 (model_.*prices.move)(static_cast<int>(move), words_[pair.from][from],
                                       words_[pair.to][to]));
  }

  bool raise(const std::vector<int>& plan, Closeness prices) {
    bool isTrue = true;
    for (int layer = 0; layer < tables_.layers(); ++layer)
      isTrue &= raiseLayer(layer, plan[layer], prices);
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m)
      isTrue &= raiseMove(m, plan[tables_.pairs[m].from], plan[tables_.pairs[m].to], prices);
    return isTrue;
  }

  // Looks at all words that are in some plan as fast as the one found, and at all moves between
  // them. After the first search the tables are wrong in many places at once, and every one of them
  // would cost a round of its own.
  void raiseLikely(const BoundedPlan& plan) {
    const double most = tables_.secondsOf(plan.choice);
    const auto isLikely = [&](int layer, int state) {
      return plan.minMarginals[layer][state] <= most;
    };
    for (int layer = 0; layer < tables_.layers(); ++layer)
      for (int state = 0; state < tables_.states(layer); ++state)
        if (isLikely(layer, state))
          raiseLayer(layer, state, kCloserBounds);
    for (std::size_t m = 0; m < tables_.pairs.size(); ++m) {
      const PairTable& pair = tables_.pairs[m];
      for (int from = 0; from < tables_.states(pair.from); ++from)
        for (int to = 0; to < tables_.states(pair.to) && isLikely(pair.from, from); ++to)
          if (isLikely(pair.to, to))
            raiseMove(m, from, to, kCloserBounds);
    }
  }

  // Lists the best plans, and lists them again as long as a closer look makes one of them dearer.
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
        isClose &= raise(plan, kCloserBounds);
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

namespace {

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
  Word word;
  std::vector<int> plan;
  double seconds = 0; // a lower bound
};

std::optional<UniformPlan> uniformOf(const CostModel& model, const Word& word) {
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.isPinned(layer)) {
      plan.push_back(0);
      continue;
    }
    Word own = word;
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
  return UniformPlan{word, std::move(plan), seconds};
}

Baseline closer(const CostModel& model, const UniformPlan& uniform) {
  return {uniform.word, secondsOf(model, uniform.plan, kCloserBounds)};
}

std::optional<Baseline> baselineOf(const CostModel& model, const Word& word) {
  const auto uniform = uniformOf(model, word);
  return uniform ? std::optional(closer(model, *uniform)) : std::nullopt;
}

std::optional<Baseline> bestUniform(const CostModel& model) {
  std::vector<UniformPlan> all;
  for (const Word& word : model.words())
    if (word.inputs == 0)
      if (auto uniform = uniformOf(model, word))
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

PlannedLayer plannedLayer(const CostModel& model, int layer, const std::vector<int>& words,
                          int state, const std::vector<double>& minMarginals) {
  const Parts parts = model.parts(layer, words[state]);
  PlannedLayer made{.name = model.names()[layer],
                    .letters = model.text(layer, words[state]),
                    .meaning = meaningOf(parts, model.spatial(layer), model.channelLabel(layer)),
                    .signature = model.signature(layer, words[state]),
                    .uses = model.uses(layer, words[state]),
                    .parts = parts,
                    .bytes = model.layerBytes(layer, words[state]),
                    .runnerUp = {}};
  // The runner-up is the best plan that lays this layer out in another way, whatever that plan does
  // elsewhere.
  int second = -1;
  for (int s = 0; s < static_cast<int>(words.size()); ++s)
    if (s != state && (second < 0 || minMarginals[s] < minMarginals[second]) &&
        !model.areAlike(layer, words[state], words[s]))
      second = s;
  if (second >= 0) {
    made.runnerUp = model.text(layer, words[second]);
    made.runnerUpSeconds = minMarginals[second];
  }
  return made;
}

// The number of plans that are replayed with overlap, those with the least sums. What overlap hides
// differs little between plans that cost nearly the same.
constexpr int kReplayed = 16;

// Makes the plan that is fastest with overlap the plan. The first is the one with the least sum,
// and stays where another is no faster.
void replay(const CostModel& model, const WordLists& words, double overlap, CertifiedPlan& found,
            FoundPlan& result) {
  for (const std::vector<int>& choice : found.best) {
    std::vector<int> plan;
    double bytes = 0;
    for (int layer = 0; layer < model.layers(); ++layer) {
      plan.push_back(words[layer][choice[layer]]);
      bytes += model.layerBytes(layer, plan.back());
    }
    const double seconds = secondsOverlapped(model, plan, overlap);
    if (result.overlapped && *result.overlapped <= seconds)
      continue;
    result.overlapped = seconds;
    result.seconds = secondsOf(model, plan, kCloserBounds);
    result.bytes = bytes;
    found.plan.choice = choice;
  }
}

} // namespace

FoundPlan findPlan(const CostModel& model, const FixedWords& fixed, double memoryLimit,
                   double overlap) {
  WordLists words = legalWords(model);
  for (const auto& [name, text] : fixed) {
    const int layer = planLayerNamed(model, name);
    words[layer] = {model.parse(layer, text)};
  }
  CertifiedPlan certified = certifiedPlan(model, words, memoryLimit, overlap > 0 ? kReplayed : 1);
  const BoundedPlan& best = certified.plan;
  FoundPlan found{.grid = model.grid().grid(),
                  .seconds = best.seconds,
                  .bytes = best.bytes,
                  .overlapped = {},
                  .gap = best.gap,
                  .rounds = certified.rounds,
                  .baselines = baselinesOf(model),
                  .layers = {}};
  if (overlap > 0)
    replay(model, words, overlap, certified, found);
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    found.layers.push_back(
        plannedLayer(model, layer, words[layer], best.choice[layer], best.minMarginals[layer]));
  return found;
}

} // namespace tenon
