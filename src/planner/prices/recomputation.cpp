// SPDX-License-Identifier: BSD-2-Clause
// Chooses which layers of a plan compute their output again for the adjoint instead of saving it,
// until a rank needs at most a given memory (recomputation.hpp). In each step the candidates are
// the saved values, each with the nodes (layers) that must run again to make it, the bytes that
// this frees and the seconds that it takes:
//
//   saved 6 GB, limit 4 GB    relu1: 1 GB, 0.1 ms     discarded first, most bytes per second
//                             conv2: 2 GB, 3 ms       then this one, and the limit is met
//
// Recomputed values need temporary memory while the adjoint reads them, which must remain below a
// bound; several bounds are tried (kShares). After each step, memory and time are evaluated with
// complete passes, so only the order of the candidates is a heuristic.
#include "planner/prices/recomputation.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Shares of the available memory that the temporary values can use, one attempt for each.
constexpr double kShares[] = {0.0, 0.15, 0.3, 0.5, 0.75};
// Candidates that are tried together while much must be freed: each trial evaluates the memory of
// the whole network. If the trial does not help, half as many are tried.
constexpr std::size_t kMaxTogether = 16;
// Seconds of a free candidate, which avoids a division by 0 and puts it first.
constexpr double kMinSeconds = 1e-12;

} // namespace

RecomputationSearch::RecomputationSearch(RunMemory& memory, std::vector<double> kernels,
                                         std::vector<double> operators, std::vector<bool> always,
                                         int rank)
    : memory_(memory), kernels_(std::move(kernels)), operators_(std::move(operators)),
      always_(std::move(always)), rank_(rank), writers_(memory.network().saving().values().size()) {
  const MapList& list = memory_.network().saving();
  canRecompute_ = list.mayRunAgain(Nodes(kernels_.size(), true));
  for (std::size_t m = 0; m < list.maps().size(); ++m)
    if (const Map& map = list.maps()[m]; map.y != kNoValue && runs(map, {}))
      writers_[map.y].push_back(static_cast<int>(m));
  const State now = evaluate(always_);
  const RunBytes bytes = memory_.of(rank_);
  fixed_ = bytes.total() - bytes.saved - bytes.shared;
  least_ = fixed_ + now.saved + now.shared;
  alwaysSeconds_ = now.seconds;
}

// The seconds of the kernels and operators that the adjoint runs again.
double RecomputationSearch::secondsAgain() const {
  const Pass& adjoint = memory_.adjoint();
  const std::vector<bool> nodes = recomputedNodes(memory_.list(), adjoint);
  double seconds = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    seconds += nodes[node] ? kernels_[node] : 0;
  for (const Step& step : adjoint.steps)
    if (step.recomputed && (step.what == Do::Begin || step.what == Do::Apply))
      seconds += operators_[memory_.list().maps()[step.map].object];
  return seconds;
}

// The memory and time if these nodes run again. Sets the memory to this state.
RecomputationSearch::State RecomputationSearch::evaluate(Nodes nodes) {
  memory_.recompute(nodes);
  return {.nodes = std::move(nodes),
          .saved = memory_.savedBytes(rank_),
          .shared = memory_.sharedBytes(rank_),
          .seconds = secondsAgain()};
}

// Collects the nodes that write a value from values that the adjoint has: those that are currently
// saved, those that it recomputes already, and constants. An input of such a node that cannot be
// recomputed must be saved from now on, so its bytes are subtracted from what is freed.
void RecomputationSearch::collect(ValueId v, const MapList& now, Candidate& candidate,
                                  std::set<ValueId>& seen) const {
  if (!seen.insert(v).second)
    return;
  for (int m : writers_[v]) {
    const Map& map = now.maps()[m];
    if (!candidate.nodes[map.node]) {
      candidate.nodes[map.node] = true;
      candidate.seconds += kernels_[map.node];
    }
    if (map.kind == Map::Kind::Operator)
      candidate.seconds += operators_[map.object];
    for (ValueId x : map.x) {
      const Value& value = now.values()[x];
      if (value.saved || value.recomputed || value.place == Value::Place::Constant)
        continue;
      if (canRecompute_[x])
        collect(x, now, candidate, seen);
      else if (seen.insert(x).second)
        candidate.bytes -= memory_.savedBytesOf(x, rank_);
    }
  }
}

// The saved values that can be discarded, those that free the most bytes per second first.
std::vector<RecomputationSearch::Candidate>
RecomputationSearch::candidates(const State& state) const {
  MapList now = memory_.network().saving();
  now.recompute(state.nodes);
  std::vector<Candidate> all;
  for (ValueId v = 0; v < static_cast<ValueId>(now.values().size()); ++v) {
    if (!now.values()[v].saved || !canRecompute_[v])
      continue;
    Candidate candidate{.value = v,
                        .nodes = state.nodes,
                        .bytes = memory_.savedBytesOf(v, rank_),
                        .seconds = kMinSeconds};
    std::set<ValueId> seen;
    collect(v, now, candidate, seen);
    if (candidate.bytes > 0)
      all.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(all, std::greater(), [](const Candidate& candidate) {
    return candidate.bytes / candidate.seconds;
  });
  return all;
}

// The first candidates that together free half of the excess `tooMuch`. Not all of it, since bytes
// and seconds are those of single candidates: after some values were discarded, they differ.
RecomputationSearch::Nodes RecomputationSearch::firstCandidates(const std::vector<Candidate>& list,
                                                                double tooMuch, std::size_t most) {
  Nodes nodes = list.front().nodes;
  double freed = list.front().bytes;
  for (std::size_t i = 1; i < std::min(most, list.size()) && freed < tooMuch / 2; ++i) {
    for (std::size_t node = 0; node < nodes.size(); ++node)
      nodes[node] = nodes[node] || list[i].nodes[node];
    freed += list[i].bytes;
  }
  return nodes;
}

// Discards values until saved and shared memory are at most `most` bytes, of which `shared` is the
// bound of the shared part. None if that is not possible in less than `seconds`. Candidates are
// tried in groups, then one by one; one that does not help alone is refused.
std::optional<RecomputationSearch::State> RecomputationSearch::reduced(double most, double shared,
                                                                       double seconds) {
  State state = evaluate(always_);
  std::set<ValueId> refused;
  std::size_t groupSize = kMaxTogether;
  while (state.saved + state.shared > most) {
    std::vector<Candidate> list = candidates(state);
    std::erase_if(list,
                  [&](const Candidate& candidate) { return refused.contains(candidate.value); });
    if (list.empty() || state.seconds >= seconds)
      return std::nullopt;
    State next = evaluate(firstCandidates(list, state.saved + state.shared - most, groupSize));
    least_ = std::min(least_, fixed_ + next.saved + next.shared);
    if (next.saved < state.saved && next.shared <= std::max(shared, state.shared))
      state = std::move(next);
    else if (groupSize > 1)
      groupSize /= 2;
    else
      refused.insert(list.front().value);
  }
  return state;
}

// Saves values again that the memory allows, those of the most expensive nodes first.
RecomputationSearch::State RecomputationSearch::spared(State state, double most) {
  std::vector<int> order;
  for (std::size_t node = 0; node < state.nodes.size(); ++node)
    if (state.nodes[node] && !always_[node])
      order.push_back(static_cast<int>(node));
  std::ranges::stable_sort(order, std::greater(), [&](int node) { return kernels_[node]; });
  for (int node : order) {
    Nodes fewer = state.nodes;
    fewer[node] = false;
    State next = evaluate(std::move(fewer));
    if (next.saved + next.shared <= most && next.seconds <= state.seconds)
      state = std::move(next);
  }
  return state;
}

std::optional<Recomputation> RecomputationSearch::within(double bytes) {
  const double most = bytes - fixed_;
  std::optional<State> best;
  for (double share : kShares)
    if (std::optional<State> found = reduced(
            most, share * most, best ? best->seconds : std::numeric_limits<double>::infinity());
        found && (!best || found->seconds < best->seconds))
      best = std::move(found);
  if (!best)
    return std::nullopt;
  const State found = spared(*std::move(best), most);
  memory_.recompute(found.nodes);
  return Recomputation{.nodes = found.nodes, .seconds = found.seconds - alwaysSeconds_};
}

} // namespace tenon
