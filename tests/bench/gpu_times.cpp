// SPDX-License-Identifier: BSD-2-Clause
#include "bench/gpu.hpp"
#include "bench/race.hpp"
#include "dtensor/fill.hpp"

#include <fmt/format.h>

namespace tenon::bench {

using test::world;

bool isSmall = false;

Index sized(Index full, Index small) {
  return isSmall ? small : full;
}

KernelContext& device() {
  return *contextOf(world(), Space::Device);
}

double secondsOf(const Work& work, int calls) {
  std::vector<double> seconds;
  for (Index turn = -2; turn < sized(20, 1); ++turn) {
    device().stream().synchronise();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int call = 0; call < calls; ++call)
      work();
    device().stream().synchronise();
    double taken = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (turn >= 0)
      seconds.push_back(taken / calls);
  }
  return quantile(seconds, 0.5);
}

void printRow(const std::string& what, const std::string& against, double ratio,
              const std::string& target) {
  if (world()->rank() == 0)
    fmt::print("{:<50} {:<34} {:>6.2f}  {}\n", what, against, ratio, target);
}
void printTime(const std::string& name, double seconds) {
  if (world()->rank() == 0)
    fmt::print("time {} {:.4g}\n", name, seconds);
}

Ref<DTensor> made(const Layout& layout, TenonDataType type) {
  const auto x = makeRef<DTensor>(world(), layout, type, Space::Device);
  fillUniform(*x, 1, 1, -1, 1);
  return x;
}
Layout onRow(const Shape& shape, Property property) {
  return Layout({.shape = shape, .mesh = Mesh::make({world()->size()}), .properties = {property}});
}
Layout alone(const Shape& shape) {
  return onRow(shape, Property::broadcast());
}

Pass::Pass(const Ref<Layer>& of, const Layout& input, TenonDataType type, const char* backend)
    : layer(of) {
  layer->setDataType(type);
  layer->setSpace(Space::Device);
  if (layer->declaration().settings().has("backend"))
    layer->setText("backend", backend);
  layer->setUp(input);
  layer->initialize(1, 0);
  x = made(input, type);
  y = made(layer->outputLayout(), type);
  dy = made(layer->outputLayout().dual(), type);
  dx = made(input.dual(), type);
}

void Pass::forward() {
  layer->setTraining(false);
  layer->apply(*x, *y);
}

void Pass::both() {
  layer->setTraining(true);
  layer->apply(*x, *y);
  layer->applyAdjoint(*dy, dx.get());
}

} // namespace tenon::bench
