// SPDX-License-Identifier: BSD-2-Clause
// Training on the device follows training on the host step by step: batches of a dataset, divided
// among the processes, gradients that are accumulated and limited, and each optimizer.
#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "support/networks.hpp"
#include "support/volume_networks.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/dataset.hpp"
#include "train/lbfgs.hpp"
#include "train/sgd.hpp"

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

struct Task {
  std::string loss, optimizer;
  Shape x, labels; // of a batch
  Index accumulation = 1;
  double gradientNorm = 0; // 0: no limit
};

// The losses of three batches, and then the parameters.
Vector train(const Ref<Layer>& network, const Task& task, Space space) {
  Shape samples = task.x, allLabels = task.labels;
  samples[0] *= 3;
  allLabels[0] *= 3;
  Drawn data(samples, allLabels, task.loss == "crossentropy");
  const Layout batch = divided(task.x), ofLabels = divided(task.labels);
  data.setUp(batch, &ofLabels);
  network->setSpace(space);
  network->setUp(batch);
  network->initialize(kSeed, 0);
  const Ref<Layer> loss = test::newLayer(world(), task.loss);
  loss->setDataType(network->dataType());
  loss->setSpace(space);
  loss->setUp(network->outputLayout());
  const Ref<Optimizer> optimizer = makeOptimizer(task.optimizer, network);
  optimizer->set("learning_rate", task.optimizer == "lbfgs" ? 1.0 : 0.05);
  if (task.optimizer == "lbfgs")
    optimizer->set("iterations", Index(3));
  if (task.optimizer == "sgd") {
    optimizer->set("momentum", 0.9);
    optimizer->set("nesterov", true);
  }
  const Dataset::BatchTensors tensors = data.makeTensors(network->dataType(), space);
  const auto tensor = [&](const Layout& layout) {
    return makeRef<DTensor>(world(), layout, network->dataType(), space);
  };
  const Ref<DTensor> y = tensor(network->outputLayout()),
                     dy = tensor(network->outputLayout().dual()),
                     value = tensor(loss->outputLayout()),
                     one = tensor(loss->outputLayout().dual());
  fillConstant(*one, 1.0 / double(task.accumulation));
  loss->setTarget(tensors.labels);
  const auto evaluate = [&] {
    network->apply(*tensors.x, *y);
    loss->apply(*y, *value);
    loss->applyAdjoint(*one, dy.get());
    network->applyAdjoint(*dy, nullptr);
    return maxAbsolute(*value);
  };
  Vector found;
  for (Index k = 0; k < data.batches(); ++k) {
    data.getBatch(0, k, *tensors.x, tensors.labels.get());
    if (task.optimizer == "lbfgs") {
      found.push_back(optimizer->stepWith(evaluate));
      continue;
    }
    found.push_back(evaluate());
    if ((k + 1) % task.accumulation != 0 && k + 1 < data.batches())
      continue;
    if (task.gradientNorm > 0)
      optimizer->clipGradientNorm(task.gradientNorm);
    optimizer->step();
  }
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
    return train(test::lenet5(world()),
                 {.loss = "crossentropy",
                  .optimizer = "sgd",
                  .x = {5, 1, 28, 28},
                  .labels = {5},
                  .accumulation = 2,
                  .gradientNorm = 0.5},
                 space);
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
      return train(
          perceptron(),
          {.loss = "meansquarederror", .optimizer = optimizer, .x = {5, 1, 3, 4}, .labels = {5, 3}},
          space);
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
  fillUniform(*target, kSeed, /*stream=*/1, 0, 1);
  made.loss->setTarget(target);
  const Ref<Optimizer> optimizer = makeOptimizer("adamw", made.net);
  DTensor x(world(), field, TENON_FLOAT64), dx(world(), field.dual(), TENON_FLOAT64),
      value(world(), network.outputLayout(), TENON_FLOAT64),
      seed(world(), network.outputLayout().dual(), TENON_FLOAT64);
  fillUniform(x, kSeed, /*stream=*/2, 0, 1);
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
