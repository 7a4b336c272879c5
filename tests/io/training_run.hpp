// SPDX-License-Identifier: BSD-2-Clause
// A small network in training on some ranks of the world, for tests of checkpoints: convolution,
// dropout, affine layers, batch normalisation, and a cross entropy as loss. TrainingRun has the
// network, an optimizer, and a checkpoint with both. Samples are random numbers that depend on the
// optimizer's step count only, so a run that continues from a file has the same losses as the run
// that wrote it.
#pragma once

#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "io/checkpoint.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/sgd.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <unistd.h>

namespace tenon::test {

// Returns a communicator of the first `ranks` ranks of the world; null on the others. Collective.
inline CommPtr firstRanks(int ranks) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world()->rank() < ranks ? 0 : MPI_UNDEFINED, world()->rank(),
                 &part);
  if (part == MPI_COMM_NULL)
    return nullptr;
  CommPtr comm = Communicator::of(part);
  MPI_Comm_free(&part);
  return comm;
}

// All elements of each tensor of the state, and each number, by path.
using WholeState = std::map<std::string, std::vector<double>>;

// Returns the complete state of a network and its optimizer, the same on all ranks. Collective.
// Each rank stores the elements that it would write to a file; the sum over ranks has all of them.
inline WholeState wholeState(Layer& net, Optimizer& optimizer) {
  struct Collect final : StateVisitor {
    WholeState collected;
    void tensor(const std::string& path, DTensor& value) override {
      const Shape& shape = value.layout().shape();
      const Shape strides = rowMajorStrides(shape);
      std::vector<double> whole(static_cast<std::size_t>(elements(shape)));
      const Box box = writtenBox(value.layout(), value.comm()->rank());
      const HostView<const double> view(value);
      const Shape extent = extents(box), within = rowMajorStrides(extent);
      for (Index i = 0; i < elements(extent); ++i) {
        Index global = 0, local = 0;
        for (std::size_t d = 0; d < box.size(); ++d) {
          const Index at = i / within[d] % extent[d];
          global += (box[d].begin + at) * strides[d];
          local += (box[d].begin + at - value.box()[d].begin) * value.strides()[d];
        }
        whole[static_cast<std::size_t>(global)] = view[local];
      }
      MPI_Allreduce(MPI_IN_PLACE, whole.data(), static_cast<int>(whole.size()), MPI_DOUBLE, MPI_SUM,
                    value.comm()->mpi());
      collected[path] = whole;
    }
    void number(const std::string& path, std::uint64_t& value) override {
      collected[path] = {static_cast<double>(value)};
    }
  } collect;
  visitState(net, "net", collect);
  optimizer.visitState("optimizer", collect);
  return collect.collected;
}

// Variants of a run.
struct Kind {
  std::string storage = "use"; // setting `storage` (layout) of the layers with parameters
  std::string optimizer = "adam";
  Space space = Space::Host;
};

class TrainingRun {
public:
  TrainingRun(CommPtr comm, const Kind& kind, std::uint64_t seed = 3)
      : comm_(std::move(comm)), net_(newLayer(comm_, "sequential")),
        loss_(newLayer(comm_, "crossentropy")) {
    // A layer with parameters gets the storage of this kind.
    const auto add = [&](Ref<Layer> layer, const char* name, bool hasParameters = false) {
      layer->setName(name);
      if (hasParameters)
        layer->setText("storage", kind.storage);
      appendLayer(*net_, layer);
    };
    add(newConv(comm_, 1, 3, std::vector<Window>(2, {.kernel = 3, .padLow = 1, .padHigh = 1})),
        "conv", /*hasParameters=*/true);
    add(newDropout(comm_, 0.25), "drop");
    add(newLayer(comm_, "flatten"), "flatten");
    add(newAffine(comm_, 75, 20), "first", /*hasParameters=*/true);
    add(newPointwise(comm_, "tanh"), "tanh");
    const Ref<Layer> norm = newLayer(comm_, "batchnorm");
    norm->set("channels", Index(20));
    add(norm, "norm", /*hasParameters=*/true);
    add(newAffine(comm_, 20, 10), "second", /*hasParameters=*/true);
    add(loss_, "loss");
    net_->setDataType(TENON_FLOAT64);
    net_->setSpace(kind.space);
    const GridPtr grid = Grid::make({comm_->size(), 1});
    const Layout input(
        {.shape = {12, 1, 5, 5}, .grid = grid, .properties = parseProperties("S0,B")});
    const Layout labels({.shape = {12}, .grid = grid, .properties = parseProperties("B,B")});
    net_->setUp(input);
    net_->initialize(seed, 0);
    optimizer_ = makeOptimizer(kind.optimizer, net_);
    optimizer_->set("learning_rate", 0.01);
    if (kind.optimizer == "sgd")
      optimizer_->set("momentum", 0.9);
    x_ = makeRef<DTensor>(comm_, input, TENON_FLOAT64, kind.space);
    target_ = makeRef<DTensor>(comm_, labels, TENON_INT64);
    y_ = makeRef<DTensor>(comm_, net_->outputLayout(), TENON_FLOAT64, kind.space);
    seed_ = makeRef<DTensor>(comm_, net_->outputLayout().dual(), TENON_FLOAT64, kind.space);
    fillConstant(*seed_, 1);
    loss_->setTarget(target_);
    checkpoint_ = makeRef<Checkpoint>(comm_);
    checkpoint_->addLayer(net_, "net");
    checkpoint_->addOptimizer(optimizer_, "optimizer");
  }

  const CommPtr& comm() const { return comm_; }
  Checkpoint& checkpoint() { return *checkpoint_; }
  Optimizer& optimizer() { return *optimizer_; }
  const Ref<Layer>& net() const { return net_; }

  // Trains one batch; returns the loss before the step, the same on all ranks. Collective.
  double step() {
    const auto batch = static_cast<std::uint64_t>(optimizer_->steps());
    fillUniform(*x_, /*seed=*/5, 100 + batch, 0, 1);
    fillByIndex(*target_, [&](Index n) { return std::floor(10 * uniformAt(5, 200 + batch, n)); });
    net_->apply(*x_, *y_);
    net_->applyAdjoint(*seed_, nullptr);
    optimizer_->step();
    // Ranks without the loss contribute -1 to the maximum; a cross entropy is positive.
    double loss = y_->localElements() > 0 ? numberOf(*y_) : -1;
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_MAX, comm_->mpi());
    return loss;
  }
  std::vector<double> steps(int count) {
    std::vector<double> losses;
    for (int i = 0; i < count; ++i)
      losses.push_back(step());
    return losses;
  }

  WholeState state() { return wholeState(*net_, *optimizer_); }

private:
  CommPtr comm_;
  Ref<Layer> net_, loss_;
  Ref<Optimizer> optimizer_;
  Ref<DTensor> x_, target_, y_, seed_;
  Ref<Checkpoint> checkpoint_;
};

// A temporary folder with the same path on all ranks. It is empty at first, and the destructor
// removes it. The constructor and the destructor are collective on the world.
class SharedFolder {
public:
  explicit SharedFolder(const std::string& name) {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path_ = (std::filesystem::temp_directory_path() / ("tenon_" + name)).string() + "." +
            std::to_string(number);
    if (world()->rank() == 0) {
      std::filesystem::remove_all(path_);
      std::filesystem::create_directory(path_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world()->rank() == 0)
      std::filesystem::remove_all(path_);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

private:
  std::string path_;
};

} // namespace tenon::test
