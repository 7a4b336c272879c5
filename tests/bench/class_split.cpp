// SPDX-License-Identifier: BSD-2-Clause
// Times the training of a classifier with very many classes, as in Appendix A.4 of the DistPar
// paper: a convolutional body of 512 features and a head of one affine layer, in float32 with the
// cross-entropy, for several batch sizes and three parallelizations:
//
//   data     all layers split the batch; the gradient of the head's weights is summed
//   model    all layers split their output channels; the head its classes
//   hybrid   the body splits the batch and the head its classes
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/class_split [classes [rounds]]
//
// For each batch size it prints the median time of a step on the slowest rank, and the time that a
// plan predicts from the rates of the machine, which are measured first.
#include "bench/planned_training.hpp"
#include "layer/networks/network.hpp"
#include "plan/machine_measurement.hpp"
#include "support/layers.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace tenon::bench {
namespace {

constexpr Index kFeatures = 512, kPixels = 32; // of images of 32 x 32 pixels
constexpr int kMachineRounds = 15;             // of measuring the machine's rates

// Three convolutions that halve the extents, an embedding and the head.
Ref<Layer> makeClassifier(const CommPtr& comm, Index classes) {
  const Ref<Layer> network = makeLayer(comm, "sequential");
  const auto add = [&](const Ref<Layer>& layer, const std::string& name) {
    layer->setName(name);
    appendLayer(*network, layer);
  };
  const std::vector<Window> halving(2, {.kernel = 3, .stride = 2, .padLow = 1, .padHigh = 1});
  Index channels = 3;
  for (const Index next : {32, 64, 128}) {
    add(test::newConv(comm, channels, next, halving), fmt::format("conv{}", next));
    add(test::newPointwise(comm, "relu"), fmt::format("relu{}", next));
    channels = next;
  }
  add(makeLayer(comm, "flatten"), "flatten");
  add(test::newAffine(comm, channels * (kPixels / 8) * (kPixels / 8), kFeatures), "embedding");
  add(test::newAffine(comm, kFeatures, classes), "head");
  return network;
}

struct Parallelism {
  const char* name;
  const char *body, *embedding, *head; // labels of their layers: n splits the batch, o the outputs
};
constexpr Parallelism kAll[] = {
    {"data", "n", "n", "n"}, {"model", "o", "o", "o"}, {"hybrid", "n", "n", "o"}};

void runBatch(const CommPtr& comm, const Machine& machine, Index classes, Index batch, int rounds) {
  std::string line = fmt::format("{:>6}", batch), predictions;
  for (const Parallelism& one : kAll) {
    const auto plan = makeRef<LayerPlan>(makeClassifier(comm, classes), batch);
    plan->set("input_shape", Shape{3, kPixels, kPixels});
    plan->setMachine(machine);
    if (comm->size() > 1) {
      for (const char* conv : {"conv32", "conv64", "conv128"})
        plan->fix(conv, one.body);
      plan->fix("embedding", one.embedding);
      plan->fix("head", one.head);
    }
    PlannedTraining training(plan, classes, "sgd");
    training.secondsOfSteps(1); // not measured: the first step creates buffers
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round)
      seconds.push_back(training.secondsOfSteps(1));
    line += fmt::format(" {:>10.1f} ms", 1e3 * medianOf(seconds));
    predictions += fmt::format(" {:>10.1f} ms", 1e3 * plan->found().seconds);
  }
  if (comm->rank() == 0)
    fmt::print("{} |{}\n", line, predictions);
}

void run(Index classes, int rounds) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  if (comm->size() != 2)
    throw Error(TENON_ERR_ARG, "class_split runs on 2 ranks");
  const Machine machine = measuredMachine(comm, Space::Host, kMachineRounds).machine;
  if (comm->rank() == 0) {
    fmt::print("{} classes, {} ranks, float32, SGD; medians of {} steps\n{:>6}", classes,
               comm->size(), rounds, "batch");
    for (const char* what : {"", "|"})
      for (const Parallelism& one : kAll)
        fmt::print("{} {:>13}", &one == kAll ? what : "", one.name);
    fmt::print("   (measured | predicted)\n");
  }
  for (const Index batch : {8, 32, 128, 512})
    runBatch(comm, machine, classes, batch, rounds);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain("class_split", argc, argv, [](int count, char** words) {
    tenon::bench::run(count > 1 ? std::atoi(words[1]) : 100000,
                      count > 2 ? std::atoi(words[2]) : 7);
  });
}
