// SPDX-License-Identifier: BSD-2-Clause
// Tests the planner of reductions on all 42 cases that its paper prints (Xie et al., cited in
// reduction/collective_rule.hpp; the numbers are in tests/data/paper_reductions.json): the
// parallelism matrices, the hierarchies, the numbers of programs by size, and that each program,
// executed on the states of all devices of the system, computes the sum.
#include "placement/full_system.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tenon {
namespace {

using nlohmann::json;
using Sizes = std::vector<Index>;

json cases() {
  std::ifstream file(TENON_TEST_DATA "/paper_reductions.json");
  return json::parse(file).at("cases");
}

TEST(PaperCases, MatricesHierarchiesAndNumbersOfPrograms) {
  const json all = cases();
  ASSERT_EQ(all.size(), 42u);
  for (const json& one : all) {
    const auto placements = placementsOf(one["system"].get<Sizes>(), one["axes"].get<Sizes>());
    const auto reduce = one["reduce"].get<std::vector<int>>();
    ASSERT_EQ(placements.size(), one["matrices"].size()) << one;
    Index total = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const json& expected = one["matrices"][i];
      EXPECT_EQ(json(placements[i].matrix()), expected["matrix"]);
      const Hierarchy hierarchy = placements[i].reductionHierarchy(reduce);
      EXPECT_EQ(json(hierarchy), expected["hierarchy"]);
      const auto programs = reductionPrograms(static_cast<int>(hierarchy.size()), 5);
      Sizes bySize;
      for (int size = 1; size <= 5; ++size)
        bySize.push_back(programs->countOfSize(size));
      EXPECT_EQ(json(bySize), expected["programs_by_size"]);
      total += programs->count();
    }
    EXPECT_EQ(total, one["total"].get<Index>()) << one;
  }
}

TEST(PaperCases, EveryProgramReducesOnTheWholeSystem) {
  for (const json& one : cases())
    for (const Placement& placement :
         placementsOf(one["system"].get<Sizes>(), one["axes"].get<Sizes>())) {
      test::FullSystem system(placement, one["reduce"].get<std::vector<int>>());
      const auto programs = reductionPrograms(static_cast<int>(system.hierarchy().size()), 5);
      for (Index i = 0; i < programs->count(); ++i)
        ASSERT_TRUE(system.reduces(programs->program(i)))
            << describe(programs->program(i)) << " of " << one;
    }
}

} // namespace
} // namespace tenon
