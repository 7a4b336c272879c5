// SPDX-License-Identifier: BSD-2-Clause
// Lets go of kept values one after the other, those first that free most for the time that it takes
// to write them again, as long as the memory that passes share stays below a bound. Each state is
// that of a whole list of passes, so that nothing is estimated but the order in which values are
// tried.
#include "planner/prices/recomputation.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Of what may be kept and shared, the parts that the shared memory may take in one attempt.
constexpr double kShares[] = {0.0, 0.15, 0.3, 0.5, 0.75};
// Candidates that are tried as one while much is to be freed.
constexpr std::size_t kMaxTogether = 16;
// What is freed for nothing comes first, and is divided by this.
constexpr double kMinSeconds = 1e-12;

} // namespace

RecomputationSearch::RecomputationSearch(RunMemory& memory, std::vector<double> kernels,
                                         std::vector<double> operators, std::vector<bool> always,
                                         int rank)
    : memory_(memory), kernels_(std::move(kernels)), operators_(std::move(operators)),
      always_(std::move(always)), rank_(rank), writers_(memory.joined().values().size()) {
  const MapList& list = memory_.joined();
  may_ = list.mayRunAgain(Nodes(kernels_.size(), true));
  for (std::size_t m = 0; m < list.maps().size(); ++m)
    if (const Map& map = list.maps()[m]; map.y != kNoValue && runs(map, {}))
      writers_[map.y].push_back(static_cast<int>(m));
  const State now = evaluate(always_);
  const RunBytes bytes = memory_.of(rank_);
  fixed_ = bytes.total() - bytes.saved - bytes.shared;
  least_ = fixed_ + now.saved + now.shared;
  alwaysSeconds_ = now.seconds;
}

double RecomputationSearch::secondsAgain() const {
  const Pass& adjoint = memory_.adjoint();
  const std::vector<bool> nodes = nodesAgain(memory_.list(), adjoint);
  double seconds = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    seconds += nodes[node] ? kernels_[node] : 0;
  for (const Step& step : adjoint.steps)
    if (step.again && (step.what == Do::Begin || step.what == Do::Apply))
      seconds += operators_[memory_.list().maps()[step.map].object];
  return seconds;
}

RecomputationSearch::State RecomputationSearch::evaluate(Nodes nodes) {
  memory_.recompute(nodes);
  return {std::move(nodes), memory_.savedBytes(rank_), memory_.sharedBytes(rank_), secondsAgain()};
}

// The nodes that write a value from what is kept now. What lies before a node that cannot run again
// is kept then, if it is not yet.
void RecomputationSearch::collect(ValueId v, const MapList& now, Candidate& of,
                                  std::set<ValueId>& seen) const {
  if (!seen.insert(v).second)
    return;
  for (int m : writers_[v]) {
    const Map& map = now.maps()[m];
    if (!of.nodes[map.node]) {
      of.nodes[map.node] = true;
      of.seconds += kernels_[map.node];
    }
    if (map.kind == Map::Kind::Operator)
      of.seconds += operators_[map.object];
    for (ValueId x : map.x) {
      const Value& value = now.values()[x];
      if (value.saved || value.again || value.place == Value::Place::Constant)
        continue;
      if (may_[x])
        collect(x, now, of, seen);
      else if (seen.insert(x).second)
        of.bytes -= memory_.savedBytesOf(x, rank_);
    }
  }
}

std::vector<RecomputationSearch::Candidate>
RecomputationSearch::candidates(const State& state) const {
  MapList now = memory_.joined();
  now.recompute(state.nodes);
  std::vector<Candidate> all;
  for (ValueId v = 0; v < static_cast<ValueId>(now.values().size()); ++v) {
    if (!now.values()[v].saved || !may_[v])
      continue;
    Candidate one{v, state.nodes, memory_.savedBytesOf(v, rank_), kMinSeconds};
    std::set<ValueId> seen;
    collect(v, now, one, seen);
    if (one.bytes > 0)
      all.push_back(std::move(one));
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const Candidate& one) { return one.bytes / one.seconds; });
  return all;
}

// The first candidates, as many as free half of what is too much.
RecomputationSearch::Nodes RecomputationSearch::first(const std::vector<Candidate>& open,
                                                      double tooMuch, std::size_t most) {
  Nodes nodes = open.front().nodes;
  double freed = open.front().bytes;
  for (std::size_t i = 1; i < std::min(most, open.size()) && freed < tooMuch / 2; ++i) {
    for (std::size_t node = 0; node < nodes.size(); ++node)
      nodes[node] = nodes[node] || open[i].nodes[node];
    freed += open[i].bytes;
  }
  return nodes;
}

std::optional<RecomputationSearch::State> RecomputationSearch::reduced(double most, double shared,
                                                                       double seconds) {
  State state = evaluate(always_);
  std::set<ValueId> refused;
  std::size_t together = kMaxTogether;
  while (state.saved + state.shared > most) {
    std::vector<Candidate> open = candidates(state);
    std::erase_if(open, [&](const Candidate& one) { return refused.contains(one.value); });
    if (open.empty() || state.seconds >= seconds)
      return std::nullopt;
    State next = evaluate(first(open, state.saved + state.shared - most, together));
    least_ = std::min(least_, fixed_ + next.saved + next.shared);
    if (next.saved < state.saved && next.shared <= std::max(shared, state.shared))
      state = std::move(next);
    else if (together > 1)
      together /= 2;
    else
      refused.insert(open.front().value);
  }
  return state;
}

// Keeps again what there is room for, the nodes that take longest first.
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
  return Recomputation{found.nodes, found.seconds - alwaysSeconds_};
}

} // namespace tenon
