// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints of a run on the device: a run on the device or the host continues from a file that
// was written on either, with the same state and the same next loss.
#include "training_run.hpp"

#include "dtensor/arithmetic.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::Kind;
using test::SharedFolder;
using test::TrainingRun;
using test::world;

// Returns a kind of run whose tensors are in this memory space.
Kind in(Space space) {
  return {.storage = "use", .optimizer = "adam", .space = space};
}

TEST(DeviceCheckpoint, GoesOnInEitherSpace) {
  const SharedFolder folder("checkpoint_device");
  for (const Space writer : {Space::Device, Space::Host}) {
    TrainingRun written(world(), in(writer));
    written.steps(2);
    written.checkpoint().write(folder / "run.h5");
    const auto state = written.state();
    const double next = written.step();
    for (const Space reader : {Space::Device, Space::Host}) {
      TrainingRun run(world(), in(reader), 4);
      run.step(); // changes the state, which reading must then replace
      run.checkpoint().read(folder / "run.h5");
      EXPECT_EQ(run.state(), state);
      EXPECT_NEAR(run.step(), next, 1e-12 * std::abs(next));
    }
  }
}

TEST(DeviceCheckpoint, TakesArraysOfAnyStride) {
  const SharedFolder folder("checkpoint_stride");
  const Layout layout({.shape = {4, 5},
                       .grid = Grid::make({world()->size()}),
                       .properties = {Property::broadcast()}});
  const auto x = makeRef<DTensor>(world(), layout, TENON_FLOAT64, Space::Device);
  Buffer memory(2 * 20 * Index(sizeof(double)), "the program's array", x->context().memory());
  memory.setZero();
  x->placeArray(memory.data<double>(), {10, 2}, {0, 0}, {0, 0},
                /*readOnly=*/false); // every second element
  fillByIndex(*x, [](Index i) { return double(i); });
  const auto file = makeRef<Checkpoint>(world());
  file->addTensor(x, "x");
  file->write(folder / "x.h5");
  fillConstant(*x, -1);
  file->read(folder / "x.h5");
  DTensor copy(world(), layout, TENON_FLOAT64);
  copyLocal(*x, copy);
  const DTensor& elements = copy;
  for (Index i = 0; i < 20; ++i)
    EXPECT_EQ(elements.data<double>()[i], double(i));
}

} // namespace
} // namespace tenon
