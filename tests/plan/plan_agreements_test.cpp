// SPDX-License-Identifier: BSD-2-Clause
// Tests how often ranks agree (compare arguments and errors) while a network is set up, with and
// without a plan: MPI_Send is replaced by a function that counts the messages of agreements. Also
// tests that a layer whose set-up fails on one rank only is named on all ranks, and that earlier
// set-ups remain.
#include "planned_network.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/types/shell.hpp"
#include "sys/expect_error.hpp"

namespace {
int agreementSends = 0;
} // namespace

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (tag == tenon::Communicator::kAgreementTag)
    ++agreementSends;
  return PMPI_Send(data, count, type, to, tag, comm);
}

namespace tenon {
namespace {

using test::world;

Layout onWorld(const Shape& shape, const char* property) {
  return Layout({.shape = shape,
                 .grid = Grid::make({world()->size()}),
                 .properties = parseProperties(property)});
}

// In each agreement rank 0 sends two messages: one when it arrives, and one with the result.
template <class Call>
int agreementsOf(Call call) {
  const int before = agreementSends;
  call();
  return (agreementSends - before) / 2;
}

TEST(Agreements, OfASetUpAreFewHoweverManyLayersThereAre) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  for (const test::NetworkCase& c : test::networkCases()) {
    SCOPED_TRACE(c.name);
    const Ref<Layer> network = c.make(world());
    const int alone = agreementsOf([&] { network->setUp(onWorld(c.input, "S0")); });
    const auto plan = makeRef<LayerPlan>(c.make(world()), c.input.front());
    plan->set("input_shape", Shape(c.input.begin() + 1, c.input.end()));
    const int planned = agreementsOf([&] { plan->setUp(); });
    if (world()->rank() == 0) {
      EXPECT_EQ(alone, 2);
      EXPECT_LE(planned, 3);
    }
  }
}

TEST(Agreements, NameANodeThatFailsOnOneRankAndLeaveTheSetUpsThatThereWere) {
  bool fails = false;
  const Ref<Layer> network = test::newNetwork(world(), "sequential");
  test::add(*network, test::newAffine(world(), 6, 5), "first");
  const Ref<Layer> shell = test::newLayer(world(), "shell");
  ShellFunctions& functions = shellOf(*shell).functions();
  functions.setUp = [&](const Layout& input) {
    if (fails && world()->rank() == world()->size() - 1)
      throw Error(TENON_ERR_USER, "own part has failed");
    return input;
  };
  functions.apply = [](const DTensor& x, DTensor& y) { copyLocal(x, y); };
  test::add(*network, shell, "own");
  test::add(*network, test::newAffine(world(), 5, 4), "last");
  const Layout four = onWorld({4, 6}, "B"), eight = onWorld({8, 6}, "S0");
  fails = true;
  expectError(TENON_ERR_USER, {"own part has failed"}, [&] { network->setUp(four); });
  EXPECT_FALSE(network->isSetUp());
  EXPECT_TRUE(network->parameters().empty());
  fails = false;
  network->setUp(four);
  fails = true;
  expectError(TENON_ERR_USER, {"own part has failed"}, [&] { network->setUp(eight); });
  EXPECT_EQ(network->inputLayout(), four);
  for (const Layer* child : network->children())
    EXPECT_EQ(child->inputLayout().shape().front(), 4);
  const auto x = makeRef<DTensor>(world(), four, TENON_FLOAT64),
             y = makeRef<DTensor>(world(), network->outputLayout(four), TENON_FLOAT64);
  network->apply(*x, *y);
  fails = false;
  network->setUp(eight);
  EXPECT_EQ(network->inputLayout(), eight);
}

} // namespace
} // namespace tenon
