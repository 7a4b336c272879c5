// SPDX-License-Identifier: BSD-2-Clause
// Common code of the benchmarks on a device (gpu.hpp): timing, rows of the table, tensors and
// layers with random values in device memory.
#include "bench/gpu.hpp"
#include "bench/race.hpp"
#include "dtensor/fill.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::bench {

using test::world;

bool isSmall = false;

Index sized(Index full, Index small) {
  return isSmall ? small : full;
}

KernelContext& device() {
  return *contextOf(world(), Space::Device);
}

double secondsOf(const Work& work, int calls, Index turns) {
  std::vector<double> seconds;
  const Index counted = turns > 0 ? turns : sized(20, 1);
  // Turns with negative numbers are not counted: first calls create plans and allocate buffers.
  for (Index turn = turns > 0 ? -1 : -2; turn < counted; ++turn) {
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

// Draws at most a million numbers on the host, which takes 20 ns each; the device copies them as
// often as needed.
void fillRandomly(DTensor& x) {
  const Index elements = x.localElements(), some = std::min(elements, sized(1 << 20, 1 << 4));
  if (elements == 0)
    return;
  const auto few = makeRef<DTensor>(world(), alone({some}), x.dataType(), Space::Device);
  fillUniform(*few, /*seed=*/1, /*stream=*/1, -1, 1);
  const Index size = dataTypeSize(x.dataType());
  auto* const to = static_cast<char*>(x.writeAddress());
  const auto copy = [&](Index at, const void* from, Index count) {
    Device::get().copy(to + at * size, from, count * size, device().stream());
  };
  copy(0, few->readAddress(), some);
  for (Index done = some; done < elements; done *= 2)
    copy(done, to, std::min(done, elements - done));
}

Ref<DTensor> made(const Layout& layout, TenonDataType type) {
  const auto x = makeRef<DTensor>(world(), layout, type, Space::Device);
  fillRandomly(*x);
  return x;
}

void initialise(Layer& layer) {
  for (const Ref<Parameter>& p : layer.parameters()) {
    fillRandomly(p->value());
    p->valueChanged();
    p->setInitialized();
  }
}
Layout onRow(const Shape& shape, Property property) {
  return Layout({.shape = shape, .grid = Grid::make({world()->size()}), .properties = {property}});
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
  initialise(*layer);
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
