// SPDX-License-Identifier: BSD-2-Clause
// Compares the four hierarchies on which reduction programs can be synthesised (Section 3.4 of the
// paper cited in reduction/collective_rule.hpp): (a) the system's levels, (b) the factors of the
// parallelism matrix level by level, (c) axis by axis, and (d) those of the reduction axes only,
// which the library uses. On (a) to (c) programs are synthesised on all devices. Two programs are
// equal if they form the same groups of devices, step by step.
//
// Theorem 3.2 of the paper says that each has all programs of the next: (d) >= (c) >= (b) >= (a).
// This is true without instructions of the form Master. With them, (c) >= (b) is false if an axis
// that is not reduced follows the reduction axis in the matrix: on (c), Master then acts in the
// first part of that axis only. (The third case of the proof, Lemma B.7, is about Parallel only.)
// The choice of (d) is right nevertheless: it has all programs of the three others.
#include "placement/placement_list.hpp"
#include "placement/synthesis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tenon {
namespace {

using Matrix = std::vector<std::vector<Index>>;
// One lowered program: for each step the collective and its groups.
using Lowered = std::vector<std::pair<CollectiveKind, DeviceGroups>>;
using LoweredSet = std::set<Lowered>;

enum class WithMaster { No, Yes };

std::vector<Move> allowed(std::vector<Move> moves, WithMaster master) {
  if (master == WithMaster::No)
    std::erase_if(moves, [](const Move& m) { return m.instruction.form == GroupForm::Master; });
  return moves;
}

// At most this many steps in a program.
constexpr int kSizeLimit = 5;

// Returns the programs as groups of devices.
LoweredSet lowered(const ProgramSet& programs, const std::vector<Move>& moves) {
  LoweredSet set;
  for (Index i = 0; i < programs.count(); ++i) {
    Lowered one;
    for (const Instruction& instruction : programs.program(i)) {
      const auto move = std::find_if(moves.begin(), moves.end(),
                                     [&](const Move& m) { return m.instruction == instruction; });
      one.emplace_back(instruction.collective, move->groups);
      std::sort(one.back().second.begin(), one.back().second.end());
    }
    set.insert(one);
  }
  return set;
}

// Programs that are synthesised on all devices of a placement, on a hierarchy. devices[i] is the
// device that has the number i in the hierarchy.
LoweredSet onAllDevices(const Placement& placement, int axis, const Hierarchy& hierarchy,
                        const std::vector<int>& devices, WithMaster master) {
  std::vector<Move> moves = allowed(movesOf(hierarchy), master);
  for (Move& move : moves)
    for (std::vector<int>& group : move.groups)
      for (int& device : group)
        device = devices[device];
  return lowered({placement.devices(), moves, placement.reductionGroups({axis}), kSizeLimit},
                 moves);
}

// Devices in the order of their numbers, that is level by level.
std::vector<int> levelOrder(const Placement& placement) {
  std::vector<int> devices(placement.devices());
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

// Devices in the order of their coordinates, the first axis slowest.
std::vector<int> axisOrder(const Placement& placement) {
  std::vector<int> devices = levelOrder(placement);
  std::sort(devices.begin(), devices.end(),
            [&](int a, int b) { return placement.coordinates(a) < placement.coordinates(b); });
  return devices;
}

// The programs on the hierarchies (a), (b), (c) and (d).
LoweredSet systemPrograms(const Placement& placement, int axis, WithMaster master) {
  return onAllDevices(placement, axis, placement.system(), levelOrder(placement), master);
}

LoweredSet columnPrograms(const Placement& placement, int axis, WithMaster master) {
  Hierarchy hierarchy;
  for (int level = 0; level < placement.levels(); ++level)
    for (const auto& row : placement.matrix())
      hierarchy.push_back(row[level]);
  return onAllDevices(placement, axis, hierarchy, levelOrder(placement), master);
}

LoweredSet rowPrograms(const Placement& placement, int axis, WithMaster master) {
  Hierarchy hierarchy;
  for (const auto& row : placement.matrix())
    hierarchy.insert(hierarchy.end(), row.begin(), row.end());
  return onAllDevices(placement, axis, hierarchy, axisOrder(placement), master);
}

LoweredSet axisPrograms(const Placement& placement, int axis, WithMaster master) {
  const Hierarchy hierarchy = placement.reductionHierarchy({axis});
  std::vector<Move> moves = allowed(movesOf(hierarchy), master);
  const int members = deviceCount(hierarchy);
  std::vector<int> all(members);
  std::iota(all.begin(), all.end(), 0);
  const ProgramSet programs(members, moves, {all}, kSizeLimit);
  for (Move& move : moves)
    move.groups = placement.lowered({axis}, move.groups);
  return lowered(programs, moves);
}

struct Sets {
  LoweredSet a, b, c, d;
  std::vector<std::size_t> sizes() const { return {a.size(), b.size(), c.size(), d.size()}; }
};

Sets setsOf(const Placement& placement, int axis, WithMaster master) {
  return {systemPrograms(placement, axis, master), columnPrograms(placement, axis, master),
          rowPrograms(placement, axis, master), axisPrograms(placement, axis, master)};
}

bool isWithin(const LoweredSet& small, const LoweredSet& large) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

template <class Check>
void forEachReduction(Check check) {
  const std::vector<std::pair<Hierarchy, Hierarchy>> cases{
      {{1, 2, 2, 4}, {4, 4}}, {{1, 2, 2, 4}, {2, 8}}, {{2, 8}, {4, 4}},
      {{2, 8}, {8, 2}},       {{2, 2, 2}, {4, 2}},    {{2, 2, 2}, {2, 4}},
      {{3, 4}, {6, 2}},       {{3, 4}, {3, 4}},       {{2, 6}, {2, 3, 2}}};
  for (const auto& [system, axes] : cases)
    for (const Placement& placement : placementsOf(system, axes))
      for (int axis = 0; axis < placement.axes(); ++axis)
        check(placement, axis);
}

// The numbers of distinct programs on (a), (b), (c) and (d). A reduction over two levels has 47
// programs, over one level 3 (synthesis_test.cpp). (a) has none where the groups of the system's
// levels do not make up those of the reduction.
TEST(Hierarchies, NumbersOfProgramsOfEach) {
  const auto numbers = [](Matrix matrix, int axis) {
    return setsOf(Placement(std::move(matrix)), axis, WithMaster::Yes).sizes();
  };
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(numbers({{1, 1, 2, 2}, {1, 2, 1, 2}}, 0), (Numbers{0, 39, 39, 47}));
  EXPECT_EQ(numbers({{1, 1, 2, 2}, {1, 2, 1, 2}}, 1), (Numbers{0, 26, 47, 47}));
  EXPECT_EQ(numbers({{1, 1, 1, 4}, {1, 2, 2, 1}}, 1), (Numbers{39, 39, 47, 47}));
  EXPECT_EQ(numbers({{1, 2, 1}, {2, 1, 2}}, 1), (Numbers{26, 26, 47, 47}));
  EXPECT_EQ(numbers({{1, 2}, {3, 2}}, 0), (Numbers{0, 3, 3, 3}));
}

TEST(Hierarchies, TheoremWithoutMaster) {
  forEachReduction([](const Placement& placement, int axis) {
    const Sets sets = setsOf(placement, axis, WithMaster::No);
    EXPECT_TRUE(isWithin(sets.a, sets.b));
    EXPECT_TRUE(isWithin(sets.b, sets.c));
    EXPECT_TRUE(isWithin(sets.c, sets.d));
  });
}

TEST(Hierarchies, TheReductionAxesHaveAllProgramsOfTheOthers) {
  forEachReduction([](const Placement& placement, int axis) {
    const Sets sets = setsOf(placement, axis, WithMaster::Yes);
    EXPECT_TRUE(isWithin(sets.a, sets.b));
    EXPECT_TRUE(isWithin(sets.b, sets.d));
    EXPECT_TRUE(isWithin(sets.c, sets.d));
    EXPECT_TRUE(axis < placement.axes() - 1 || isWithin(sets.b, sets.c));
  });
}

TEST(Hierarchies, ACounterexampleWithMaster) {
  const Placement placement(Matrix{{1, 2, 2}, {2, 1, 1}});
  const Sets sets = setsOf(placement, 0, WithMaster::Yes);
  EXPECT_EQ(sets.sizes(), (std::vector<std::size_t>{47, 47, 39, 47}));
  EXPECT_FALSE(isWithin(sets.b, sets.c));
}

} // namespace
} // namespace tenon
