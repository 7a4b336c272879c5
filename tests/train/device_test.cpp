// SPDX-License-Identifier: BSD-2-Clause
// Training on the device follows training on the host step by step: batches of a dataset, divided
// among the processes, gradients that are accumulated and limited, and each optimizer.
#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "support/networks.hpp"
#include "support/volume_networks.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/lbfgs.hpp"
#include "train/sgd.hpp"
#include "train/trainer.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::world;
using Vector = std::vector<double>;

constexpr std::uint64_t kSeed = 3;

// Numbers by the positions of sample and cell.
class Drawn final : public Dataset {
public:
  Drawn(Shape samples, Shape labels, bool areIntegers) : Dataset(world()) {
    setShapes(std::move(samples), {std::move(labels), areIntegers});
  }

private:
  void open(const Layout&, const Layout*) override {}
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override {
    EXPECT_EQ(x.space(), Space::Host);
    const auto stream = static_cast<std::uint64_t>(100 * epoch + batch);
    fillUniform(x, kSeed, stream, 0, 1);
    const bool areIntegers = labelKind().areIntegers;
    fillByIndex(*labels, [=](Index i) {
      const double value = uniformAt(kSeed, 50 + stream, static_cast<std::uint64_t>(i));
      return areIntegers ? std::floor(10 * value) : value;
    });
  }
};

Layout divided(const Shape& shape) {
  return Layout(
      {.shape = shape, .grid = Grid::make({world()->size()}), .properties = {Property::shard(0)}});
}

// The losses of the steps, and then the parameters.
Vector train(const Ref<Layer>& network, const std::string& loss, const std::string& optimizer,
             Space space, const Shape& x, const Shape& labels, void (*set)(Trainer&)) {
  Shape samples = x, allLabels = labels;
  samples[0] *= 3;
  allLabels[0] *= 3;
  const auto data = makeRef<Drawn>(samples, allLabels, loss == "crossentropy");
  const Layout batch = divided(x), ofLabels = divided(labels);
  data->setUp(batch, &ofLabels);
  network->setSpace(space);
  network->setUp(batch);
  network->initialize(kSeed, 0);
  const Ref<Optimizer> steps = makeOptimizer(optimizer, network);
  steps->set("learning_rate", optimizer == "lbfgs" ? 1.0 : 0.05);
  if (optimizer == "lbfgs")
    steps->set("iterations", Index(3));
  if (optimizer == "sgd") {
    steps->set("momentum", 0.9);
    steps->set("nesterov", true);
  }
  const auto trainer = makeRef<Trainer>(network, test::newLayer(world(), loss), steps);
  trainer->setBatches(trainer->batchesOf(data));
  set(*trainer);
  Vector found;
  trainer->setListener([&](Trainer::Event event) {
    if (event == Trainer::Event::Step)
      found.push_back(trainer->loss());
  });
  trainer->run(1);
  for (const Ref<Parameter>& p : network->parameters()) {
    DTensor copy(world(), p->storage(), TENON_FLOAT64);
    copyLocal(p->value(), copy);
    const DTensor& elements = copy;
    found.insert(found.end(), elements.data<double>(),
                 elements.data<double>() + elements.localElements());
  }
  return found;
}

void expectNear(const Vector& got, const Vector& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << i;
}

TEST(DeviceTraining, OfLeNet5IsThatOfTheHost) {
  const auto run = [](Space space) {
    return train(test::lenet5(world()), "crossentropy", "sgd", space, {5, 1, 28, 28}, {5},
                 [](Trainer& trainer) {
                   trainer.set("accumulation", Index(2));
                   trainer.set("gradient_norm", 0.5);
                 });
  };
  expectNear(run(Space::Device), run(Space::Host), 1e-12);
}

Ref<Layer> perceptron() {
  const Ref<Layer> network = test::newNetwork(world(), "sequential");
  test::add(*network, test::newLayer(world(), "flatten"), "flatten");
  test::add(*network, test::newAffine(world(), 12, 8), "first");
  test::add(*network, test::newPointwise(world(), "tanh"), "tanh");
  test::add(*network, test::newAffine(world(), 8, 3), "second");
  return network;
}

TEST(DeviceTraining, OfEachOptimizerIsThatOfTheHost) {
  for (const char* optimizer : {"adam", "adamw", "lbfgs"}) {
    const auto run = [&](Space space) {
      return train(perceptron(), "meansquarederror", optimizer, space, {5, 1, 3, 4}, {5, 3},
                   [](Trainer&) {});
    };
    SCOPED_TRACE(optimizer);
    expectNear(run(Space::Device), run(Space::Host),
               optimizer == std::string("lbfgs") ? 1e-8 : 1e-10);
  }
}

// A Fourier neural operator on slabs of a volume; the fields stay on the host, as a solver has
// them.
Vector trainOperator(Space space) {
  const Layout field({.shape = {2, 1, 6, 6, 6},
                      .grid = Grid::make({world()->size()}),
                      .properties = {Property::shard(2)}});
  const test::VolumeNetwork made = test::volumeFno(world(), 6, 2, 2);
  Layer& network = *made.net;
  network.setDataType(TENON_FLOAT64);
  network.setSpace(space);
  network.setUp(field);
  network.initialize(kSeed, 0);
  const auto target = makeRef<DTensor>(world(), field, TENON_FLOAT64);
  fillUniform(*target, kSeed, 1, 0, 1);
  made.loss->setTarget(target);
  const Ref<Optimizer> optimizer = makeOptimizer("adamw", made.net);
  DTensor x(world(), field, TENON_FLOAT64), dx(world(), field.dual(), TENON_FLOAT64),
      value(world(), network.outputLayout(), TENON_FLOAT64),
      seed(world(), network.outputLayout().dual(), TENON_FLOAT64);
  fillUniform(x, kSeed, 2, 0, 1);
  fillConstant(seed, 1);
  Vector found;
  for (int step = 0; step < 3; ++step) {
    network.apply(x, value);
    network.applyAdjoint(seed, &dx);
    optimizer->step();
    for (const DTensor* result : {&value, &dx})
      found.insert(found.end(), result->data<double>(),
                   result->data<double>() + result->localElements());
  }
  return found;
}

TEST(DeviceTraining, OfAFourierNeuralOperatorIsThatOfTheHost) {
  expectNear(trainOperator(Space::Device), trainOperator(Space::Host), 1e-12);
}

} // namespace
} // namespace tenon
