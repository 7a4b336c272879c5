// SPDX-License-Identifier: BSD-2-Clause
// Times the cost of halos: a float32 convolution in three dimensions (3 x 3 x 3, padding 1) whose
// space is split over the ranks, compared with the same layer on this rank's part alone, without
// neighbours.
//
//   OMP_NUM_THREADS=1 mpiexec -n 2 tests/bench/split_convolution
#include "bench/convolution_step.hpp"
#include "bench/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tenon::bench {
namespace {

constexpr Target kTarget{1.03};

// Whether this rank's part of a split tensor [1, c, d, h, w] has the values of the whole tensor.
bool agrees(TenonDTensor part, TenonDTensor whole, int channels, int elements) {
  TenonInt low[5], high[5];
  require(TenonDTensorGetBox(part, low, high));
  const float* got = arrayOf<float>(part, TENON_FLOAT32);
  const float* want = arrayOf<float>(whole, TENON_FLOAT32);
  const TenonInt plane = TenonInt(elements) * elements;
  for (int c = 0; c < channels; ++c)
    for (TenonInt d = low[2]; d < high[2]; ++d)
      for (TenonInt i = 0; i < plane; ++i)
        if (!(std::abs(*got++ - want[(c * elements + d) * plane + i]) <= 1e-4F))
          return false;
  return true;
}

void checkValues(MPI_Comm comm, ConvolutionStep& split, int channels, int elements) {
  ConvolutionStep whole(MPI_COMM_SELF, channels, elements, elements, "B");
  for (ConvolutionStep* step : {&split, &whole}) {
    require(TenonDTensorFillConstant(step->dx, 0));
    step->both();
  }
  const bool right = agrees(split.y, whole.y, channels, elements) &&
                     agrees(split.dx, whole.dx, channels, elements);
  requireEqual(comm, "the split convolution", {right ? 1.0 : 0.0}, {1.0});
}

void measure(MPI_Comm comm, int channels, int elements) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  ConvolutionStep split(comm, channels, elements, elements, "S2");
  checkValues(comm, split, channels, elements);
  ConvolutionStep share(MPI_COMM_SELF, channels, (elements + ranks - 1) / ranks, elements, "B");
  Race race(comm, fmt::format("convolution {}ch {}^3", channels, elements));
  race.add("forward", [&] { split.forward(); });
  race.add("forward, share", [&] { share.forward(); });
  race.add("with adjoint", [&] { split.both(); });
  race.add("with adjoint, share", [&] { share.both(); });
  race.time();
  race.print("forward", "library", "forward, share", kTarget);
  race.print("with adjoint", "library", "with adjoint, share", kTarget);
}

void run() {
  printHead(MPI_COMM_WORLD);
  measure(MPI_COMM_WORLD, 4, 96);
  measure(MPI_COMM_WORLD, 16, 96);
  measure(MPI_COMM_WORLD, 32, 64);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
