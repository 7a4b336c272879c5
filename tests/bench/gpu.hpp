// SPDX-License-Identifier: BSD-2-Clause
// Common declarations of the benchmark gpu (gpu.cpp, gpu_libraries.cpp): times of queued work, rows
// of the table, and tensors and layers on the device.
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

// Returns the seconds of one call of the work, which can return before the device is done: the
// median of 20 times, each of `calls` calls. With `turns` above 0, the median of so many times,
// after one that is not counted.
double secondsOf(const Work& work, int calls = 1, Index turns = 0);

// Print on the first rank: a row of the table; a time for the comparison in gpu_torch.py.
void printRow(const std::string& what, const std::string& against, double ratio,
              const std::string& target);
void printTime(const std::string& name, double seconds);

// Returns a tensor on the device with random values.
Ref<DTensor> made(const Layout& layout, TenonDataType type);
// Fills all parameters of a layer that is set up with random values.
void initialise(Layer& layer);
// Layouts on a grid of one axis with all ranks: with this property, or copied to all.
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

// Comparisons with NVIDIA's libraries and the CUDA runtime, in gpu_libraries.cpp.
// Prints a line "device JSON", cuDNN's description of the device, for the fake CUDA of the tests
// (TENON_STANDIN_MODEL).
void printDevice();
void measureLaunch();
void measureConvolutions();
void measureFourier();
void measureAffine();

} // namespace tenon::bench
