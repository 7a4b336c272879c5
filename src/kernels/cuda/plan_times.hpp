// SPDX-License-Identifier: BSD-2-Clause
// Measured times of the candidates that compute a convolution on the device. Layers of equal shapes
// share them, and so do later runs of a program with -tenon_device_plans_file.
#pragma once

#include "kernels/base/autotuner.hpp"
#include "kernels/cuda/dnn_graph.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon::cuda {

// What a measurement depends on: the graph with y += conv, its epilogue, and which other candidates
// there were.
struct MeasuredGraph {
  ConvolutionGraph graph;
  Epilogue epilogue;
  bool hasProducts, rounds;
};

// The key of a measurement: the graph, the model of the device and the version of cuDNN.
std::string textOf(const MeasuredGraph& measured);
// Times of all candidates; isWhole is false if the measurement ended early.
struct MeasuredTimes {
  std::vector<Nanoseconds> times;
  bool isWhole = true;
};

// The times of `count` candidates under this key, if they are known. Throws TENON_ERR_FILE for a
// file that cannot be read or has another format.
std::optional<MeasuredTimes> knownTimes(const std::string& key, std::size_t count);
// Adds times. Those of a measurement that ended early are for this process only. Throws
// TENON_ERR_FILE if the file cannot be written.
void keepTimes(const std::string& key, const MeasuredTimes& measured);

// The option -tenon_device_plans_seconds: the longest time of a measurement.
double measurementSeconds();

} // namespace tenon::cuda
