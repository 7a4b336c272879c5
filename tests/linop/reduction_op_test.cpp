// SPDX-License-Identifier: BSD-2-Clause
// Reduction programs on ranks: every program of one and two levels, and some of three, gives the
// sum of all contributions, which MPI_Allreduce finds too; is its own adjoint; and ends with equal
// copies.
#include "linop/collectives/reduction_op.hpp"

#include "linop/algebra/adjoint_test.hpp"
#include "linop/operators.hpp"
#include "placement/synthesis.hpp"
#include "sys/expect_error.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace tenon {
namespace {

using test::onLine;
using test::world;

constexpr Transport kTransports[] = {Transport::Messages, Transport::Shared};

// A summation in one step costs next to nothing but bytes, or next to nothing but rounds.
constexpr LinkRates kBytesCost{
    .latency = 1e-30, .overhead = 1e-30, .bandwidth = 1, .copyBandwidth = 1};
constexpr LinkRates kRoundsCost{
    .latency = 1, .overhead = 1, .bandwidth = 1e30, .copyBandwidth = 1e30};

// All hierarchies of so many devices: ordered factors above 1.
std::vector<Hierarchy> hierarchiesOf(Index devices, int mostLevels) {
  std::vector<Hierarchy> all;
  if (devices == 1)
    all.emplace_back();
  for (Index first = 2; first <= devices && mostLevels > 0; ++first)
    if (devices % first == 0)
      for (Hierarchy rest : hierarchiesOf(devices / first, mostLevels - 1)) {
        rest.insert(rest.begin(), first);
        all.push_back(std::move(rest));
      }
  return all;
}

// All programs of up to two levels, and 50 of three.
std::vector<Program> programsOf(const Hierarchy& hierarchy) {
  const auto set = reductionPrograms(static_cast<int>(hierarchy.size()), 5);
  std::vector<Index> chosen(set->count());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (hierarchy.size() > 2) {
    std::mt19937 random(20);
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(50);
  }
  std::vector<Program> programs;
  for (Index index : chosen)
    programs.push_back(set->program(index));
  return programs;
}

// The sum of the ranks' elements, by MPI.
std::vector<double> summed(std::vector<double> elements) {
  MPI_Allreduce(MPI_IN_PLACE, elements.data(), static_cast<int>(elements.size()), MPI_DOUBLE,
                MPI_SUM, MPI_COMM_WORLD);
  return elements;
}

bool allHaveTheSameBits(const std::vector<double>& elements) {
  std::vector<double> first = elements;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int same =
      elements.empty() || std::memcmp(first.data(), elements.data(), elements.size() * 8) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same == 1;
}

void expectSumsOverAllRanks(ReductionOp& op) {
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends ends(op, sense, 1);
    test::act(op, sense, 1, *ends.x, 0, *ends.y);
    ASSERT_EQ(test::elementsOf(*ends.y), summed(test::elementsOf(*ends.x)));
    fillRaw(*ends.x, 5, /*integers=*/false);
    test::act(op, sense, 1, *ends.x, 0, *ends.y);
    ASSERT_TRUE(allHaveTheSameBits(test::elementsOf(*ends.y)));
  }
  const AdjointTestResult result = testAdjoint(op, 3, /*integers=*/true);
  ASSERT_EQ(result.forwardPairing, result.adjointPairing);
}

class ReductionPrograms : public testing::TestWithParam<Transport> {};

TEST_P(ReductionPrograms, SumAndAreTheirOwnAdjoint) {
  const int ranks = world()->size();
  // Since there are many programs, each is tested with two sizes of arrays only: 100, and one that
  // changes from program to program.
  const Index sizes[] = {0, 1, ranks - 1, ranks, 100};
  int turn = 0;
  for (const Hierarchy& hierarchy : hierarchiesOf(ranks, 3))
    for (const Program& program : programsOf(hierarchy)) {
      SCOPED_TRACE(describe(program));
      for (Index elements : {sizes[turn++ % 5], Index(100)}) {
        ReductionOp op(world(), onLine({elements}, "P"), onLine({elements}, "B"), TENON_FLOAT64,
                       {hierarchy, program}, test::by(GetParam()));
        expectSumsOverAllRanks(op);
        if (HasFatalFailure())
          return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(ReductionOp, ReductionPrograms, testing::ValuesIn(kTransports),
                         [](const auto& info) { return transportName(info.param); });

ReductionPlan planOf(const Hierarchy& hierarchy, const char* program) {
  return {hierarchy, parseProgram(program)};
}

// In one level of n members, and none of one.
ReductionPlan scatterAndGather(int members) {
  return members == 1 ? ReductionPlan{}
                      : planOf({members}, "(0, InsideGroup, ReduceScatter), "
                                          "(0, InsideGroup, AllGather)");
}

TEST(ReductionOp, SumsArraysOfAllSizes) {
  const int ranks = world()->size();
  for (Index elements :
       {Index(0), Index(1), Index(ranks - 1), Index(ranks), Index(100), Index(90001)})
    for (Transport transport : kTransports) {
      ReductionOp op(world(), onLine({elements}, "P"), onLine({elements}, "B"), TENON_FLOAT64,
                     scatterAndGather(ranks), test::by(transport));
      expectSumsOverAllRanks(op);
    }
}

TEST(ReductionOp, SumsEveryTypeOfData) {
  const int ranks = world()->size();
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64, TENON_INT64, TENON_INT32}) {
    ReductionOp op(world(), onLine({7, 5}, "P"), onLine({7, 5}, "B"), type,
                   scatterAndGather(ranks));
    const test::Ends ends(op, Sense::Forward, 1);
    op.apply(*ends.x, *ends.y);
    EXPECT_EQ(test::elementsOf(*ends.y), summed(test::elementsOf(*ends.x)));
  }
}

TEST(ReductionOp, AnAllReduceInTwoStepsGivesTheSameBits) {
  const int ranks = world()->size();
  if (ranks < 3)
    GTEST_SKIP() << "two members always sum in one step";
  const Layout from = onLine({1009}, "P"), to = onLine({1009}, "B");
  ReductionPlan plan = planOf({ranks}, "(0, InsideGroup, AllReduce)");
  plan.rates = kRoundsCost;
  ReductionOp one(world(), from, to, TENON_FLOAT64, plan);
  plan.rates = kBytesCost;
  ReductionOp two(world(), from, to, TENON_FLOAT64, plan);
  EXPECT_EQ(one.describe().find(" as ReduceScatter"), std::string::npos) << one.describe();
  EXPECT_NE(two.describe().find(" as ReduceScatter"), std::string::npos) << two.describe();
  const test::Ends a(one, Sense::Forward, 1), b(two, Sense::Forward, 1);
  fillRaw(*a.x, 7, /*integers=*/false);
  fillRaw(*b.x, 7, /*integers=*/false);
  one.apply(*a.x, *a.y);
  two.apply(*b.x, *b.y);
  EXPECT_EQ(test::elementsOf(*a.y), test::elementsOf(*b.y));
  expectSumsOverAllRanks(two);
}

// Every program of every hierarchy, at rates for which an AllReduce of three or more members is cut
// into a ReduceScatter and an AllGather.
TEST(ReductionOp, ProgramsOfTwoStepSumsAreRight) {
  for (const Hierarchy& hierarchy : hierarchiesOf(world()->size(), 2))
    for (const Program& program : programsOf(hierarchy)) {
      SCOPED_TRACE(describe(program));
      ReductionOp op(world(), onLine({101}, "P"), onLine({101}, "B"), TENON_FLOAT64,
                     {hierarchy, program, kBytesCost}, test::by(Transport::Messages));
      expectSumsOverAllRanks(op);
      if (HasFatalFailure())
        return;
    }
}

// Against the conversion, whose sums are exact on integers too.
void expectAsTheConversion(const Layout& from, const Layout& to, const ReductionPlan& plan) {
  Conversion expected(world(), from, to, TENON_FLOAT64, test::by(Transport::Messages));
  for (Transport transport : kTransports) {
    ReductionOp op(world(), from, to, TENON_FLOAT64, plan, test::by(transport));
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const test::Ends there(expected, sense, 1), here(op, sense, 1);
      for (double beta : {0.0, 3.0}) {
        test::act(expected, sense, 2, *there.x, beta, *there.y);
        test::act(op, sense, 2, *here.x, beta, *here.y);
        ASSERT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y));
      }
    }
  }
}

TEST(ReductionOp, SumsOverSomeAxesOfAGrid) {
  const int ranks = world()->size();
  if (ranks % 2 != 0)
    GTEST_SKIP() << "the grid has two rows";
  const int half = ranks / 2;
  std::vector<int> backwards(ranks);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  for (const GridPtr& grid : {Grid::make({2, half}), Grid::make({2, half}, backwards)}) {
    const auto on = [&](const char* properties) {
      return test::layoutOn(grid, {2 * half - 1, 3}, properties);
    };
    for (const char* other : {"S0", "B", "P", "R"}) {
      SCOPED_TRACE(other);
      const std::string rest = std::string(",") + other;
      expectAsTheConversion(on(("P" + rest).c_str()), on(("B" + rest).c_str()),
                            scatterAndGather(2));
    }
    expectAsTheConversion(on("S0,P"), on("S0,B"), scatterAndGather(half));
    const ReductionPlan both =
        half == 1 ? scatterAndGather(2)
                  : planOf({2, half}, "(1, InsideGroup, ReduceScatter), (1, Parallel(0), "
                                      "AllReduce), (1, InsideGroup, AllGather)");
    expectAsTheConversion(on("P,P"), on("B,B"), both);
  }
}

TEST(ReductionOp, LeavesEmptyPartsAndInactiveRanksAlone) {
  const int ranks = world()->size();
  if (ranks % 2 == 0)
    expectAsTheConversion(test::layoutOn(Grid::make({2, ranks / 2}), {1, 3}, "P,S0"),
                          test::layoutOn(Grid::make({2, ranks / 2}), {1, 3}, "B,S0"),
                          scatterAndGather(2));
  if (ranks > 1) {
    const GridPtr fewer = Grid::make({ranks - 1});
    expectAsTheConversion(test::layoutOn(fewer, {5, 3}, "P"), test::layoutOn(fewer, {5, 3}, "B"),
                          scatterAndGather(ranks - 1));
  }
}

TEST(ReductionOp, TakesArraysOfAnyStrides) {
  const Layout from = onLine({5, 4}, "P"), to = onLine({5, 4}, "B");
  ReductionOp op(world(), from, to, TENON_FLOAT64, scatterAndGather(world()->size()));
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends plain(op, sense, 1), strided(op, sense, 1);
    std::vector<double> memory[2];
    for (int i = 0; i < 2; ++i) {
      DTensor& tensor = i == 0 ? *strided.x : *strided.y;
      memory[i].assign(7 * 6, -1);
      // Column-major, with a ghost cell on each side: 7 x 6 elements, the first owned one at (1,
      // 1).
      tensor.placeArray(&memory[i][1 + 7], {1, 7}, {1, 1}, {1, 1}, /*readOnly=*/false);
    }
    axpby(1, *plain.x, 0, *strided.x);
    for (int round = 0; round < 2; ++round) {
      test::act(op, sense, 1, *plain.x, 0, *plain.y);
      op.begin(sense, 1, *strided.x, 0, *strided.y);
      op.end(sense);
      DTensor copy(world(), strided.y->layout(), TENON_FLOAT64);
      axpby(1, *strided.y, 0, copy);
      EXPECT_EQ(test::elementsOf(copy), test::elementsOf(*plain.y));
      EXPECT_EQ(memory[1][0], -1);
    }
  }
}

// Another operator begins before this one has ended, and ends after it.
TEST(ReductionOp, GoesOnBesideOthers) {
  const Layout from = onLine({301}, "P"), to = onLine({301}, "B");
  ReductionOp one(world(), from, to, TENON_FLOAT64, scatterAndGather(world()->size()));
  Conversion two(world(), onLine({31}, "S0"), onLine({31}, "B"), TENON_FLOAT64, {});
  const test::Ends a(one, Sense::Forward, 1), b(two, Sense::Forward, 3);
  for (int round = 0; round < 3; ++round) {
    one.begin(Sense::Forward, 1, *a.x, 0, *a.y);
    two.begin(Sense::Forward, 1, *b.x, 0, *b.y);
    one.end(Sense::Forward);
    two.end(Sense::Forward);
    EXPECT_EQ(test::elementsOf(*a.y), summed(test::elementsOf(*a.x)));
  }
}

// Each of the three steps sends one message of 4 of the 8 elements, 32 bytes: half of the array in
// the ReduceScatter and the AllGather of two ranks, and in between this rank's chunk of 4.
TEST(ReductionOp, PrintsItsProgramWithMessagesAndBytes) {
  if (world()->size() != 4)
    GTEST_SKIP() << "the numbers are those of 4 ranks";
  ReductionOp op(world(), onLine({8}, "P"), onLine({8}, "B"), TENON_FLOAT64,
                 planOf({2, 2}, "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), "
                                "(1, InsideGroup, AllGather)"));
  for (const char* part :
       {"the hierarchy [2,2]", "sends 3 messages, 96 B", "(1, InsideGroup, ReduceScatter): rank ",
        "(1, Parallel(0), AllReduce): rank ", "(1, InsideGroup, AllGather): rank ",
        "sends 1 message, 32 B"})
    EXPECT_NE(op.describe().find(part), std::string::npos) << part << "\n" << op.describe();
}

void expectRefused(TenonErrorCode code, std::initializer_list<const char*> parts,
                   const ReductionPlan& plan, const char* from = "P", const char* to = "B") {
  expectError(code, parts, [&] {
    ReductionOp(world(), onLine({9}, from), onLine({9}, to), TENON_FLOAT64, plan);
  });
}

TEST(ReductionOp, RefusesWhatDoesNotReduce) {
  const int ranks = world()->size();
  if (ranks == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  expectRefused(TENON_ERR_ARG,
                {"does not leave the whole sum", "device 0 is left with 1 of 2 chunks"},
                planOf({ranks}, "(0, InsideGroup, ReduceScatter)"));
  if (ranks == 4)
    expectRefused(TENON_ERR_ARG,
                  {"device 0 is left with 4 of 4 chunks, and with 2 of 4 contributions in chunk 0"},
                  planOf({2, 2}, "(1, InsideGroup, AllReduce)"));
  expectRefused(TENON_ERR_ARG, {"step 2", "AllReduce", "is not possible"},
                planOf({ranks}, "(0, InsideGroup, AllReduce), (0, InsideGroup, AllReduce)"));
  expectRefused(TENON_ERR_ARG, {"does not match", "level sizes >= 2"},
                planOf({ranks + 1}, "(0, InsideGroup, AllReduce)"));
  expectRefused(TENON_ERR_ARG, {"does not match", "level sizes >= 2"},
                planOf({ranks, 1}, "(0, InsideGroup, AllReduce)"));
  expectRefused(TENON_ERR_LAYOUT, {"P -> B"}, scatterAndGather(ranks), "P", "S0");
  ReductionPlan shares = scatterAndGather(ranks);
  shares.goal = SumGoal::Share;
  expectRefused(TENON_ERR_ARG, {"does not leave one chunk"}, shares, "P", "S0");
  expectRefused(TENON_ERR_LAYOUT, {"P -> S or S -> B"}, shares, "P", "R");
  expectRefused(TENON_ERR_LAYOUT, {"P -> B"}, scatterAndGather(ranks), "B", "B");
}

TEST(ReductionOp, TellsRanksThatDiffer) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  expectRefused(TENON_ERR_COLLECTIVE, {"the program of a reduction"},
                world()->rank() == 1 ? scatterAndGather(world()->size())
                                     : planOf({world()->size()}, "(0, InsideGroup, AllReduce)"));
  expectRefused(TENON_ERR_ARG, {"rank 1", "does not leave the whole sum"},
                world()->rank() == 1 ? planOf({world()->size()}, "(0, InsideGroup, ReduceScatter)")
                                     : scatterAndGather(world()->size()));
}

} // namespace
} // namespace tenon
