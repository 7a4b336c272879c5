// SPDX-License-Identifier: BSD-2-Clause
// Tests conversions that sum by a reduction program (a sequence of collectives in groups of ranks),
// as the options -tenon_reduction and -tenon_machine_levels request, or as `auto` chooses on a
// machine of two nodes. The results are those of one exchange, which adds all contributions at once
// (exactly, on integers); predicted times are computed here by hand.
#include "geometry/layout/layout_draft.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/operators.hpp"
#include "reduction/sum_plan.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

using test::onLine;
using test::world;

// The file of a machine of two nodes whose network is a tenth as fast as the memory within.
std::string writeMachine(int perNode) {
  int name = getpid();
  MPI_Bcast(&name, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string file = fmt::format("{}tenon_policy_{}.json", testing::TempDir(), name);
  const auto number = [](double value, const char* unit) {
    return fmt::format(R"({{"value": {}, "source": "test"{}}})", value,
                       *unit ? fmt::format(R"(, "unit": "{}")", unit) : "");
  };
  const auto link = [&](const char* name, const char* level, double bandwidth, const char* rule) {
    return fmt::format(
        R"({{"name": "{}", "level": "{}", "bandwidth": {}, "latency": {}, "rules": [{{"groups": "{}"}}]}})",
        name, level, number(bandwidth, "B/s"), number(0, "s"), rule);
  };
  const std::string text = fmt::format(
      R"({{"name": "two nodes", "about": "test", "levels": [{{"name": "node", "size": {}}}, {{"name": "core", "size": {}}}], "links": [{}, {}]}})",
      number(2, ""), number(perNode, ""), link("memory", "core", 1e9, "touching"),
      link("network", "node", 1e8, "leaving"));
  if (world()->rank() == 0)
    std::ofstream(file) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  return file;
}

// The options of sums, back to their defaults at the end.
class ByOption : public testing::Test {
protected:
  ~ByOption() override {
    set("auto", "");
    options().set("-tenon_reduction_order", "levels");
    if (!machineFile_.empty() && world()->rank() == 0)
      std::filesystem::remove(machineFile_);
  }
  static void set(const char* program, const char* levels) {
    options().set("-tenon_reduction", program);
    options().set("-tenon_machine_levels", levels);
    options().set("-tenon_machine_file", "");
  }
  void useMachine(int perNode) {
    machineFile_ = writeMachine(perNode);
    options().set("-tenon_machine_file", machineFile_);
  }
  static std::string twoLevels() { return "2," + std::to_string(world()->size() / 2); }

private:
  std::string machineFile_;
};

constexpr const char* kScatterAndGather =
    "(0, InsideGroup, ReduceScatter), (0, InsideGroup, AllGather)";
constexpr const char* kTwoLevels = "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), "
                                   "(1, InsideGroup, AllGather)";

// The predicted time of the chosen program, which the view of an operator prints.
double predictedMicroseconds(const std::string& view) {
  const std::string mark = "program is predicted at ";
  return std::stod(view.substr(view.find(mark) + mark.size()));
}

// Compares a conversion by the present options with one exchange. Its view must contain the word,
// which tells how the sum is carried out.
void expectTheSameSums(const Layout& from, const Layout& to, const char* word) {
  Conversion expected(world(), from, to, TENON_FLOAT64, CarrierPolicy::fromOptions());
  const LinearOpRef made = makeConversion(world(), from, to, TENON_FLOAT64);
  LinearOp& op = *made;
  EXPECT_NE(op.describe().find(word), std::string::npos) << op.describe();
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends there(expected, sense, 1), here(op, sense, 1);
    test::act(expected, sense, 2, *there.x, 3, *there.y);
    test::act(op, sense, 2, *here.x, 3, *here.y);
    EXPECT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y));
  }
}

TEST_F(ByOption, ConversionsSumByTheProgram) {
  const int ranks = world()->size();
  if (ranks == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  const Layout p = onLine({13, 3}, "P"), b = onLine({13, 3}, "B"), s = onLine({13, 3}, "S0");
  set(kScatterAndGather, "");
  expectTheSameSums(p, b, "\n    (0, InsideGroup, ReduceScatter): ");
  expectTheSameSums(p, s, "one exchange");
  if (ranks % 2 == 0 && ranks > 2) {
    set(kTwoLevels, twoLevels().c_str());
    expectTheSameSums(p, b, "reduction program on the hierarchy [2,");
  }
}

TEST_F(ByOption, AnAxisOfOneRankHasNothingToSum) {
  const GridPtr grid = Grid::make({1, world()->size()});
  set(kScatterAndGather, "");
  expectTheSameSums(test::layoutOn(grid, {9}, "P,S0"), test::layoutOn(grid, {9}, "B,S0"),
                    "one exchange");
}

TEST_F(ByOption, TrafficIsThatOfTheProgram) {
  if (world()->size() != 2)
    GTEST_SKIP() << "the numbers are those of 2 ranks";
  set(kScatterAndGather, "");
  const LinearOpRef op =
      makeConversion(world(), onLine({10}, "P"), onLine({10}, "B"), TENON_FLOAT64);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(op->trafficOf(rank)->messages, 2);
    EXPECT_EQ(op->trafficOf(rank)->elements, 10);
  }
}

LinearOpRef madeBy(const LinkRates& rates, const Layout& from, const Layout& to) {
  return makeConversion(world(), from, to, TENON_FLOAT64,
                        test::by(RoutePolicy{.mode = RouteMode::Auto, .rates = rates}));
}

// Links on which only bytes cost time, 1 us each. On two nodes of n ranks, S bytes are summed in 2
// (n-1)/n S us for the reduce-scatter and the all-gather in each node, and S us between the nodes:
// each rank sends 1/n of the data, at 1/n of the bandwidth of its node's network adapter.
constexpr LinkRates kBytes{
    .latency = 1e-9, .overhead = 1e-9, .bandwidth = 1e6, .copyBandwidth = 1e12};

// Without any option: the nodes are those of the communicator.
TEST_F(ByOption, AutoSumsByLevelsBetweenNodesAlone) {
  const Layout p = onLine({100003}, "P"), b = onLine({100003}, "B");
  const LinearOpRef op = madeBy(kBytes, p, b);
  const int perNode = world()->ranksPerNode();
  ASSERT_GT(perNode, 0);
  if (perNode == world()->size()) {
    EXPECT_EQ(op->describe().find("reduction"), std::string::npos) << op->describe();
    return;
  }
  const std::string last = fmt::format(",{}]: rank", perNode);
  EXPECT_NE(op->describe().find(last), std::string::npos) << op->describe();
  expectTheSameSums(p, b, "-tenon_reduction auto: by a program");
  const Layout s = onLine({100003}, "S0"), r = onLine({100003}, "R");
  for (const auto& [from, to] : {std::pair(p, s), {p, r}, {s, b}, {r, b}})
    EXPECT_NE(madeBy(kBytes, from, to)->describe().find("auto: by a program"), std::string::npos)
        << madeBy(kBytes, from, to)->describe();
}

TEST_F(ByOption, AutoTakesTheCheapest) {
  const int ranks = world()->size(), n = ranks / 2;
  if (ranks % 2 != 0 || ranks == 2)
    GTEST_SKIP() << "two nodes of several ranks";
  const Layout p = onLine({1000}, "P"), b = onLine({1000}, "B");
  set("auto", twoLevels().c_str());
  const LinearOpRef cheap = madeBy(kBytes, p, b);
  EXPECT_NE(cheap->describe().find("-tenon_reduction auto: by a program"), std::string::npos)
      << cheap->describe();
  const double expected = (2.0 * (n - 1) / n + 1) * 8000;
  EXPECT_NEAR(predictedMicroseconds(cheap->describe()), expected, 0.01 * expected);
  options().set("-tenon_reduction_order", "flat");
  const LinearOpRef flat = madeBy(kBytes, p, b);
  options().set("-tenon_reduction_order", "levels");
  EXPECT_EQ(flat->describe().find("reduction"), std::string::npos) << flat->describe();
  set("route", twoLevels().c_str());
  const LinearOpRef route = madeBy(kBytes, p, b);
  EXPECT_EQ(route->describe().find("reduction"), std::string::npos) << route->describe();
}

// A sum that is one step of several goes by its levels as one that is all does.
TEST_F(ByOption, SumsWithinALongerRouteGoByTheirLevels) {
  const int n = world()->size() / 2;
  if (world()->size() != 8)
    GTEST_SKIP() << "fewer ranks take one exchange";
  set("auto", twoLevels().c_str());
  const GridPtr grid = Grid::make({n, 2});
  const Layout from = test::layoutOn(grid, {4000, 8}, "P,S0"),
               to = test::layoutOn(grid, {4000, 8}, "B,S1");
  LinearOpRef op = madeBy(kBytes, from, to);
  const std::string view = op->describe();
  EXPECT_NE(view.find("step 1 of 2"), std::string::npos) << view;
  EXPECT_NE(view.find("auto: by a program"), std::string::npos) << view;
  Conversion expected(world(), from, to, TENON_FLOAT64, CarrierPolicy::fromOptions());
  const test::Ends there(expected, Sense::Forward, 1), here(*op, Sense::Forward, 1);
  test::act(expected, Sense::Forward, 2, *there.x, 3, *there.y);
  test::act(*op, Sense::Forward, 2, *here.x, 3, *here.y);
  EXPECT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y)) << view;
  const AdjointTestResult pairings = testAdjoint(*op, 3, /*integers=*/true);
  EXPECT_EQ(pairings.forwardPairing, pairings.adjointPairing) << view;
}

// A route that is requested is taken, though programs cost less.
TEST_F(ByOption, AutoLeavesOtherRoutesAlone) {
  if (world()->size() % 2 != 0)
    GTEST_SKIP() << "two nodes";
  set("auto", twoLevels().c_str());
  const LinearOpRef op =
      makeConversion(world(), onLine({1000}, "P"), onLine({1000}, "B"), TENON_FLOAT64,
                     test::by(RoutePolicy{.mode = RouteMode::Collective, .rates = kBytes}));
  EXPECT_EQ(op->describe().find("program"), std::string::npos) << op->describe();
}

// S bytes on two nodes of n, by the links of a file: memory at 1e9, a network of 1e8 for each node,
// and copies and overheads at the default rates.
TEST_F(ByOption, AutoPricesTheMachine) {
  const int ranks = world()->size(), n = ranks / 2;
  if (ranks % 2 != 0 || ranks == 2)
    GTEST_SKIP() << "two nodes of several ranks";
  const Index elements = 100000;
  const double bytes = 8.0 * elements, share = 1.0 / n;
  set("auto", "");
  useMachine(n);
  const std::string view =
      makeConversion(world(), onLine({elements}, "P"), onLine({elements}, "B"), TENON_FLOAT64)
          ->describe();
  // In the node, a reduce-scatter and an all-gather, each of which packs S - S/n and writes S;
  // between the nodes, an exchange of S/n, of which a rank packs one and writes two.
  const double inside = 2 * (1 - share) * bytes / 1e9, between = bytes / 1e8;
  const double copies = (2 * (1 - share) + 2 + 3 * share) * bytes / 1e10;
  const double best = (inside + between + copies + (2 * (n - 1) + 1) * 3e-7) * 1e6;
  EXPECT_NEAR(predictedMicroseconds(view), best, 0.01 * best) << view;
  EXPECT_NE(view.find("auto: by a program"), std::string::npos) << view;
  expectTheSameSums(onLine({elements}, "P"), onLine({elements}, "B"),
                    "\n    (1, Parallel(0), AllReduce): ");
}

// Expects the same bits on all ranks that have copies of the same sum. The contributions are reals,
// whose sum depends on the order. Ranks have the same sum if they agree in their coordinates on all
// axes but those that are summed or gathered; these coordinates number the groups.
void expectEqualCopies(LinearOp& op) {
  const test::Ends ends(op, Sense::Forward, 1);
  fillRaw(*ends.x, 11, /*integers=*/false);
  test::act(op, Sense::Forward, 1, *ends.x, 0, *ends.y);
  const Grid& grid = op.range().grid();
  int copies = ends.y->position() < 0 ? MPI_UNDEFINED : 0;
  for (int axis = 0; ends.y->position() >= 0 && axis < grid.axes(); ++axis)
    if (op.domain().property(axis) == op.range().property(axis) ||
        !op.range().property(axis).isBroadcast())
      copies = copies * 16 + grid.coordinate(ends.y->position(), axis) + 1;
  MPI_Comm same = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, copies, 0, &same);
  if (same == MPI_COMM_NULL)
    return;
  const std::vector<double> mine = test::elementsOf(*ends.y);
  std::vector<double> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, same);
  EXPECT_TRUE(mine.empty() || std::memcmp(first.data(), mine.data(), 8 * mine.size()) == 0)
      << op.describe();
  MPI_Comm_free(&same);
}

// A conversion that sums and also redistributes takes several steps between nodes, and one exchange
// within a node; without any option.
TEST_F(ByOption, SumsThatMoveTooGoInSteps) {
  const int ranks = world()->size(), perNode = world()->ranksPerNode();
  if (ranks % 2 != 0)
    GTEST_SKIP() << "the grid has two columns";
  const GridPtr grid = Grid::make({ranks / 2, 2});
  const auto on = [&](const char* properties) {
    return test::layoutOn(grid, {401, 39}, properties);
  };
  LayoutDraft halo(on("B,S1"));
  halo.setHaloWidths(1, 2, 1, Boundary::Zero, Boundary::Zero);
  int inSteps = 0;
  for (const auto& [from, to] : {std::pair(on("P,S0"), on("B,S1")),
                                 {on("P,S0"), on("S1,S1")},
                                 {on("S0,S1"), on("B,S0")},
                                 {on("P,S0"), on("R,S1")},
                                 {on("P,S1"), halo.build()}}) {
    const LinearOpRef op = madeBy(kBytes, from, to);
    const std::string view = op->describe();
    inSteps += view.find("in steps") != std::string::npos;
    Conversion expected(world(), from, to, TENON_FLOAT64, CarrierPolicy::fromOptions());
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const test::Ends there(expected, sense, 1), here(*op, sense, 1);
      test::act(expected, sense, 2, *there.x, 3, *there.y);
      test::act(*op, sense, 2, *here.x, 3, *here.y);
      EXPECT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y)) << view;
    }
    const AdjointTestResult pairings = testAdjoint(*op, 3, /*integers=*/true);
    EXPECT_EQ(pairings.forwardPairing, pairings.adjointPairing) << view;
    expectEqualCopies(*op);
  }
  EXPECT_EQ(inSteps > 0, perNode < ranks);
}

// The same sums as the definition's, exact adjoints, and copies of the same bits: uneven chunks,
// fewer elements than ranks, ranks outside the grid or without data, and several axes.
TEST_F(ByOption, SumsByLevelsAreThoseOfTheDefinition) {
  const int ranks = world()->size(), n = ranks / 2;
  if (ranks % 2 != 0 || ranks == 2)
    GTEST_SKIP() << "two nodes of several ranks";
  std::vector<int> some; // all but the last of each node
  for (int rank = 0; rank < ranks; ++rank)
    if (rank % n != n - 1)
      some.push_back(rank);
  std::vector<int> turned(ranks); // coordinates rise across the nodes first
  for (int rank = 0; rank < ranks; ++rank)
    turned[rank] = rank % 2 * n + rank / 2;
  const GridPtr line = Grid::make({ranks}), part = Grid::make({ranks - 2}, some),
                nodes = Grid::make({2, n}), crossed = Grid::make({n, 2}, turned);
  struct Case {
    GridPtr grid;
    const char *from, *to;
  };
  for (const Case& one :
       {Case{line, "P", "B"},      {part, "P", "B"},          {nodes, "P,P", "B,B"},
        {nodes, "P,S0", "B,S0"},   {nodes, "P,B", "B,B"},     {nodes, "P,R", "B,R"},
        {nodes, "P,P", "B,P"},     {line, "P", "S0"},         {line, "P", "S1"},
        {part, "P", "S1"},         {nodes, "P,P", "S0,S0"},   {nodes, "P,S0", "S1,S0"},
        {nodes, "P,R", "S1,R"},    {line, "S0", "B"},         {line, "S1", "B"},
        {nodes, "S1,S1", "B,B"},   {nodes, "S1,B", "B,B"},    {line, "P", "R"},
        {part, "P", "R"},          {nodes, "P,S1", "R,S1"},   {line, "R", "B"},
        {nodes, "R,R", "B,B"},     {nodes, "R,P", "B,P"},     {crossed, "P,P", "B,B"},
        {crossed, "P,P", "S0,S0"}, {crossed, "P,P", "S1,S1"}, {crossed, "S1,S1", "B,B"},
        {crossed, "P,P", "R,R"},   {crossed, "R,R", "B,B"}})
    for (const Index length : {0, 1, 3, 13, 334})
      for (const LinkRates& links : {LinkRates{}, kBytes}) {
        const Layout from = test::layoutOn(one.grid, {length, 3}, one.from);
        const Layout to = test::layoutOn(one.grid, {length, 3}, one.to);
        const LinkRates rates = withAssumedNodes(links, {2, n});
        const auto sum = cheapestPlan(levelsOfSum(*one.grid, *sumBetween(from, to), {2, n}, rates),
                                      24.0 * static_cast<double>(length));
        ASSERT_TRUE(sum);
        Conversion expected(world(), from, to, TENON_FLOAT64, CarrierPolicy::fromOptions());
        ReductionOp op(world(), from, to, TENON_FLOAT64, sum->plan);
        for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
          const test::Ends there(expected, sense, 1), here(op, sense, 1);
          test::act(expected, sense, 2, *there.x, 3, *there.y);
          test::act(op, sense, 2, *here.x, 3, *here.y);
          ASSERT_EQ(test::elementsOf(*here.y), test::elementsOf(*there.y)) << op.describe();
        }
        const AdjointTestResult pairings = testAdjoint(op, 3, /*integers=*/true);
        ASSERT_EQ(pairings.forwardPairing, pairings.adjointPairing) << op.describe();
        if (std::string(one.to) != "B,P")
          expectEqualCopies(op);
      }
}

TEST_F(ByOption, EachSumTakesTheProgramOfItsLevels) {
  const int ranks = world()->size();
  if (ranks % 2 != 0 || ranks == 2)
    GTEST_SKIP() << "two nodes of several ranks";
  const std::string both = std::string(kTwoLevels) + "; " + kScatterAndGather;
  set(both.c_str(), twoLevels().c_str());
  const GridPtr grid = Grid::make({2, ranks / 2});
  const auto on = [&](const char* properties) { return test::layoutOn(grid, {90}, properties); };
  expectTheSameSums(on("P,P"), on("B,B"), "\n    (1, Parallel(0), AllReduce): ");
  expectTheSameSums(on("P,S0"), on("B,S0"), "\n    (0, InsideGroup, ReduceScatter): ");
  expectTheSameSums(on("S0,P"), on("S0,B"), "\n    (0, InsideGroup, ReduceScatter): ");
}

void expectRefused(TenonErrorCode code, std::initializer_list<const char*> parts) {
  expectError(code, parts,
              [] { makeConversion(world(), onLine({9}, "P"), onLine({9}, "B"), TENON_FLOAT64); });
}

TEST_F(ByOption, BadProgramsAndLevelsAreRefused) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has nothing to sum";
  set("(0, InsideGroup, AllReduc)", "");
  expectRefused(TENON_ERR_ARG, {"AllReduc", "at byte 17"});
  set("(0, InsideGroup, ReduceScatter)", "");
  expectRefused(TENON_ERR_ARG, {"does not leave the whole sum", "is left with"});
  set("(0, InsideGroup, ReduceScatter); (1, InsideGroup, AllReduce)", "");
  expectRefused(TENON_ERR_ARG, {"none of the 2 programs", "is left with", "(1, InsideGroup"});
  set("auto", "2,x");
  expectRefused(TENON_ERR_ARG, {"-tenon_machine_levels is '2,x'", "byte 2"});
  set("auto", "");
  options().set("-tenon_machine_file", "no_such_machine");
  expectRefused(TENON_ERR_FILE, {"no_such_machine"});
  if (world()->size() % 2 == 0) {
    set("auto", "77");
    useMachine(world()->size() / 2);
    expectRefused(TENON_ERR_ARG, {"-tenon_machine_levels is 77", "two nodes", "set only one"});
  }
  set(kScatterAndGather, "");
  options().set("-tenon_reduction_order", "flat");
  expectRefused(TENON_ERR_ARG, {"-tenon_reduction_order is flat", "ReduceScatter", "leave one"});
  options().set("-tenon_reduction_order", "levels");
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
