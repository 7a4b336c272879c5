// SPDX-License-Identifier: BSD-2-Clause
// What computing while the halo travels hides of it. On one node a halo arrives at once, so each
// conversion is made late: it does not look at what arrived before 4 ms are over (comm/delay.hpp). A
// float32 convolution in three dimensions whose space is split, with the overlap and without.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/overlap
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "comm/delay.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::bench {
namespace {

constexpr double kLate = 4e-3;
constexpr int kChannels = 8, kCells = 64;
constexpr Target kTarget{1.05};

struct Step {
  Step(MPI_Comm comm, TenonOverlap overlap)
      : input(makeLayout(comm, {1, kChannels, kCells, kCells, kCells}, "S2")) {
    const TenonInt three[] = {3, 3, 3}, one[] = {1, 1, 1};
    require(TenonLayerCreateConv(comm, 3, kChannels, kChannels, three, layer.out()));
    require(TenonLayerSetPadding(layer, one, one));
    require(TenonLayerSetOverlap(layer, overlap));
    require(TenonLayerSetUp(layer, input));
    require(TenonLayerInitialize(layer, 1));
    require(TenonDTensorCreate(input, TENON_FLOAT32, x.out()));
    require(TenonLayerCreateOutput(layer, y.out()));
    require(TenonLayerCreateCotangent(layer, dy.out()));
    require(TenonLayerCreateInputCotangent(layer, dx.out()));
    require(TenonDTensorFillUniform(x, 1, 1, -1, 1));
    require(TenonDTensorFillUniform(dy, 1, 2, -1, 1));
  }
  void run(bool adjoint, double late) {
    Delay::set(late);
    require(TenonLayerSetTraining(layer, adjoint ? TENON_TRUE : TENON_FALSE));
    require(TenonLayerApply(layer, x, y));
    if (adjoint)
      require(TenonLayerApplyAdjoint(layer, dy, dx));
    Delay::set(0);
  }
  std::vector<double> norms() {
    std::vector<double> values(2);
    require(TenonDTensorNorm(y, &values[0]));
    require(TenonDTensorNorm(dx, &values[1]));
    return values;
  }

  LayoutHandle input;
  LayerHandle layer;
  TensorHandle x, y, dx, dy;
};

void run() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  Step with(comm, TENON_OVERLAP_ON), without(comm, TENON_OVERLAP_OFF);
  with.run(true, 0);
  without.run(true, 0);
  const auto got = with.norms(), want = without.norms();
  const bool right = std::abs(got[0] - want[0]) <= 1e-5 * want[0] && //
                     std::abs(got[1] - want[1]) <= 1e-5 * want[1];
  requireEqual(comm, "the overlapped convolution", {right ? 1.0 : 0.0}, {1.0});
  printHead(comm);
  for (const bool adjoint : {false, true}) {
    Race race(comm, fmt::format("{}, halo {} ms late", adjoint ? "with adjoint" : "forward",
                                1e3 * kLate));
    race.add("overlap", [&] { with.run(adjoint, kLate); });
    race.add("no overlap", [&] { without.run(adjoint, kLate); });
    race.add("overlap, halo in time", [&] { with.run(adjoint, 0); });
    race.add("no overlap, halo in time", [&] { without.run(adjoint, 0); });
    race.time();
    race.print("overlap", "library", "overlap, halo in time", kTarget);
    race.print("no overlap", "library", "no overlap, halo in time");
  }
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
