// SPDX-License-Identifier: BSD-2-Clause
// Predicts how long kernels of layers take. A kernel performs floating-point operations on bytes of
// memory, each byte counted once. By the roofline model (Williams, Waterman and Patterson 2009) it
// takes
//
//     call + max(operations / flops, bytes / memory)
//
// A kind of kernel that has been measured takes instead
//
//     call + operations * a + bytes * b + rows * r + columns * c
//
// where rows is the number of operations (or columns, if there are none) divided by the length of
// the output's rows: it models the cost of starting loops and of short rows that do not fill
// vectors. Columns is the number of elements that windows read: it models the cost of gathering
// them, which matters if few channels share it.
#pragma once

#include "sys/types.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

// Adjoint computes gradients with respect to inputs and parameters; Parameters, with respect to the
// parameters only, when no gradient of the inputs is needed.
enum class KernelPass { Apply, Adjoint, Parameters };
const char* kernelPassName(KernelPass pass);

// The work of one kernel call.
struct KernelWork {
  KernelPass pass = KernelPass::Apply;
  double flops = 0, bytes = 0, rows = 0, columns = 0; // As in the formulas above.
};

// Measured times of one kind of kernels in one pass: seconds per operation, byte, row and column.
struct KernelTimes {
  std::string kind;
  KernelPass pass = KernelPass::Apply;
  Index elementBytes = 4;
  double flop = 0, byte = 0, row = 0, column = 0;

  double seconds(const KernelWork& work) const {
    return work.flops * flop + work.bytes * byte + work.rows * row + work.columns * column;
  }
  bool operator==(const KernelTimes&) const = default;
};

// Rates of a process or device.
struct KernelRates {
  double flops = 5e10;  // operations per second of one process
  double memory = 1e10; // bytes per second read or written
  double call = 0;      // seconds per kernel call
  std::vector<KernelTimes> measured = {};
  // Correction factors by kind and pass: measured time / time predicted by the rates above.
  std::map<std::pair<std::string, KernelPass>, double> scales = {};

  // Returns typical rates of a device; the defaults are those of a core.
  static KernelRates ofDevice() { return {.flops = 1e13, .memory = 1e12, .call = 5e-6}; }
  // Returns the predicted seconds of a kernel; 0 if it has no work.
  double seconds(const std::string& kind, Index elementBytes, const KernelWork& work) const;
  bool operator==(const KernelRates&) const = default;
};

} // namespace tenon
