// SPDX-License-Identifier: BSD-2-Clause
// Finds all programs by a search over the states of all devices, breadth first. States and their
// lists are replaced by numbers and each outcome is remembered: almost all the work of a search is
// to recognise what was met before.
#include "reduction/synthesis.hpp"

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

// Sequences of small numbers, each kept once and known by its index, in order of arrival.
class SequenceTable {
public:
  using Sequence = std::span<const std::uint32_t>;

  SequenceTable();
  int size() const noexcept { return static_cast<int>(ends_.size()) - 1; }
  // Valid until the next insertion.
  Sequence operator[](int index) const {
    return {items_.data() + ends_[index], ends_[index + 1] - ends_[index]};
  }
  // The index, and whether the sequence is new. It must not be part of the table itself, which can
  // move.
  std::pair<int, bool> insert(Sequence sequence);

private:
  void grow();
  std::size_t slotOf(Sequence sequence) const; // where it is or would be

  std::vector<std::uint32_t> items_;
  std::vector<std::size_t> ends_;
  std::vector<int> slots_; // -1: free
};

// Device states known by number, and what each collective makes of a group of them, found once: in
// a synthesis the same groups return thousands of times. Refusals are not kept: they are many, and
// found as fast as looked up.
class StateTable {
public:
  using Numbers = SequenceTable::Sequence;

  std::uint32_t numberOf(const DeviceState& state);
  // What the members hold afterwards, or nothing if the collective is refused. Valid until the next
  // call.
  std::optional<Numbers> apply(CollectiveKind kind, Numbers group);

private:
  struct Hash {
    std::size_t operator()(const DeviceState& state) const noexcept { return state.hash(); }
  };

  int make(CollectiveKind kind); // of members_

  std::unordered_map<DeviceState, std::uint32_t, Hash> numbers_;
  std::vector<const DeviceState*> states_; // by number
  SequenceTable requested_;                // a group's numbers, then the collective's
  std::vector<int> answers_;               // for each of these, an index in made_
  SequenceTable made_;
  std::vector<std::uint32_t> key_;
  std::vector<const DeviceState*> members_;
};

SequenceTable::SequenceTable() : ends_{0}, slots_(64, -1) {}

std::size_t SequenceTable::slotOf(Sequence sequence) const {
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
  // At most half of the slots are taken, so that a search for a free one stays short and ends.
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
  const auto [index, isNew] = requested_.insert(key_);
  if (isNew)
    answers_.push_back(make(kind));
  return made_[answers_[index]];
}

int StateTable::make(CollectiveKind kind) {
  std::vector<std::uint32_t> after;
  for (const DeviceState& state : statesAfter(kind, members_))
    after.push_back(numberOf(state));
  return made_.insert(after).first;
}

namespace {

// Numbers of device states that are kept: all programs of five steps on six levels take half of it.
constexpr Index kMaxKept = Index(1) << 23;

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
      if (grouping.spelled.form == GroupForm::Master && kind != CollectiveKind::AllReduce)
        continue;
      Instruction instruction = grouping.spelled;
      instruction.collective = kind;
      moves.push_back({instruction, grouping.groups});
    }
  return moves;
}

// Breadth first, so that a state is met first with the most moves left. With one move left only
// those that end in the goal are of use, and nothing else is kept.
class SynthesisSearch {
public:
  SynthesisSearch(ProgramSet& set, const std::vector<Move>& moves) : set_(set), moves_(moves) {}

  void run(int devices, const DeviceGroups& reductionGroups) {
    const std::vector<std::uint32_t> start = numbered(initialStates(devices));
    goal_ = numbered(goalStates(devices, reductionGroups));
    if (start == goal_)
      return;
    found_.insert(start);
    int begin = 0;
    for (int left = set_.sizeLimit_; left > 0 && begin < found_.size(); --left) {
      const int end = found_.size();
      set_.nodes_.resize(end);
      for (int node = begin; node < end; ++node)
        expand(node, left == 1);
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

  void expand(int node, bool isLast) {
    before_.assign(found_[node].begin(), found_[node].end());
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

  // Makes after_ of before_. With toGoal it gives up at the first group that does not get there.
  bool apply(CollectiveKind kind, const DeviceGroups& groups, bool toGoal) {
    after_ = before_;
    for (const std::vector<int>& group : groups) {
      members_.clear();
      for (int device : group)
        members_.push_back(before_[device]);
      const auto made = table_.apply(kind, members_);
      if (!made)
        return false;
      for (std::size_t i = 0; i < group.size(); ++i) {
        after_[group[i]] = (*made)[i];
        if (toGoal && (*made)[i] != goal_[group[i]])
          return false;
      }
    }
    return true;
  }

  int indexOf(const std::vector<std::uint32_t>& states) {
    const int index = found_.insert(states).first;
    const Index most = kMaxKept / static_cast<Index>(states.size());
    if (index >= most)
      throw Error(TENON_ERR_ARG,
                  fmt::format("programs of up to {} instructions on {} devices have more than {} "
                              "states; lower the size, or join levels of the system",
                              set_.sizeLimit_, states.size(), most));
    return index;
  }

  ProgramSet& set_;
  const std::vector<Move>& moves_;
  StateTable table_;
  SequenceTable found_; // the states of all devices, by node
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

Index ProgramSet::pathsFrom(int node, int size) const {
  if (size == 0)
    return node == kGoal ? 1 : 0;
  if (node == kGoal || node >= states() || size > static_cast<int>(nodes_[node].paths.size()))
    return 0;
  return nodes_[node].paths[size - 1];
}

// Lengths beyond the longest path have no column, whatever the limit.
void ProgramSet::countPaths() {
  // Paths of one length are counted from those of the length before: each edge is added once a
  // length.
  for (int size = 1; size <= sizeLimit_; ++size) {
    Index all = 0;
    for (Node& node : nodes_) {
      Index paths = 0;
      for (const Edge& edge : node.edges)
        if (__builtin_add_overflow(paths, pathsFrom(edge.to, size - 1), &paths))
          throw Error(TENON_ERR_ARG, "there are more programs than can be counted; lower the size");
      node.paths.push_back(paths);
      all |= paths;
    }
    if (all == 0)
      break;
    if (__builtin_add_overflow(count_, nodes_[0].paths[size - 1], &count_))
      throw Error(TENON_ERR_ARG, "there are more programs than can be counted; lower the size");
  }
}

Index ProgramSet::countOfSize(int size) const {
  return size < 1 || size > sizeLimit_ ? 0 : pathsFrom(0, size);
}

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
  static std::map<std::pair<int, int>, std::shared_ptr<const ProgramSet>> kept;
  // The lock is held while a set is made, so that two threads do not make the same one.
  const std::lock_guard lock(mutex);
  std::shared_ptr<const ProgramSet>& set = kept[{levels, sizeLimit}];
  if (!set) {
    const Hierarchy twos = levelsOfTwo(levels);
    const int devices = deviceCount(twos);
    std::vector<int> all(devices);
    std::iota(all.begin(), all.end(), 0);
    set = std::make_shared<const ProgramSet>(devices, movesOf(twos), DeviceGroups{all}, sizeLimit);
  }
  return set;
}

} // namespace tenon
