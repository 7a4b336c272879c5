// SPDX-License-Identifier: BSD-2-Clause
// Where reduction groups stand in a machine of levels, and conversions that sum by a program.
#include "linop/reduction_policy.hpp"

#include "operators.hpp"
#include "sys/expect_error.hpp"
#include "sys/options.hpp"

namespace tenon {
namespace {

using test::onLine;
using test::world;

TEST(ReductionHierarchy, HasTheLevelsThatTheAxesSpan) {
  const MeshPtr mesh = Mesh::make({2, 4});
  EXPECT_EQ(reductionHierarchy(*mesh, {0}, {2, 4}), Hierarchy{2});
  EXPECT_EQ(reductionHierarchy(*mesh, {1}, {2, 4}), Hierarchy{4});
  EXPECT_EQ(reductionHierarchy(*mesh, {0, 1}, {2, 4}), (Hierarchy{2, 4}));
  EXPECT_EQ(reductionHierarchy(*mesh, {1}, {2, 2, 2}), (Hierarchy{2, 2}));
  EXPECT_EQ(reductionHierarchy(*mesh, {1}, {4, 2}), (Hierarchy{2, 2}));
  EXPECT_EQ(reductionHierarchy(*mesh, {0, 1}, {8}), Hierarchy{8});
  EXPECT_EQ(reductionHierarchy(*mesh, {0, 1}, {1, 8, 1}), Hierarchy{8});
  EXPECT_EQ(reductionHierarchy(*Mesh::make({1, 3}), {0}, {3}), Hierarchy{});
}

// Ranks 0 2 4 6 in the first row, 1 3 5 7 in the second.
TEST(ReductionHierarchy, FollowsTheRanksOfTheMesh) {
  const MeshPtr mesh = Mesh::make({2, 4}, {0, 2, 4, 6, 1, 3, 5, 7});
  EXPECT_EQ(reductionHierarchy(*mesh, {0}, {2, 4}), Hierarchy{2});
  EXPECT_EQ(reductionHierarchy(*mesh, {1}, {2, 4}), (Hierarchy{2, 2}));
}

// A machine of which the mesh takes a part.
TEST(ReductionHierarchy, TakesAPartOfTheMachine) {
  EXPECT_EQ(reductionHierarchy(*Mesh::make({4}, {1, 3, 9, 11}), {0}, {2, 8}), (Hierarchy{2, 2}));
}

TEST(ReductionHierarchy, NamesTheRanksThatBreakIt) {
  expectError(TENON_ERR_ARG, {"ranks 0,1,2 ", "[2,2]", "2,2 places", "TenonPartitionCreatePlaced"},
              [] {
                reductionHierarchy(*Mesh::make({3}), {0}, {2, 2});
              });
  expectError(TENON_ERR_ARG, {"ranks 0,3 "}, [] {
    reductionHierarchy(*Mesh::make({2, 2}, {0, 3, 1, 2}), {1}, {2, 2});
  });
  expectError(TENON_ERR_ARG, {"ranks 0,1 ", "ranks 2,6 ", "all groups must be alike"}, [] {
    reductionHierarchy(*Mesh::make({2, 2}, {0, 1, 2, 6}), {1}, {2, 2, 2});
  });
  expectError(TENON_ERR_ARG, {"[2,2]", "4 places", "rank 4", "-tenon_machine_levels"}, [] {
    reductionHierarchy(*Mesh::make({5}), {0}, {2, 2});
  });
}

// The options of sums, back to their defaults at the end.
class ByOption : public testing::Test {
protected:
  ~ByOption() override { set("mpi", ""); }
  static void set(const char* program, const char* levels) {
    options().set("-tenon_reduction", program);
    options().set("-tenon_machine_levels", levels);
  }
  static std::string twoLevels() { return "2," + std::to_string(world()->size() / 2); }
};

constexpr const char* kScatterAndGather =
    "(0, InsideGroup, ReduceScatter), (0, InsideGroup, AllGather)";
constexpr const char* kTwoLevels = "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), "
                                   "(1, InsideGroup, AllGather)";

// Of the best program, as a view tells it.
double predictedMicroseconds(const std::string& view) {
  const std::string mark = "program is predicted at ";
  return std::stod(view.substr(view.find(mark) + mark.size()));
}

void expectTheSameSums(const Layout& from, const Layout& to, const char* word) {
  Conversion expected(world(), from, to, TENON_FLOAT64, RoutePolicy::exchange());
  Conversion op(world(), from, to, TENON_FLOAT64);
  EXPECT_NE(op.describe().find(word), std::string::npos) << op.describe();
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends there(expected, sense, 1), here(op, sense, 1);
    test::act(expected, sense, 2, *there.x, 3, *there.y);
    test::act(op, sense, 2, *here.x, 3, *here.y);
    EXPECT_EQ(test::cellsOf(*here.y), test::cellsOf(*there.y));
  }
}

TEST_F(ByOption, ConversionsSumByTheProgram) {
  const int ranks = world()->size();
  if (ranks == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  const Layout p = onLine({13, 3}, "P"), b = onLine({13, 3}, "B"), s = onLine({13, 3}, "S0");
  set(kScatterAndGather, "");
  expectTheSameSums(p, b, "\n  (0, InsideGroup, ReduceScatter): ");
  expectTheSameSums(p, s, "in one exchange");
  if (ranks % 2 == 0 && ranks > 2) {
    set(kTwoLevels, twoLevels().c_str());
    expectTheSameSums(p, b, "by a program on the hierarchy [2,");
  }
}

TEST_F(ByOption, AnAxisOfOneRankHasNothingToSum) {
  const MeshPtr mesh = Mesh::make({1, world()->size()});
  set(kScatterAndGather, "");
  expectTheSameSums(test::layoutOn(mesh, {9}, "P,S0"), test::layoutOn(mesh, {9}, "B,S0"),
                    "in one exchange");
}

TEST_F(ByOption, TrafficIsThatOfTheProgram) {
  if (world()->size() != 2)
    GTEST_SKIP() << "the numbers are those of 2 ranks";
  set(kScatterAndGather, "");
  const Conversion op(world(), onLine({10}, "P"), onLine({10}, "B"), TENON_FLOAT64);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(op.trafficOf(rank).messages, 2);
    EXPECT_EQ(op.trafficOf(rank).cells, 10);
  }
}

TEST_F(ByOption, AutoNeedsRates) {
  set("auto", "");
  expectTheSameSums(onLine({13}, "P"), onLine({13}, "B"),
                    world()->size() == 1 ? "in one exchange" : "as mpi, since no rates are given");
}

// With rounds for nothing and bytes dear, two steps of shares beat one exchange of the whole.
TEST_F(ByOption, AutoTakesTheCheapest) {
  const int ranks = world()->size();
  if (ranks < 4)
    GTEST_SKIP() << "few ranks gain little";
  const Layout p = onLine({1000}, "P"), b = onLine({1000}, "B");
  set("auto", "");
  const LinkRates bytes{.latency = 1e-9, .overhead = 1e-9, .bandwidth = 1e6, .copyBandwidth = 1e12};
  const Conversion cheap(world(), p, b, TENON_FLOAT64,
                         RoutePolicy{.mode = RouteMode::Auto, .rates = bytes});
  EXPECT_NE(cheap.describe().find("-tenon_reduction auto: "), std::string::npos)
      << cheap.describe();
  // 2 (n-1)/n of 8000 bytes at 1e6 a second; the rest is below a percent.
  const double expected = 2.0 * (ranks - 1) / ranks * 8000;
  EXPECT_NEAR(predictedMicroseconds(cheap.describe()), expected, 0.01 * expected);
}

void expectRefused(TenonErrorCode code, std::initializer_list<const char*> parts) {
  expectError(code, parts,
              [] { Conversion(world(), onLine({9}, "P"), onLine({9}, "B"), TENON_FLOAT64); });
}

TEST_F(ByOption, BadProgramsAndLevelsAreRefused) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  set("(0, InsideGroup, AllReduc)", "");
  expectRefused(TENON_ERR_ARG, {"AllReduc", "at byte 17"});
  set("(0, InsideGroup, ReduceScatter)", "");
  expectRefused(TENON_ERR_ARG, {"does not end with the whole sum", "is left with"});
  set(kScatterAndGather, "2,x");
  expectRefused(TENON_ERR_ARG, {"-tenon_machine_levels is '2,x'", "byte 2"});
  set(kScatterAndGather, "2,");
  expectRefused(TENON_ERR_ARG, {"-tenon_machine_levels is '2,'"});
  set(kScatterAndGather, "1,1");
  expectRefused(TENON_ERR_ARG, {"1 places", "rank 1"});
}

TEST_F(ByOption, RanksThatDifferAreTold) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  set(world()->rank() == 0 ? kScatterAndGather : "(0, InsideGroup, AllReduce)", "");
  expectRefused(TENON_ERR_COLLECTIVE, {"the reduction of a conversion"});
}

} // namespace
} // namespace tenon
