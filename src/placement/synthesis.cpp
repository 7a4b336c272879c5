// SPDX-License-Identifier: BSD-2-Clause
// Enumerates all reduction programs by a breadth-first search (synthesis.hpp). A node of the search
// is the list of the states of all devices; an edge is a move, that is, a collective in groups of
// devices. Almost all the work is to recognise nodes that were seen before, so each distinct device
// state has a number (StateTable), a node is a list of these numbers, each distinct list has a
// number too (SequenceTable), and the result of a collective on a group of states is cached.
#include "placement/synthesis.hpp"

#include "reduction/collective_rule.hpp"
#include "reduction/execution.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tenon {

// A hash set of sequences of numbers. Each sequence is identified by its index in order of
// insertion.
class SequenceTable {
public:
  using Sequence = std::span<const std::uint32_t>;

  SequenceTable();
  int size() const noexcept { return static_cast<int>(ends_.size()) - 1; }
  // The view is valid until the next insertion.
  Sequence operator[](int index) const {
    return {items_.data() + ends_[index], ends_[index + 1] - ends_[index]};
  }
  // Returns the index of the sequence, and whether it is new. The argument must not be a view of
  // the table, which can be reallocated.
  std::pair<int, bool> insert(Sequence sequence);

private:
  // Doubles the hash table.
  void grow();
  std::size_t slotOf(Sequence sequence) const; // its slot, or the free slot where it belongs

  std::vector<std::uint32_t> items_;
  std::vector<std::size_t> ends_;
  std::vector<int> slots_; // hash table with open addressing; -1: free
};

// Gives each distinct device state a number, and caches the result of each collective on a group of
// states, since the same groups occur thousands of times in a search. Invalid collectives are not
// cached: they are numerous, and to test the rules is as fast as a lookup.
class StateTable {
public:
  // The numbers of the states of a group's members, in order.
  using Numbers = SequenceTable::Sequence;

  std::uint32_t numberOf(const DeviceState& state);
  // Returns the states of the members after the collective, or none if it is refused. Valid until
  // the next call.
  std::optional<Numbers> apply(CollectiveKind kind, Numbers group);

private:
  struct Hash {
    std::size_t operator()(const DeviceState& state) const noexcept { return state.hash(); }
  };

  // Applies a collective to members_, and returns the index of the result in results_.
  int make(CollectiveKind kind);

  std::unordered_map<DeviceState, std::uint32_t, Hash> numbers_;
  std::vector<const DeviceState*> states_; // by number
  SequenceTable keys_;                     // keys: a group's numbers, then the collective
  std::vector<int> resultOfKey_;           // index in results_ for each key
  SequenceTable results_;
  std::vector<std::uint32_t> key_;
  std::vector<const DeviceState*> members_;
};

// The number of slots is a power of 2, so a hash is reduced to a slot by a mask.
SequenceTable::SequenceTable() : ends_{0}, slots_(64, -1) {}

std::size_t SequenceTable::slotOf(Sequence sequence) const {
  // The multiplier is that of MurmurHash3's last step (Appleby 2011), which spreads small numbers
  // over all bits; the shift brings the high bits to those of the mask.
  std::uint64_t hash = sequence.size();
  for (std::uint32_t item : sequence) {
    hash = (hash ^ item) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] >= 0 && !std::ranges::equal((*this)[slots_[slot]], sequence))
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::pair<int, bool> SequenceTable::insert(Sequence sequence) {
  std::size_t slot = slotOf(sequence);
  if (slots_[slot] >= 0)
    return {slots_[slot], false};
  // At most half of the slots are occupied, so searches for a free slot are short.
  if (2 * ends_.size() > slots_.size()) {
    grow();
    slot = slotOf(sequence);
  }
  items_.insert(items_.end(), sequence.begin(), sequence.end());
  ends_.push_back(items_.size());
  slots_[slot] = size() - 1;
  return {slots_[slot], true};
}

void SequenceTable::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (int index = 0; index < size(); ++index)
    slots_[slotOf((*this)[index])] = index;
}

std::uint32_t StateTable::numberOf(const DeviceState& state) {
  const auto [found, isNew] =
      numbers_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
  if (isNew)
    states_.push_back(&found->first);
  return found->second;
}

std::optional<StateTable::Numbers> StateTable::apply(CollectiveKind kind, Numbers group) {
  members_.clear();
  for (std::uint32_t number : group)
    members_.push_back(states_[number]);
  if (refusalOf(kind, members_) != Refusal::None)
    return std::nullopt;
  key_.assign(group.begin(), group.end());
  key_.push_back(static_cast<std::uint32_t>(kind));
  const auto [index, isNew] = keys_.insert(key_);
  if (isNew)
    resultOfKey_.push_back(make(kind));
  return results_[resultOfKey_[index]];
}

int StateTable::make(CollectiveKind kind) {
  std::vector<std::uint32_t> after;
  for (const DeviceState& state : statesAfter(kind, members_))
    after.push_back(numberOf(state));
  return results_.insert(after).first;
}

namespace {

// Bound on the state numbers that are stored; all programs of five steps on six levels need half of
// it.
constexpr Index kMaxStored = Index(1) << 23;

// Whether a collective can be the last one of a program. At the goal every member has the whole
// sum, but a ReduceScatter leaves each member a share, and a Reduce leaves the sum on one.
bool mayReachGoal(CollectiveKind kind) {
  return kind != CollectiveKind::ReduceScatter && kind != CollectiveKind::Reduce;
}

} // namespace

std::vector<Move> movesOf(const Hierarchy& hierarchy) {
  std::vector<Move> moves;
  for (Grouping& grouping : distinctGroupings(hierarchy))
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
          CollectiveKind::Reduce, CollectiveKind::Broadcast}) {
      // Master(e) is used with AllReduce only, as in the paper (synthesis.hpp).
      if (grouping.instruction.form == GroupForm::Master && kind != CollectiveKind::AllReduce)
        continue;
      Instruction instruction = grouping.instruction;
      instruction.collective = kind;
      moves.push_back({instruction, grouping.groups});
    }
  return moves;
}

// The search, breadth first: each pass expands the nodes that the pass before has added, so a node
// is first reached with as many moves remaining as possible. With one move remaining, only moves
// that reach the goal are stored.
class SynthesisSearch {
public:
  SynthesisSearch(ProgramSet& set, const std::vector<Move>& moves) : set_(set), moves_(moves) {}

  void run(int devices, const DeviceGroups& reductionGroups) {
    const std::vector<std::uint32_t> start = numbered(initialStates(devices));
    goal_ = numbered(goalStates(devices, reductionGroups));
    if (start == goal_)
      return;
    nodeStates_.insert(start);
    int begin = 0;
    for (int remaining = set_.sizeLimit_; remaining > 0 && begin < nodeStates_.size();
         --remaining) {
      const int end = nodeStates_.size();
      set_.nodes_.resize(end);
      for (int node = begin; node < end; ++node)
        expand(node, remaining == 1);
      begin = end;
    }
  }

private:
  std::vector<std::uint32_t> numbered(const DeviceStates& states) {
    std::vector<std::uint32_t> numbers;
    for (const DeviceState& state : states)
      numbers.push_back(table_.numberOf(state));
    return numbers;
  }

  // Tries all moves from a node; results are edges to other nodes or to the goal.
  void expand(int node, bool isLast) {
    before_.assign(nodeStates_[node].begin(), nodeStates_[node].end());
    for (int move = 0; move < static_cast<int>(moves_.size()); ++move) {
      const CollectiveKind kind = moves_[move].instruction.collective;
      if ((isLast && !mayReachGoal(kind)) || !apply(kind, moves_[move].groups, isLast))
        continue;
      if (after_ == goal_)
        set_.nodes_[node].edges.push_back({move, ProgramSet::kGoal});
      else if (!isLast)
        set_.nodes_[node].edges.push_back({move, indexOf(after_)});
    }
  }

  // Computes after_, the states after the collective, from before_. Returns false if the rules do
  // not allow it, or, with toGoal, at the first group whose states are not those of the goal.
  bool apply(CollectiveKind kind, const DeviceGroups& groups, bool toGoal) {
    after_ = before_;
    for (const std::vector<int>& group : groups) {
      members_.clear();
      for (int device : group)
        members_.push_back(before_[device]);
      const auto states = table_.apply(kind, members_);
      if (!states)
        return false;
      for (std::size_t i = 0; i < group.size(); ++i) {
        after_[group[i]] = (*states)[i];
        if (toGoal && (*states)[i] != goal_[group[i]])
          return false;
      }
    }
    return true;
  }

  // Returns the node with these states, new or old.
  int indexOf(const std::vector<std::uint32_t>& states) {
    const int index = nodeStates_.insert(states).first;
    const Index maxNodes = kMaxStored / static_cast<Index>(states.size());
    if (index >= maxNodes)
      throw Error(TENON_ERR_ARG,
                  fmt::format("programs of up to {} instructions on {} devices have more than {} "
                              "states; lower the size, or join levels of the system",
                              set_.sizeLimit_, states.size(), maxNodes));
    return index;
  }

  ProgramSet& set_;
  const std::vector<Move>& moves_;
  StateTable table_;
  SequenceTable nodeStates_; // states of all devices, by node
  // Numbers of the states of all devices: at the goal, and before and after a move; and of the
  // members of one group.
  std::vector<std::uint32_t> goal_, before_, after_, members_;
};

ProgramSet::ProgramSet(int devices, const std::vector<Move>& moves,
                       const DeviceGroups& reductionGroups, int sizeLimit)
    : sizeLimit_(sizeLimit) {
  if (sizeLimit < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the size limit of programs is {}; it must be >= 1", sizeLimit));
  for (const Move& move : moves)
    moves_.push_back(move.instruction);
  SynthesisSearch(*this, moves).run(devices, reductionGroups);
  countPaths();
}

// Number of paths of `size` moves from a node to the goal.
Index ProgramSet::pathsFrom(int node, int size) const {
  if (size == 0)
    return node == kGoal ? 1 : 0;
  if (node == kGoal || node >= states() || size > static_cast<int>(nodes_[node].paths.size()))
    return 0;
  return nodes_[node].paths[size - 1];
}

// Computes Node::paths and count_. Lengths beyond the longest path are not stored.
void ProgramSet::countPaths() {
  // Paths of one length are counted from those of the length before; each edge is visited once per
  // length.
  for (int size = 1; size <= sizeLimit_; ++size) {
    Index anyPath = 0;
    for (Node& node : nodes_) {
      Index paths = 0;
      for (const Edge& edge : node.edges)
        if (__builtin_add_overflow(paths, pathsFrom(edge.to, size - 1), &paths))
          throw Error(TENON_ERR_ARG, "there are more programs than can be counted; lower the size");
      node.paths.push_back(paths);
      anyPath |= paths;
    }
    if (anyPath == 0)
      break;
    if (__builtin_add_overflow(count_, nodes_[0].paths[size - 1], &count_))
      throw Error(TENON_ERR_ARG, "there are more programs than can be counted; lower the size");
  }
}

Index ProgramSet::countOfSize(int size) const {
  return size < 1 || size > sizeLimit_ ? 0 : pathsFrom(0, size);
}

// Subtracts the numbers of smaller programs from the index. Then, at each node, subtracts the
// numbers of paths through its edges, until the index is smaller than the number of paths through
// an edge, and follows this edge.
Program ProgramSet::program(Index index) const {
  if (index < 0 || index >= count_)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("program {} is out of range; there are {}, numbered from 0", index, count_));
  int size = 1;
  for (; index >= countOfSize(size); ++size)
    index -= countOfSize(size);
  Program program;
  for (int node = 0; size > 0; --size)
    for (const Edge& edge : nodes_[node].edges) {
      const Index paths = pathsFrom(edge.to, size - 1);
      if (index < paths) {
        program.push_back(moves_[edge.move]);
        node = edge.to;
        break;
      }
      index -= paths;
    }
  return program;
}

std::shared_ptr<const ProgramSet> reductionPrograms(int levels, int sizeLimit) {
  static std::mutex mutex;
  static std::map<std::pair<int, int>, std::shared_ptr<const ProgramSet>> cache;
  // The lock is held during the synthesis, so two threads do not repeat it.
  const std::lock_guard lock(mutex);
  std::shared_ptr<const ProgramSet>& set = cache[{levels, sizeLimit}];
  if (!set) {
    const Hierarchy twos = levelsOfTwo(levels);
    const int devices = deviceCount(twos);
    std::vector<int> allDevices(devices);
    std::iota(allDevices.begin(), allDevices.end(), 0);
    set = std::make_shared<const ProgramSet>(devices, movesOf(twos), DeviceGroups{allDevices},
                                             sizeLimit);
  }
  return set;
}

} // namespace tenon
