// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/synthesis.hpp"

#include "reduction/execution.hpp"
#include "reduction/state_table.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <numeric>

namespace tenon {

namespace {

// Numbers of device states that are kept: all programs of five steps on six levels take half of it.
constexpr Index kMostKept = Index(1) << 23;

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
    const Index most = kMostKept / static_cast<Index>(states.size());
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
