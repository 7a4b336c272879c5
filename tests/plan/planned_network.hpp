// SPDX-License-Identifier: BSD-2-Clause
// For the tests of plans: networks to plan (LeNet-5, a small AlexNet, a residual network, a U-Net),
// layouts of a solver's field, and a short training whose losses must not depend on the plan.
// trainedAlone() trains on one process without a plan and is the reference.
#pragma once

#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "plan/layer_plan.hpp"
#include "support/networks.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::test {

inline constexpr std::uint64_t kTrainingSeed = 3;
inline constexpr int kTrainingSteps = 10;

// A network that tests of plans run.
struct NetworkCase {
  std::string name;
  Shape input; // of the whole batch
  std::function<Ref<Layer>(const CommPtr&)> make;
};

inline std::vector<NetworkCase> networkCases() {
  return {{"lenet5", {8, 1, 28, 28}, lenet5},
          {"small_alexnet", {8, 3, 34, 34}, smallAlexNet},
          {"residual", {8, 1, 8, 8}, residual},
          {"unet3d", {2, 1, 16, 16, 16}, unet3d}};
}
inline NetworkCase caseNamed(const std::string& name) {
  const std::vector<NetworkCase> all = networkCases();
  return *std::ranges::find(all, name, &NetworkCase::name);
}

// A network whose first windows reach only ahead. An output is computed where the middle of its
// window is, so of 16 outputs the first of two processes has 6, and the second 10.
inline NetworkCase aheadCase() {
  return {"ahead", {4, 1, 16}, [](const CommPtr& comm) {
            const Ref<Layer> network = newNetwork(comm, "sequential");
            add(*network, newConv(comm, 1, 8, std::vector<Window>{{.kernel = 5, .padHigh = 4}}),
                "first");
            add(*network, newPointwise(comm, "tanh"), "tanh");
            add(*network, newConv(comm, 8, 4, std::vector<Window>{{.kernel = 3}}), "second");
            add(*network, newLayer(comm, "flatten"), "flatten");
            add(*network, newAffine(comm, 4 * 14, 10), "last");
            return network;
          }};
}

// The layout of a solver's field: the last two dimensions are split into blocks of increasing size
// (12 elements into 4 and 8), and the grid lists the ranks in reverse order.
inline Layout unevenField(const Shape& shape) {
  const int size = world()->size(), columns = size > 2 ? 2 : 1, rows = size / columns;
  const int rank = static_cast<int>(shape.size());
  std::vector<int> ranks(size);
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  const auto cutsOf = [](Index extent, Index parts) {
    std::vector<Index> cuts;
    for (Index part = 0; part <= parts; ++part)
      cuts.push_back(extent * part * (part + 1) / (parts * (parts + 1)));
    return cuts;
  };
  LayoutSpec spec{.shape = shape,
                  .grid = Grid::make({rows, columns}, ranks),
                  .properties = {Property::shard(rank - 2), Property::shard(rank - 1)}};
  spec.cuts.resize(rank);
  spec.cuts[rank - 2] = cutsOf(shape[rank - 2], rows);
  spec.cuts[rank - 1] = cutsOf(shape[rank - 1], columns);
  return Layout(std::move(spec));
}

inline Shape outputShapeOf(const NetworkCase& c) {
  return c.name == "unet3d" ? c.input : Shape{c.input[0], 10};
}

// The text of the parallelization with these labels on the grid of an uneven field. Axes of one
// process have no label.
inline std::string parallelizationOnUneven(const std::string& rows, const std::string& columns) {
  const int size = world()->size();
  return "input:" + (size == 1 ? "all" : size == 2 ? rows : rows + "," + columns);
}

// The text of the parallelization in which a layer is distributed like an uneven field; "" if its
// input has no spatial dimensions.
inline std::string parallelizationOfField(const NetworkCase& c, const std::string& layer) {
  for (const char* flat : {"last", "fc5", "fc6", "F6", "Output"})
    if (layer == flat)
      return "";
  const bool isJoint = layer.find("sum") != std::string::npos || layer.ends_with("_beside");
  const Index rank = static_cast<Index>(c.input.size());
  return isJoint
             ? parallelizationOnUneven(fmt::format("S{}", rank - 2), fmt::format("S{}", rank - 1))
             : parallelizationOnUneven("h", "w");
}

// A parallelization for 2, 4 or 8 processes with one label for the only axis or two axes of the
// grid. On 8 processes the first axis splits the batch: "o" becomes "o", "o2" or "n,o2", and "hw"
// becomes "h", "hw2-" or "n,hw2-" (parallelization.hpp explains the dash).
inline std::string forcedParallelization(const std::string& label) {
  const int size = world()->size();
  const std::string run = size == 2 ? label.substr(0, 1) : label + (label == "hw" ? "2-" : "2");
  return size == 8 ? "n," + run : run;
}

// The losses of the first training steps with Adam, of a network that is set up. Ranks without a
// copy of the loss return an empty list.
inline std::vector<double> trained(Layer& network, const CommPtr& comm, const Layout& input,
                                   int steps = kTrainingSteps) {
  network.initialize(kTrainingSeed, 0);
  const Layout output = network.outputLayout(input);
  const Space space = network.space();
  const bool isField = output.ndim() > 2;
  const Ref<Layer> loss = newLayer(comm, isField ? "meansquarederror" : "crossentropy");
  loss->setDataType(TENON_FLOAT64);
  loss->setSpace(space);
  loss->setUp(output);
  const Layout labels({.shape = isField ? output.shape() : Shape{input.shape()[0]},
                       .grid = output.gridPtr(),
                       .properties = Properties(output.grid().axes(), Property::broadcast())});
  const auto made = [&](const Layout& layout) {
    return makeRef<DTensor>(comm, layout, TENON_FLOAT64, space);
  };
  const Layout one = loss->outputLayout(output);
  const Ref<DTensor> x = made(input), y = made(output), dy = made(output.dual()), value = made(one),
                     seed = made(one.dual());
  const Ref<DTensor> target = makeRef<DTensor>(comm, labels, isField ? TENON_FLOAT64 : TENON_INT64);
  loss->setTarget(target);
  // The cotangent of the loss is a partial sum: 1 on one rank, 0 on the others.
  const bool first = comm->rank() == output.grid().rank(0);
  fillConstant(*seed, first ? 1 : 0);
  const Ref<Optimizer> optimizer = makeOptimizer("adam", Ref<Layer>::share(&network));
  optimizer->set("learning_rate", 0.01);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t batch = step % 2;
    fillUniform(*x, kTrainingSeed, 100 + batch, 0, 1);
    fillByIndex(*target, [&](Index n) {
      const double drawn = uniformAt(kTrainingSeed, 200 + batch, n);
      return isField ? drawn : std::floor(10 * drawn);
    });
    network.apply(*x, *y);
    loss->apply(*y, *value);
    if (value->localElements() > 0)
      losses.push_back(HostView<const double>(*value)[0]);
    loss->applyAdjoint(*seed, dy.get());
    network.applyAdjoint(*dy, nullptr);
    optimizer->step();
  }
  return losses;
}

// The losses on one process without a plan.
inline std::vector<double> trainedAlone(const NetworkCase& c, int steps = kTrainingSteps) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const Ref<Layer> network = c.make(self);
  const Layout input(
      {.shape = c.input, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
  network->setUp(input);
  return trained(*network, self, input, steps);
}

inline Ref<LayerPlan> planOf(const NetworkCase& c, const CommPtr& comm) {
  const auto plan = makeRef<LayerPlan>(c.make(comm), c.input[0]);
  plan->set("input_shape", Shape(c.input.begin() + 1, c.input.end()));
  return plan;
}

// The plan of aheadCase() in which the first layer has balanced outputs. Needs at least two ranks.
inline Ref<LayerPlan> planAhead() {
  const Ref<LayerPlan> plan = planOf(aheadCase(), world());
  plan->fix("first", forcedParallelization("w") + (world()->size() == 2 ? "" : "-") + ",balanced");
  return plan;
}

// A plan that is set up, with input, output and output cotangent of its network.
struct PlannedTensors {
  explicit PlannedTensors(LayerPlan& plan)
      : network(setUp(plan)), x(made(plan.inputLayout())), y(made(network.outputLayout())),
        dy(made(network.outputLayout().dual())) {
    fillUniform(*x, kTrainingSeed, /*stream=*/1, 0, 1);
    fillUniform(*dy, kTrainingSeed, /*stream=*/2, 0, 1);
  }
  Ref<DTensor> made(const Layout& layout) const {
    return makeRef<DTensor>(world(), layout, TENON_FLOAT64, network.space());
  }

  Layer& network;
  Ref<DTensor> x, y, dy;

private:
  static Layer& setUp(LayerPlan& plan) {
    plan.setUp();
    plan.layer().initialize(kTrainingSeed, /*stream=*/0);
    return plan.layer();
  }
};

// Training steps of a planned network.
struct PlannedSteps : PlannedTensors {
  explicit PlannedSteps(const NetworkCase& c) : PlannedSteps(planOf(c, world())) {}
  void step() {
    network.apply(*x, *y);
    network.applyTangent(x.get(), *y);
    network.applyAdjoint(*dy, nullptr);
    optimizer->step();
  }

  Ref<LayerPlan> plan;
  Ref<Optimizer> optimizer;

private:
  explicit PlannedSteps(Ref<LayerPlan> made)
      : PlannedTensors(*made), plan(std::move(made)),
        optimizer(makeOptimizer("adam", Ref<Layer>::share(&network))) {
    fillConstant(*dy, 1e-3);
  }
};

} // namespace tenon::test
