// SPDX-License-Identifier: BSD-2-Clause
// Times a training step (forward, adjoint, Adam) of networks whose space is split over the ranks,
// compared with the same step on one rank while the others wait: a 3-D U-Net with 16 base channels
// at 64^3, the network fno2d of share/tenon/networks (a Fourier neural operator) at 64 x 64, and
// one in 3-D, in float32; and the split step with activations that are saved in bfloat16.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/volume_networks
#include "support/volume_networks.hpp"
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "dtensor/fill.hpp"
#include "layer/networks/network_file.hpp"
#include "support/world.hpp"
#include "train/optimizer.hpp"

#include <fmt/format.h>

namespace tenon::bench {
namespace {

using test::VolumeNetwork;
using Make = std::function<VolumeNetwork(const CommPtr&)>;

class TrainingStep {
public:
  TrainingStep(const CommPtr& comm, const Make& make, const Shape& shape, Property split,
               const char* savedType = "same")
      : network_(make(comm)), x_(), y_() {
    const Layout input({.shape = shape, .grid = Grid::make({comm->size()}), .properties = {split}});
    Layer& net = *network_.net;
    net.setText("saved_type", savedType);
    net.setUp(input);
    net.initialize(1, 0);
    const auto made = [&](const Layout& layout) {
      return makeRef<DTensor>(comm, layout, TENON_FLOAT32);
    };
    Shape targetShape{shape[0]};
    targetShape.insert(targetShape.end(), network_.target.begin(), network_.target.end());
    const Ref<DTensor> target =
        made(Layout({.shape = targetShape, .grid = input.gridPtr(), .properties = {split}}));
    fillUniform(*target, /*seed=*/1, /*stream=*/2, -1, 1);
    network_.loss->setTarget(target);
    x_ = made(input);
    y_ = made(net.outputLayout());
    seed_ = made(net.outputLayout().dual());
    fillUniform(*x_, /*seed=*/1, /*stream=*/1, -1, 1);
    fillConstant(*seed_, 1);
    optimizer_ = makeOptimizer("adam", network_.net);
  }
  void run() {
    network_.net->apply(*x_, *y_);
    network_.net->applyAdjoint(*seed_, nullptr);
    optimizer_->step();
  }
  Index savedBytes() const { return network_.net->memory().saved; }
  double loss() const { return std::as_const(*y_).data<float>()[0]; }

private:
  VolumeNetwork network_;
  Ref<DTensor> x_, y_, seed_;
  Ref<Optimizer> optimizer_;
};

void measure(const std::string& work, const Make& make, const Shape& shape) {
  const CommPtr comm = test::world();
  TrainingStep split(comm, make, shape, Property::shard(2)),
      rounded(comm, make, shape, Property::shard(2), "bfloat16");
  std::optional<TrainingStep> alone;
  if (comm->rank() == 0)
    alone.emplace(Communicator::of(MPI_COMM_SELF), make, shape, Property::broadcast());
  split.run();
  double error = 0;
  if (alone) {
    alone->run();
    error = std::abs(split.loss() / alone->loss() - 1);
  }
  requireEqual(MPI_COMM_WORLD, work, {error < 1e-4 ? 1. : 0.}, {1.});
  Race race(MPI_COMM_WORLD, work);
  race.add("split", [&] { split.run(); });
  race.add("one rank", [&] {
    if (alone)
      alone->run();
  });
  race.add("bfloat16", [&] { rounded.run(); });
  race.time();
  race.print("split", "library", "one rank",
             comm->size() == 2 ? std::optional(Target{0.6}) : std::nullopt);
  race.print("bfloat16", "library", "split");
  if (comm->rank() == 0)
    fmt::print("saved activations {:.1f} MiB, in bfloat16 {:.1f} MiB\n",
               double(split.savedBytes()) / 0x1p20, double(rounded.savedBytes()) / 0x1p20);
}

VolumeNetwork fno2d(const CommPtr& comm) {
  VolumeNetwork made{
      test::newLayer(comm, "sequential"), test::newLayer(comm, "relativel2"), {1, 64, 64}};
  appendLayer(*made.net, readNetwork(comm, TENON_TEST_NETWORKS "/fno2d.json"));
  appendLayer(*made.net, made.loss);
  return made;
}

void run() {
  printHead(MPI_COMM_WORLD);
  measure("U-Net 16 channels 64^3",
          [](const CommPtr& comm) { return test::volumeUnet(comm, 64, 16, 3); },
          {1, 1, 64, 64, 64});
  measure("FNO-2D batch 20", fno2d, {20, 12, 64, 64});
  measure("FNO 3-D 16 channels 64^3",
          [](const CommPtr& comm) { return test::volumeFno(comm, 64, 16, 8); }, {1, 1, 64, 64, 64});
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
