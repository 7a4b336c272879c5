// SPDX-License-Identifier: BSD-2-Clause
// Tests the prediction of the times of reduction programs on a machine: against Table 3 of the
// paper (Xie et al., cited in reduction/collective_rule.hpp), against times computed by hand from
// loads and bandwidths, and against the order of the times that the paper's appendix prints for
// real machines.
#include "placement/simulation.hpp"

#include "placement/paper_times.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::kPaperBytes;
using Matrix = std::vector<std::vector<Index>>;

constexpr auto kRing = ReductionAlgorithm::Ring, kTree = ReductionAlgorithm::Tree;

Machine paperMachine(const std::string& name, Index nodes) {
  return readMachine(TENON_TEST_MACHINES "/" + name + ".json", nodes);
}

double allReduce(const Machine& machine, const Matrix& matrix, int axis,
                 ReductionAlgorithm algorithm) {
  Simulation simulation(machine, Placement(matrix), {axis}, algorithm, kPaperBytes);
  return simulation.seconds(parseProgram("(0, InsideGroup, AllReduce)"));
}

// Seconds of a single AllReduce over axis 0 or 1 of a placement, by a ring or a tree, as in the
// paper's Table 3: computed by hand from loads and bandwidths, to two digits after the point. For
// example, in the matrix {{4, 1}, {1, 16}} on four nodes of 16 A100, axis 0 is between the nodes.
// Each GPU of a node is in another group, so 16 groups share the NIC of 8 GB/s. A ring of 4 sends
// 2 * 3/4 S = 1.5 S of each GPU's S = kPaperBytes: 1.5 * 16 S / 8e9 = 64.42; a tree sends 2 S:
// 85.90. Axis 1 is inside a node, with 270 GB/s for each GPU: 2 * 15/16 S / 270e9 = 0.15.
struct Row {
  Matrix matrix;
  double ring0, tree0, ring1, tree1;
};

void expectRows(const Machine& machine, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::string label = testing::PrintToString(row.matrix);
    EXPECT_NEAR(row.ring0, allReduce(machine, row.matrix, 0, kRing), 0.005 + 1e-9) << label;
    EXPECT_NEAR(row.tree0, allReduce(machine, row.matrix, 0, kTree), 0.005 + 1e-9) << label;
    EXPECT_NEAR(row.ring1, allReduce(machine, row.matrix, 1, kRing), 0.005 + 1e-9) << label;
    EXPECT_NEAR(row.tree1, allReduce(machine, row.matrix, 1, kTree), 0.005 + 1e-9) << label;
  }
}

// The numbers of a row are ring and tree over axis 0, then ring and tree over axis 1.
TEST(Simulation, GivesTable3OfTheA100Nodes) {
  expectRows(paperMachine("a100x16", 4), {
                                             {{{1, 2}, {4, 8}}, 0.08, 0.16, 10.40, 10.74},
                                             {{{2, 1}, {2, 16}}, 42.95, 42.95, 5.20, 2.68},
                                             {{{1, 4}, {4, 4}}, 0.12, 0.16, 20.13, 21.47},
                                             {{{2, 2}, {2, 8}}, 32.21, 21.47, 10.07, 5.37},
                                             {{{4, 1}, {1, 16}}, 64.42, 85.90, 0.15, 0.16},
                                             {{{1, 8}, {4, 2}}, 0.14, 0.16, 37.58, 42.95},
                                             {{{2, 4}, {2, 4}}, 18.79, 10.74, 18.79, 10.74},
                                             {{{4, 2}, {1, 8}}, 37.58, 42.95, 0.14, 0.16},
                                         });
}

TEST(Simulation, GivesTable3OfTheV100Nodes) {
  expectRows(paperMachine("v100x8", 4), {
                                            {{{1, 8}, {4, 1}}, 0.28, 0.32, 32.21, 42.95},
                                            {{{2, 4}, {2, 2}}, 9.40, 5.37, 16.11, 10.74},
                                            {{{4, 2}, {1, 4}}, 18.79, 21.47, 1.01, 1.34},
                                        });
}

// Two nodes of four: the usual program moves S/4 between nodes, and S in them.
TEST(Simulation, FollowsWhatDevicesHold) {
  const double port = 4e9, nic = 1e9, bytes = 8e9;
  const Machine machine = Machine::make("m", {{"node", 2}, {"gpu", 4}},
                                        {{.name = "port",
                                          .level = 1,
                                          .units = 1,
                                          .bandwidth = port,
                                          .latency = 0,
                                          .rules = {{LinkRule::Touching}}},
                                         {.name = "nic",
                                          .level = 0,
                                          .units = 1,
                                          .bandwidth = nic,
                                          .latency = 0,
                                          .rules = {{LinkRule::Leaving}}}});
  Simulation simulation(machine, Placement({{2, 4}}), {0}, kRing, bytes);
  const auto expectSteps = [&](const std::string& program, const std::vector<double>& expected) {
    const std::vector<double> steps = simulation.stepSeconds(parseProgram(program));
    ASSERT_EQ(expected.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
      EXPECT_NEAR(expected[i], steps[i], 1e-12 * expected[i]) << program << " step " << i;
  };
  // Four groups of two share the NIC in the middle step, each with a quarter: 4 x (2/4) S/4.
  expectSteps("(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), "
              "(1, InsideGroup, AllGather)",
              {0.75 * bytes / port, bytes / nic, 0.75 * bytes / port});
  // Only the roots' data pass the NIC, though all would form groups: the others hold nothing.
  expectSteps("(1, InsideGroup, Reduce), (1, Master(0), AllReduce), (1, InsideGroup, Broadcast)",
              {bytes / port, bytes / nic, bytes / port});
  // All groups of the second step act at full size.
  expectSteps("(1, InsideGroup, AllReduce), (1, Parallel(0), AllReduce)",
              {1.5 * bytes / port, 4 * bytes / nic});
}

TEST(Simulation, AddsTheLatencyOfItsRounds) {
  const Machine machine = Machine::make("m", {{"node", 2}, {"gpu", 8}},
                                        {{.name = "port",
                                          .level = 1,
                                          .units = 1,
                                          .bandwidth = 1,
                                          .latency = 1e-6,
                                          .rules = {{LinkRule::Touching}}},
                                         {.name = "nic",
                                          .level = 0,
                                          .units = 1,
                                          .bandwidth = 1,
                                          .latency = 1e-3,
                                          .rules = {{LinkRule::Leaving}}}});
  const auto latency = [&](ReductionAlgorithm algorithm, const std::string& program) {
    // The links transfer a byte per second, so the data must be almost 0 bytes.
    return Simulation(machine, Placement({{2, 8}}), {0}, algorithm, 1e-30)
        .seconds(parseProgram(program));
  };
  // A ring of 16 devices has 2 x 15 rounds, a tree 2 log2(16); in a program with a step per level,
  // rings of 8 have 7 rounds each and rings of 2 have 2.
  EXPECT_DOUBLE_EQ(2 * 15 * 1e-3, latency(kRing, "(0, InsideGroup, AllReduce)"));
  EXPECT_DOUBLE_EQ(2 * 4 * 1e-3, latency(kTree, "(0, InsideGroup, AllReduce)"));
  EXPECT_DOUBLE_EQ(2 * 7 * 1e-6 + 2 * 1e-3,
                   latency(kRing, "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), "
                                  "(1, InsideGroup, AllGather)"));
}

TEST(Simulation, CostsNothingWithoutData) {
  Simulation simulation(paperMachine("a100x16", 2), Placement({{2, 16}}), {0}, kRing, 0);
  EXPECT_EQ(0, simulation.seconds(parseProgram("(0, InsideGroup, AllReduce)")));
  EXPECT_EQ(0, simulation.seconds({}));
}

TEST(Simulation, RefusesAnotherSystem) {
  const auto message = [](const Machine& machine, const std::vector<int>& axes, double bytes) {
    try {
      Simulation(machine, Placement({{2, 16}}), axes, kRing, bytes);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ("machine 'a100x16' has levels [4,16], but the placement is on [2,16]; create the "
            "placement for the levels of the machine",
            message(paperMachine("a100x16", 4), {0}, 1));
  EXPECT_EQ("bytes is -1; it must be >= 0", message(paperMachine("a100x16", 2), {0}, -1));
  EXPECT_NE(message(paperMachine("a100x16", 2), {1}, 1).find("axis 1"), std::string::npos);
}

TEST(Simulation, RanksByTimeThenSize) {
  std::vector<Prediction> all{{.placement = 0, .program = 3, .seconds = 2.0},
                              {.placement = 1, .program = 0, .seconds = 1.0},
                              {.placement = 0, .program = 2, .seconds = 1.0},
                              {.placement = 0, .program = 0, .seconds = 1.0}};
  rank(all);
  std::vector<std::pair<Index, Index>> order; // placement and program
  for (const Prediction& one : all)
    order.emplace_back(one.placement, one.program);
  EXPECT_EQ((std::vector<std::pair<Index, Index>>{{0, 0}, {1, 0}, {0, 2}, {0, 3}}), order);
}

TEST(Spearman, IsTheCorrelationOfRanks) {
  EXPECT_DOUBLE_EQ(1, test::spearman({1, 5, 7}, {2, 3, 400}));
  EXPECT_DOUBLE_EQ(-1, test::spearman({1, 5, 7}, {9, 8, 1}));
  // Ranks 1 2 3 4 and 1 2.5 2.5 4: 4.5 / sqrt(5 x 4.5).
  EXPECT_DOUBLE_EQ(4.5 / std::sqrt(22.5), test::spearman({1, 2, 3, 4}, {1, 2, 2, 4}));
}

// Expects that the predicted times and the measured times of the paper have nearly the same order:
// a rank correlation (Spearman) of at least `least`, over `rows` cases.
void expectOrder(const std::string& machine, ReductionAlgorithm algorithm, std::size_t rows,
                 double least) {
  const auto cases = test::paperCases(machine, algorithm);
  EXPECT_EQ(rows, cases.size());
  EXPECT_GE(test::spearman(cases, &test::PaperCase::allReduce, &test::PaperCase::allReducePrinted),
            least);
}

TEST(Simulation, OrdersThePapersTimes) {
  expectOrder("a100x16", kRing, 62, 0.97);
  expectOrder("a100x16", kTree, 62, 0.97);
  expectOrder("v100x8", kRing, 42, 0.85);
  expectOrder("v100x8", kTree, 34, 0.85);
}

} // namespace
} // namespace tenon
