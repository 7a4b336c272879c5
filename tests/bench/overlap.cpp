// SPDX-License-Identifier: BSD-2-Clause
// Times how much of a halo exchange is hidden by computation. On one node a halo arrives at once,
// so the messages of each conversion are delayed artificially: they are accepted only after 4 ms
// (support/delay.hpp). The work is a float32 convolution in three dimensions whose space is split
// over the ranks, with the overlap of exchange and computation and without.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/overlap
#include "bench/convolution_step.hpp"
#include "bench/race.hpp"
#include "support/delay.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::bench {
namespace {

constexpr double kLate = 4e-3;            // seconds
constexpr int kChannels = 8, kCells = 64; // cells in each dimension
constexpr Target kTarget{1.05};

void runLate(ConvolutionStep& step, bool adjoint, double late) {
  const test::Delay delay(late);
  if (adjoint)
    step.both();
  else
    step.forward();
}

bool agree(TenonDTensor got, TenonDTensor want) {
  double norms[2] = {0, 0};
  require(TenonDTensorNorm(got, &norms[0]));
  require(TenonDTensorNorm(want, &norms[1]));
  return std::abs(norms[0] - norms[1]) <= 1e-5 * norms[1];
}

void run() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  ConvolutionStep with(comm, kChannels, kCells, kCells, "S2", "on"),
      without(comm, kChannels, kCells, kCells, "S2", "off");
  with.both();
  without.both();
  const bool right = agree(with.y, without.y) && agree(with.dx, without.dx);
  requireEqual(comm, "the overlapped convolution", {right ? 1.0 : 0.0}, {1.0});
  printHead(comm);
  for (const bool adjoint : {false, true}) {
    Race race(comm, fmt::format("{}, halo {} ms late", adjoint ? "with adjoint" : "forward",
                                1e3 * kLate));
    race.add("overlap", [&] { runLate(with, adjoint, kLate); });
    race.add("no overlap", [&] { runLate(without, adjoint, kLate); });
    race.add("overlap, halo in time", [&] { runLate(with, adjoint, 0); });
    race.add("no overlap, halo in time", [&] { runLate(without, adjoint, 0); });
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
