// SPDX-License-Identifier: BSD-2-Clause
// Conversions that sum by a program.
#include "programs/sum_by_program.hpp"

#include "linop/operators.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <unistd.h>

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

// Of the best program, as a view tells it.
double predictedMicroseconds(const std::string& view) {
  const std::string mark = "program is predicted at ";
  return std::stod(view.substr(view.find(mark) + mark.size()));
}

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

TEST_F(ByOption, AutoNeedsRates) {
  set("auto", "");
  expectTheSameSums(onLine({13}, "P"), onLine({13}, "B"),
                    world()->size() == 1 ? "one exchange"
                                         : "as mpi, since the machine is not described");
}

// With rounds for nothing and bytes dear, two steps of shares beat one exchange of the whole.
TEST_F(ByOption, AutoTakesTheCheapest) {
  const int ranks = world()->size();
  if (ranks < 4)
    GTEST_SKIP() << "few ranks gain little";
  const Layout p = onLine({1000}, "P"), b = onLine({1000}, "B");
  set("auto", "");
  const LinkRates bytes{.latency = 1e-9, .overhead = 1e-9, .bandwidth = 1e6, .copyBandwidth = 1e12};
  const LinearOpRef cheap = makeConversion(
      world(), p, b, TENON_FLOAT64, test::by(RoutePolicy{.mode = RouteMode::Auto, .rates = bytes}));
  EXPECT_NE(cheap->describe().find("-tenon_reduction auto: "), std::string::npos)
      << cheap->describe();
  // 2 (n-1)/n of 8000 bytes at 1e6 a second; the rest is below a percent.
  const double expected = 2.0 * (ranks - 1) / ranks * 8000;
  EXPECT_NEAR(predictedMicroseconds(cheap->describe()), expected, 0.01 * expected);
}

// S bytes of P ranks in two nodes of n: a ring of all loads a network port with 2 (P-1)/P S; scattered
// within the nodes first, all n pairs together load it with 2 (2-1)/2 S, and each core twice with
// (n-1)/n S at a tenth of the price.
TEST_F(ByOption, AutoSimulatesTheMachine) {
  const int ranks = world()->size(), n = ranks / 2;
  if (ranks % 2 != 0 || ranks == 2)
    GTEST_SKIP() << "two nodes of several ranks";
  const Index elements = 100000;
  const double bytes = 8.0 * elements;
  set("auto", "");
  useMachine(n);
  const std::string view =
      makeConversion(world(), onLine({elements}, "P"), onLine({elements}, "B"), TENON_FLOAT64)
          ->describe();
  const double best = (2.0 * (n - 1) / n * bytes / 1e9 + bytes / 1e8) * 1e6;
  const double ring = 2.0 * (ranks - 1) / ranks * bytes / 1e8 * 1e6;
  EXPECT_NEAR(predictedMicroseconds(view), best, 0.01 * best) << view;
  EXPECT_NE(view.find(fmt::format("one AllReduce on machine 'two nodes' at {:.3g} us", ring)),
            std::string::npos)
      << view;
  const bool taken = best < 0.8 * ring;
  EXPECT_NE(view.find(taken ? "auto: by a program" : "auto: as mpi"), std::string::npos) << view;
  if (taken)
    expectTheSameSums(onLine({elements}, "P"), onLine({elements}, "B"),
                      "\n    (1, Parallel(0), AllReduce): ");
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
