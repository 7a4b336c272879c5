// SPDX-License-Identifier: BSD-2-Clause
// For benchmarks of plans (plan_choice, plan_memory): PlannedTraining trains the network of a plan
// on random data with a cross-entropy over classes, and compares the predicted times of a step with
// measured ones.
#pragma once

#include "comm/mpi.hpp"
#include "comm/session/session.hpp"
#include "dtensor/fill.hpp"
#include "layer/core/layer_types.hpp"
#include "plan/layer_plan.hpp"
#include "sys/log/log.hpp"
#include "sys/log/stopwatch.hpp"
#include "sys/random.hpp"
#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::bench {

// The network is set up as the plan says; step() is one training step. All functions are
// collective.
class PlannedTraining {
public:
  PlannedTraining(Ref<LayerPlan> plan, Index classes, const std::string& optimizer)
      : plan_(std::move(plan)) {
    plan_->setUp();
    Layer& network = plan_->layer();
    const CommPtr& comm = plan_->comm();
    const TenonDataType type = network.dataType();
    const Layout& input = plan_->inputLayout();
    const Layout output = network.outputLayout(input);
    loss_ = makeLayer(comm, "crossentropy");
    loss_->setDataType(type);
    loss_->setUp(output);
    const Layout value = loss_->outputLayout(output);
    const auto tensor = [&](const Layout& layout, TenonDataType of) {
      return makeRef<DTensor>(comm, layout, of);
    };
    x_ = tensor(input, type);
    y_ = tensor(output, type);
    dy_ = tensor(output.dual(), type);
    value_ = tensor(value, type);
    seed_ = tensor(value.dual(), type);
    const auto labels =
        tensor(Layout({.shape = {input.shape()[0]},
                       .grid = output.gridPtr(),
                       .properties = Properties(output.grid().axes(), Property::broadcast())}),
               TENON_INT64);
    fillUniform(*x_, /*seed=*/1, /*stream=*/1, 0, 1);
    fillByIndex(*labels, [&](Index n) { return std::floor(double(classes) * uniformAt(1, 2, n)); });
    fillConstant(*seed_, comm->rank() == output.grid().rank(0) ? 1 : 0);
    loss_->setTarget(labels);
    optimizer_ = makeOptimizer(optimizer, Ref<Layer>::share(&network));
    optimizer_->set("learning_rate", 1e-4);
  }

  const LayerPlan& plan() const { return *plan_; }
  void step() {
    plan_->layer().apply(*x_, *y_);
    loss_->apply(*y_, *value_);
    loss_->applyAdjoint(*seed_, dy_.get());
    plan_->layer().applyAdjoint(*dy_, nullptr);
    optimizer_->step();
  }
  // Collective. Returns the mean seconds of a step on the slowest rank.
  double secondsOfSteps(int steps) {
    const MPI_Comm comm = plan_->comm()->mpi();
    MPI_Barrier(comm);
    const Stopwatch watch;
    for (int s = 0; s < steps; ++s)
      step();
    const double ownSeconds = watch.seconds() / steps;
    double slowest = ownSeconds;
    MPI_Allreduce(&ownSeconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return slowest;
  }
  // Seconds of a step as predicted by the plan and as measured, each the sum over layers and
  // phases.
  struct Compared {
    double predicted = 0, measured = 0;
    double ratio() const { return predicted / measured; }
  };
  // Collective. Measures medians of `steps` steps, in several turns, and returns the turn with the
  // least time.
  Compared compared(int steps, int turns) {
    Compared least = comparedOnce(steps);
    for (int turn = 1; turn < turns; ++turn)
      if (const Compared one = comparedOnce(steps); one.measured < least.measured)
        least = one;
    return least;
  }

private:
  Compared comparedOnce(int steps) {
    logEnable(true);
    for (int s = 0; s < steps; ++s)
      step();
    logEnable(false);
    const Measurement& measured = plan_->measured();
    const std::vector<LayerCost> predicted =
        plan_->costs(plan_->comm()->rank(), measured.wantedInput());
    Compared sum;
    for (int node = 0; node < static_cast<int>(predicted.size()); ++node)
      for (int p = 0; p < kPhases; ++p) {
        const double ownSeconds = measured.of(node, static_cast<Phase>(p)).seconds;
        double slowest = ownSeconds;
        MPI_Allreduce(&ownSeconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, plan_->comm()->mpi());
        sum.measured += slowest;
        sum.predicted += predicted[node][p].seconds;
      }
    return sum;
  }

  Ref<LayerPlan> plan_;
  Ref<Layer> loss_;
  Ref<Optimizer> optimizer_;
  Ref<DTensor> x_, y_, dy_, value_, seed_;
};

// The parallelization of each layer, as labels.
inline std::string wordsOf(const FoundPlan& plan) {
  std::string text;
  for (const PlannedLayer& layer : plan.layers)
    text += (text.empty() ? "" : " ") + (layer.labels.empty() ? "-" : layer.labels);
  return text;
}

inline double medianOf(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
  return values[values.size() / 2];
}

// The main program of a benchmark: initialises the library, calls run(argc, argv), and finalises.
template <class Run>
int benchmarkMain(const char* name, int argc, char** argv, Run&& run) {
  initialize(&argc, &argv, MPI_COMM_NULL, "");
  int code = 0;
  try {
    run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", name, error.text());
    code = 1;
  }
  finalize();
  return code;
}

} // namespace tenon::bench
