// SPDX-License-Identifier: BSD-2-Clause
// The state of a network and its optimizer: what it is called, and that it is all that there is.
#include "layer/networks/state.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tenon {
namespace {

using test::world;

Layout split(const Shape& shape) {
  return Layout(
      {.shape = shape, .grid = Grid::make({world()->size()}), .properties = {Property::shard(0)}});
}

// Affine, dropout inside a nested container, and an affine layer that is two nodes.
Ref<Layer> network() {
  const auto net = test::newLayer(world(), "graph"), inner = test::newLayer(world(), "sequential");
  const auto first = test::newAffine(world(), 6, 6), twice = test::newAffine(world(), 6, 6);
  first->setName("first");
  inner->setName("inner");
  appendLayer(*inner, first);
  appendLayer(*inner, test::newDropout(world(), 0.5));
  int node = addGraphNode(*net, inner, {-1});
  node = addGraphNode(*net, twice, {node});
  addGraphNode(*net, twice, {node});
  net->setUp(split({8, 6}));
  return net;
}

void trainStep(Layer& net, Optimizer& optimizer) {
  const Layout x = split({8, 6}), y = net.outputLayout();
  const auto in = makeRef<DTensor>(world(), x, TENON_FLOAT32),
             out = makeRef<DTensor>(world(), y, TENON_FLOAT32),
             dout = makeRef<DTensor>(world(), y.dual(), TENON_FLOAT32);
  fillUniform(*in, /*seed=*/1, /*stream=*/1, -1, 1);
  const double loss = optimizer.stepWith([&] { // |y|^2 / 2
    net.apply(*in, *out);
    copyLocal(*out, *dout);
    net.applyAdjoint(*dout, nullptr);
    const double size = norm(*out);
    return size * size / 2;
  });
  optimizer.schedule().report(loss);
}

struct Copy final : StateVisitor {
  std::map<std::string, Ref<DTensor>> tensors;
  std::map<std::string, std::uint64_t> numbers;
  std::vector<std::string> order;

  void tensor(const std::string& path, DTensor& value) override {
    order.push_back(path);
    const auto copy = makeRef<DTensor>(value.comm(), value.layout(), value.dataType());
    copyLocal(value, *copy);
    tensors[path] = copy;
  }
  void number(const std::string& path, std::uint64_t& value) override {
    order.push_back(path);
    numbers[path] = value;
  }
};

struct Restore final : StateVisitor {
  explicit Restore(const Copy& from) : from(from) {}
  const Copy& from;
  void tensor(const std::string& path, DTensor& value) override {
    copyLocal(*from.tensors.at(path), value);
  }
  void number(const std::string& path, std::uint64_t& value) override {
    value = from.numbers.at(path);
  }
};

std::vector<float> valuesOf(const Layer& net) {
  std::vector<float> all;
  for (const auto& p : net.parameters()) {
    const DTensor& value = p->value();
    all.insert(all.end(), value.data<float>(), value.data<float>() + value.localElements());
  }
  return all;
}

TEST(State, HasOneNameForEachThing) {
  const auto net = network();
  const auto adam = makeOptimizer("adam", net);
  Copy copy;
  visitState(*net, "", copy);
  adam->visitState("optimizer", copy);
  EXPECT_EQ(copy.order, (std::vector<std::string>{"inner/first/weight",
                                                  "inner/first/bias",
                                                  "inner/1/seed",
                                                  "inner/1/stream",
                                                  "inner/1/applied",
                                                  "1/weight",
                                                  "1/bias",
                                                  "optimizer/steps",
                                                  "optimizer/updates/inner/first/weight",
                                                  "optimizer/updates/inner/first/bias",
                                                  "optimizer/updates/1/weight",
                                                  "optimizer/updates/1/bias",
                                                  "optimizer/mean/inner/first/weight",
                                                  "optimizer/mean/inner/first/bias",
                                                  "optimizer/mean/1/weight",
                                                  "optimizer/mean/1/bias",
                                                  "optimizer/square/inner/first/weight",
                                                  "optimizer/square/inner/first/bias",
                                                  "optimizer/square/1/weight",
                                                  "optimizer/square/1/bias"}));
}

TEST(State, OfLbfgsAndAPlateauIsTheirPairsAndReports) {
  const auto net = network();
  const auto lbfgs = makeOptimizer("lbfgs", net);
  lbfgs->set("schedule", "plateau");
  Copy copy;
  lbfgs->visitState("optimizer", copy);
  EXPECT_EQ(copy.tensors.size(), 2 * 10 * 4u); // a move and a change, in 10 pairs, of 4 parameters
  EXPECT_TRUE(copy.tensors.count("optimizer/move_9/inner/first/weight"));
  EXPECT_TRUE(copy.tensors.count("optimizer/change_0/1/bias"));
  for (const char* number :
       {"steps", "best", "waiting", "since_reduction", "reductions", "pairs", "next_pair"})
    EXPECT_TRUE(copy.numbers.count(std::string("optimizer/") + number)) << number;
}

// Training goes on elsewhere bit by bit.
TEST(State, IsAllThatTrainingNeeds) {
  for (const char* type : {"adam", "adamw", "lbfgs", "sgd"}) {
    const auto net = network(), other = network();
    // Adam counts the updates of each parameter, so here one begins later than the others.
    const bool isReleased = std::string(type).starts_with("adam");
    net->parameters()[0]->setFrozen(isReleased);
    const auto optimizer = makeOptimizer(type, net), second = makeOptimizer(type, other);
    for (const auto& each : {optimizer, second}) {
      each->set("schedule", "plateau");
      each->set("schedule_factor", 0.5);
      each->set("patience", Index(1));
      each->set("improvement", 0.5);
    }
    for (int i = 0; i < 3; ++i)
      trainStep(*net, *optimizer);
    net->parameters()[0]->setFrozen(false);
    Copy copy;
    visitState(*net, "", copy);
    optimizer->visitState("optimizer", copy);
    Restore restore(copy);
    visitState(*other, "", restore);
    second->visitState("optimizer", restore);
    for (int i = 0; i < 2; ++i) {
      trainStep(*net, *optimizer);
      trainStep(*other, *second);
    }
    EXPECT_EQ(valuesOf(*other), valuesOf(*net)) << type;
  }
}

} // namespace
} // namespace tenon
