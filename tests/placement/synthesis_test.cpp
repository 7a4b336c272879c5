// SPDX-License-Identifier: BSD-2-Clause
// Tests the synthesis of reduction programs (sequences of collectives in groups of devices that sum
// over all devices of a hierarchy), the check of programs, and the chunks of data that devices hold
// in them. The numbers of programs on one and two levels are those printed in the paper (Xie et
// al., cited in reduction/collective_rule.hpp), on more levels those of an independent
// implementation. Each program is also executed by the rules of the collectives on all devices
// (full_system.hpp).
#include "placement/full_system.hpp"
#include "reduction/holdings.hpp"
#include "reduction/sum_plan.hpp"
#include "sys/errors/error.hpp"

#include <numeric>
#include <set>

namespace tenon {
namespace {

using Counts = std::vector<Index>;

Counts countsBySize(const ProgramSet& programs) {
  Counts counts;
  for (int size = 1; size <= programs.sizeLimit(); ++size)
    counts.push_back(programs.countOfSize(size));
  return counts;
}

// Synthesises on the hierarchy itself; reductionPrograms() uses levels of two devices instead.
ProgramSet direct(const Hierarchy& hierarchy, int sizeLimit) {
  const int devices = deviceCount(hierarchy);
  std::vector<int> all(devices);
  std::iota(all.begin(), all.end(), 0);
  return ProgramSet(devices, movesOf(hierarchy), {all}, sizeLimit);
}

std::vector<std::string> texts(const ProgramSet& programs) {
  std::vector<std::string> all;
  for (Index i = 0; i < programs.count(); ++i)
    all.push_back(describe(programs.program(i)));
  return all;
}

// Numbers of programs of 1, 2, 3, ... instructions.
TEST(Synthesis, NumbersOfProgramsBySize) {
  EXPECT_EQ(countsBySize(*reductionPrograms(0, 5)), (Counts{0, 0, 0, 0, 0}));
  EXPECT_EQ(countsBySize(*reductionPrograms(1, 5)), (Counts{1, 2, 0, 0, 0}));
  EXPECT_EQ(countsBySize(*reductionPrograms(2, 8)), (Counts{1, 4, 20, 22, 0, 0, 0, 0}));
  EXPECT_EQ(countsBySize(*reductionPrograms(3, 8)), (Counts{1, 6, 50, 205, 563, 537, 0, 0}));
  EXPECT_EQ(countsBySize(*reductionPrograms(4, 6)), (Counts{1, 8, 90, 609, 3259, 11941}));
}

TEST(Synthesis, ALimitCutsTheLongerPrograms) {
  for (int limit = 1; limit <= 6; ++limit) {
    const std::vector<std::string> all = texts(*reductionPrograms(3, 6));
    const std::vector<std::string> some = texts(*reductionPrograms(3, limit));
    EXPECT_EQ(some, std::vector<std::string>(all.begin(), all.begin() + some.size()));
  }
}

TEST(Synthesis, OneLevelHasThreePrograms) {
  EXPECT_EQ(
      texts(*reductionPrograms(1, 5)),
      (std::vector<std::string>{"(0, InsideGroup, AllReduce)",
                                "(0, InsideGroup, ReduceScatter), (0, InsideGroup, AllGather)",
                                "(0, InsideGroup, Reduce), (0, InsideGroup, Broadcast)"}));
}

TEST(Synthesis, TwoLevelsHaveTheProgramsOfThePaper) {
  const std::vector<std::string> all = texts(*reductionPrograms(2, 5));
  const std::set<std::string> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  // Figures 3 and 10, and the one that needs no Master.
  for (const char* text :
       {"(0, InsideGroup, AllReduce)", "(1, InsideGroup, AllReduce), (1, Parallel(0), AllReduce)",
        "(1, InsideGroup, Reduce), (1, Master(0), AllReduce), (1, InsideGroup, Broadcast)",
        "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1, InsideGroup, AllGather)",
        "(1, InsideGroup, ReduceScatter), (1, Parallel(0), ReduceScatter), "
        "(1, Parallel(0), AllGather), (1, InsideGroup, AllGather)"})
    EXPECT_EQ(distinct.count(text), 1u) << text;
}

TEST(Synthesis, RealSizesGiveTheProgramsOfLevelsOfTwo) {
  for (const Hierarchy& hierarchy :
       {Hierarchy{7}, {2, 16}, {16, 4}, {3, 5}, {2, 3, 4}, {5, 2, 3}, {3, 2, 2, 2}, {2, 2, 3, 2}})
    EXPECT_EQ(texts(direct(hierarchy, 5)),
              texts(*reductionPrograms(static_cast<int>(hierarchy.size()), 5)));
  EXPECT_EQ(texts(direct({2, 3, 2}, 7)), texts(*reductionPrograms(3, 7)));
}

TEST(Synthesis, LevelsOfOneAddNothing) {
  for (const Hierarchy& hierarchy : {Hierarchy{1, 2, 3}, {2, 1, 3}, {2, 3, 1}, {1, 2, 1, 3, 1}})
    EXPECT_EQ(countsBySize(direct(hierarchy, 5)), (Counts{1, 4, 20, 22, 0}));
  EXPECT_EQ(direct({1, 1}, 5).count(), 0);
}

TEST(Synthesis, EveryProgramReducesOnTheWholeSystem) {
  // The sizes of the machine's levels, those of the axes, and the axes over which is summed.
  using Case = std::tuple<Hierarchy, Hierarchy, std::vector<int>>;
  for (const auto& [system, axes, reduce] : {Case{{2, 4, 8}, {64}, {0}},
                                             {{4, 2, 4}, {4, 8}, {1}},
                                             {{2, 3, 5}, {6, 5}, {0}},
                                             {{3, 7}, {7, 3}, {0}},
                                             {{2, 2, 3}, {2, 3, 2}, {0, 2}},
                                             {{2, 2, 2, 2}, {16}, {0}},
                                             {{2, 2, 2, 2}, {4, 2, 2}, {2, 0}},
                                             {{13}, {13}, {0}}})
    for (const Placement& placement : placementsOf(system, axes)) {
      test::FullSystem whole(placement, reduce);
      const auto programs = reductionPrograms(static_cast<int>(whole.hierarchy().size()), 5);
      for (Index i = 0; i < programs->count(); ++i)
        ASSERT_TRUE(whole.reduces(programs->program(i))) << describe(programs->program(i));
    }
}

TEST(Synthesis, TheWholeSystemTellsAWrongProgram) {
  const Placement placement({{2, 2}, {1, 2}});
  test::FullSystem whole(placement, {0});
  EXPECT_TRUE(whole.reduces(parseProgram("(0, InsideGroup, AllReduce)")));
  for (const char* wrong : {"", "(1, InsideGroup, AllReduce)", "(0, InsideGroup, Reduce)",
                            "(0, InsideGroup, AllReduce), (1, InsideGroup, AllReduce)",
                            "(1, InsideGroup, Reduce), (1, Parallel(0), AllReduce)"})
    EXPECT_FALSE(whole.reduces(parseProgram(wrong))) << wrong;
}

TEST(Synthesis, AProgramOfAUsersIsChecked) {
  for (Index i = 0; i < reductionPrograms(3, 6)->count(); ++i)
    EXPECT_NO_THROW(checkReduces(reductionPrograms(3, 6)->program(i), 3));
  EXPECT_NO_THROW(checkReduces({}, 0));
  const auto refused = [](const char* text, int levels, const char* reason) {
    try {
      checkReduces(parseProgram(text), levels);
      ADD_FAILURE() << text << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_ARG);
      EXPECT_NE(error.text().find(reason), std::string::npos) << error.text();
    }
  };
  refused("(1, InsideGroup, AllReduce)", 2, "does not leave the whole sum");
  refused("(0, InsideGroup, AllReduce), (1, InsideGroup, Reduce)", 2, "step 2");
  refused("(0, InsideGroup, AllReduce), (1, InsideGroup, Reduce)", 2, "added twice");
  refused("(2, InsideGroup, AllReduce)", 2, "one device");
  refused("(3, InsideGroup, AllReduce)", 2, "levels 0 (the root) to 2");
}

TEST(Synthesis, RefusesBadLimitsAndNumbers) {
  EXPECT_THROW(direct({2}, 0), Error);
  EXPECT_THROW(reductionPrograms(9, 5), Error);
  EXPECT_THROW(reductionPrograms(-1, 5), Error);
  const auto programs = reductionPrograms(2, 5);
  EXPECT_THROW(programs->program(-1), Error);
  EXPECT_THROW(programs->program(47), Error);
  EXPECT_EQ(programs->countOfSize(0), 0);
  EXPECT_EQ(programs->countOfSize(6), 0);
}

// Holdings track only which rows (chunks) a device has; the states also track contributions.
TEST(Holdings, AreTheRowsOfTheStates) {
  for (const Hierarchy& hierarchy : {Hierarchy{6}, {2, 3}, {3, 4}, {2, 3, 2}}) {
    const int devices = deviceCount(hierarchy);
    const auto programs = reductionPrograms(static_cast<int>(hierarchy.size()), 4);
    for (Index i = 0; i < programs->count(); ++i) {
      DeviceStates states = initialStates(devices);
      Holdings held = initialHoldings(devices);
      for (const Instruction& step : programs->program(i)) {
        const DeviceGroups groups = groupsOf(hierarchy, step);
        ASSERT_EQ(applyToGroups(step.collective, groups, states), Refusal::None);
        held = holdingsAfter(step.collective, groups, held);
        for (int device = 0; device < devices; ++device) {
          ASSERT_EQ(rowsIn(held[device]), states[device].heldRows());
          for (const RowRange& range : held[device])
            for (int row = range.begin; row < range.end; ++row)
              ASSERT_TRUE(states[device].holds(row));
        }
      }
      ASSERT_EQ(held, initialHoldings(devices));
    }
  }
}

// Compares the rows of single devices (FollowedHoldings) with those of all devices, step by step.
void expectFollowed(const Hierarchy& hierarchy, const Program& program, bool firstKeeps) {
  const int devices = deviceCount(hierarchy);
  FollowedHoldings followed(hierarchy, program, firstKeeps);
  Holdings held = initialHoldings(devices);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const CollectiveKind kind = program[i].collective;
    const DeviceGroups groups = groupsOf(hierarchy, program[i]);
    held = holdingsAfter(kind, groups, held);
    for (const std::vector<int>& group : groups)
      for (std::size_t j = 0; j < group.size(); ++j) {
        ASSERT_EQ(groupOf(hierarchy, program[i], group[j]), group);
        if (firstKeeps && kind != CollectiveKind::ReduceScatter && j > 0)
          held[group[j]].clear();
      }
    for (int device = 0; device < devices; ++device)
      ASSERT_EQ(followed.before(i + 1, device), held[device])
          << describe(program) << ", device " << device << " after step " << i;
  }
}

// For all programs of small hierarchies and, for each goal of a sum, for the programs that are
// chosen by price.
TEST(FollowedHoldings, AreThoseOfAllDevices) {
  for (const Hierarchy& hierarchy : {Hierarchy{6}, {2, 3}, {2, 3, 2}, {2, 2, 3, 2}}) {
    const int levels = static_cast<int>(hierarchy.size());
    const auto programs = reductionPrograms(levels, levels < 3 ? 5 : levels < 4 ? 4 : 3);
    for (Index i = 0; i < programs->count(); ++i)
      expectFollowed(hierarchy, programs->program(i), false);
  }
  for (const Hierarchy& nodes : {Hierarchy{4, 8}, {6, 2}, {3, 4}, {16, 4}})
    for (const double bytes : {8.0, 1e4, 1e8})
      for (const SumGoal goal : {SumGoal::All, SumGoal::Share, SumGoal::First}) {
        const CheapestSum best = cheapestSum(nodes, bytes, withAssumedNodes({}, nodes), goal);
        expectFollowed(best.hierarchy, best.program, goal == SumGoal::First);
      }
}

} // namespace
} // namespace tenon
