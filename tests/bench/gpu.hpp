// SPDX-License-Identifier: BSD-2-Clause
// What the benchmarks of devices share: times of work that is queued, rows of the table, tensors
// and layers there.
#pragma once

#include "dtensor/kernel_context.hpp"
#include "layer/core/layer.hpp"
#include "support/world.hpp"

#include <functional>
#include <string>

namespace tenon::bench {

using Work = std::function<void()>;

extern bool isSmall; // only shows that everything runs
Index sized(Index full, Index small);

KernelContext& device();

// Seconds of one call of the work, which may only queue: the median of 20 times, of `calls` calls
// each. With `turns`, of so many times, after one that does not count.
double secondsOf(const Work& work, int calls = 1, Index turns = 0);

// By the first rank. A time is read by the peer gpu_torch.py.
void printRow(const std::string& what, const std::string& against, double ratio,
              const std::string& target);
void printTime(const std::string& name, double seconds);

// On the device, of random values.
Ref<DTensor> made(const Layout& layout, TenonDataType type);
// All weights of a layer that is set up, likewise.
void initialise(Layer& layer);
// On all ranks in a row, or copied to them.
Layout onRow(const Shape& shape, Property property);
Layout alone(const Shape& shape);

// A layer with its arrays on the device.
struct Pass {
  Ref<Layer> layer;
  Ref<DTensor> x, y, dy, dx;

  Pass(const Ref<Layer>& of, const Layout& input, TenonDataType type, const char* backend);
  void forward();
  void both();
};

// Beside calls of NVIDIA's libraries and of the runtime, in gpu_libraries.cpp.
// A line "device JSON": how cuDNN describes the device, for the stand-in of the tests.
void printDevice();
void measureLaunch();
void measureConvolutions();
void measureFourier();
void measureAffine();

} // namespace tenon::bench
