// SPDX-License-Identifier: BSD-2-Clause
// Times one training step of LeNet-5 (batch 256, float32, Adam) on all ranks: forward, backward,
// sum of the gradients, update of the parameters. It prints the median over steps of the slowest
// rank's time, in milliseconds, and from the log of further steps the share of data movement
// between layouts (messages, local copies, and waiting for other ranks). lenet5_torch.py is the
// same step in PyTorch.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/lenet5_step [batch|space]
//
// batch: the ranks share the images (label n). space: they share rows and columns, and the affine
// layers' weights, as in the tutorial.
#include "comm/session/session.hpp"
#include "dtensor/fill.hpp"
#include "kernels/base/library_info.hpp"
#include "support/layers.hpp"
#include "sys/log/log.hpp"
#include "sys/random.hpp"
#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::bench {
namespace {

constexpr Index kBatch = 256;
constexpr int kWarm = 5, kTimed = 41, kLogged = 10; // numbers of steps

// The parallelization of the network: the process grid, and the signatures of those layers that do
// not use the default for their input.
struct Distribution {
  std::vector<int> grid;
  std::string input, convolution, relu, flatten, first, firstRelu, second, secondRelu, third;
};

Distribution byBatch(int ranks) {
  return {{ranks}, "S0", "n", "", "", "", "", "", "", ""};
}

Distribution bySpace(int ranks) {
  int rows = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % rows != 0)
    --rows;
  return {
      {rows, ranks / rows}, "S2,S3", "h,w", "S2,S3", "B,c", "o,i", "S1,B", "i,o", "B,S1", "o,i"};
}

Ref<Layer> makeNetwork(const CommPtr& comm, const Distribution& d) {
  const auto net = test::newLayer(comm, "sequential");
  auto add = [&](const Ref<Layer>& layer, const std::string& signature) {
    layer->setText("signature", signature);
    appendLayer(*net, layer);
  };
  const std::vector<Window> halving(2, Window{.kernel = 2, .stride = 2});
  const Window same{.kernel = 5, .padLow = 2, .padHigh = 2}, inner{.kernel = 5};
  for (const auto& [in, out, window] : {std::tuple(1, 6, same), std::tuple(6, 16, inner)}) {
    add(test::newConv(comm, in, out, std::vector<Window>(2, window)), d.convolution);
    add(test::newPointwise(comm, "relu"), d.relu);
    add(test::newPooling(comm, PoolingMode::Max, halving), "");
  }
  add(test::newLayer(comm, "flatten"), d.flatten);
  add(test::newAffine(comm, 400, 120), d.first);
  add(test::newPointwise(comm, "relu"), d.firstRelu);
  add(test::newAffine(comm, 120, 84), d.second);
  add(test::newPointwise(comm, "relu"), d.secondRelu);
  add(test::newAffine(comm, 84, 10), d.third);
  return net;
}

class Training {
public:
  Training(const CommPtr& comm, const Distribution& d)
      : net_(makeNetwork(comm, d)), loss_(test::newLayer(comm, "crossentropy")) {
    const GridPtr grid = Grid::make(d.grid);
    const Layout input(
        {.shape = {kBatch, 1, 28, 28}, .grid = grid, .properties = parseProperties(d.input)});
    net_->setUp(input);
    net_->initialize(1, 0);
    const Layout logits = net_->outputLayout(input);
    loss_->setUp(logits);
    const Layout value = loss_->outputLayout(logits);
    auto tensor = [&](const Layout& layout, TenonDataType type = TENON_FLOAT32) {
      return makeRef<DTensor>(comm, layout, type);
    };
    x_ = tensor(input);
    logits_ = tensor(logits);
    dlogits_ = tensor(logits.dual());
    value_ = tensor(value);
    dvalue_ = tensor(value.dual());
    const auto labels =
        tensor(Layout({.shape = {kBatch},
                       .grid = grid,
                       .properties = Properties(d.grid.size(), Property::broadcast())}),
               TENON_INT64);
    fillUniform(*x_, /*seed=*/1, /*stream=*/1, 0, 1);
    fillByIndex(*labels, [](Index n) { return std::floor(10 * uniformAt(1, 2, n)); });
    fillConstant(*dvalue_, 1);
    loss_->setTarget(labels);
    adam_ = makeOptimizer("adam", net_);
  }
  void step() {
    net_->apply(*x_, *logits_);
    loss_->apply(*logits_, *value_);
    loss_->applyAdjoint(*dvalue_, dlogits_.get());
    net_->applyAdjoint(*dlogits_, nullptr);
    adam_->step();
  }
  double loss() const {
    const DTensor& value = *value_;
    return value.localElements() > 0 ? static_cast<double>(value.data<float>()[0]) : 0;
  }

private:
  Ref<Layer> net_;
  Ref<Layer> loss_;
  Ref<Optimizer> adam_;
  Ref<DTensor> x_, logits_, dlogits_, value_, dvalue_;
};

double slowest(const CommPtr& comm, double seconds) {
  double most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, comm->mpi());
  return most;
}

double medianStep(const CommPtr& comm, Training& training) {
  std::vector<double> times;
  for (int i = 0; i < kWarm + kTimed; ++i) {
    MPI_Barrier(comm->mpi());
    const double start = MPI_Wtime();
    training.step();
    const double time = slowest(comm, MPI_Wtime() - start);
    if (i >= kWarm)
      times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The share of data movement in the time of this rank's steps, and the data that it sends in one
// step.
struct Movement {
  double share = 0, messages = 0, bytes = 0;
};
Movement movementOf(Training& training) {
  logEnable(true);
  logReset();
  const double start = MPI_Wtime();
  for (int i = 0; i < kLogged; ++i)
    training.step();
  const double time = MPI_Wtime() - start;
  logEnable(false);
  Movement sum;
  for (const EventRecord& record : logSnapshot()) {
    if (record.event.starts_with("LinearOp") || record.event.starts_with("Conversion"))
      sum.share += record.selfTime / time;
    sum.messages += static_cast<double>(record.messages) / kLogged;
    sum.bytes += static_cast<double>(record.bytes) / kLogged;
  }
  return sum;
}

void run(const std::string& how) {
  if (how != "batch" && how != "space")
    throw Error(TENON_ERR_ARG, fmt::format("'{}' was passed; expected batch or space", how));
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  Training training(comm, how == "batch" ? byBatch(comm->size()) : bySpace(comm->size()));
  training.step();
  const double first = training.loss();
  const double time = medianStep(comm, training);
  const Movement moved = movementOf(training);
  if (!(training.loss() < first))
    throw Error(TENON_ERR_INTERNAL, fmt::format("the loss went from {} to {}: no step of training",
                                                first, training.loss()));
  if (comm->rank() == 0)
    fmt::print("tenon: {:.2f} ms a step; {} rank(s) by {}, batch {}, float32, Adam, {} thread(s) a "
               "rank, oneDNN {}, BLAS {}; moving data {:.0f} % of it, {:.0f} messages and {:.0f} "
               "KiB sent by rank 0 a step; median of {}\n",
               1e3 * time, comm->size(), how, kBatch, computeThreads(), oneDnnVersion(),
               blasInfo().kernel, 100 * moved.share, moved.messages, moved.bytes / 1024, kTimed);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  tenon::initialize(&argc, &argv, MPI_COMM_NULL, "");
  int code = 0;
  try {
    tenon::bench::run(argc > 1 ? argv[1] : "batch");
  } catch (const tenon::Error& error) {
    fmt::print(stderr, "lenet5_step: {}\n", error.text());
    code = 1;
  }
  tenon::finalize();
  return code;
}
