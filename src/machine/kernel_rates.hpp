// SPDX-License-Identifier: BSD-2-Clause
// How long the kernels of layers take. A kernel makes a number of floating-point operations on a
// number of bytes, each counted once. By the roofline (Williams, Waterman and Patterson 2009) it
// takes
//
//     call + max(operations / flops, bytes / memory)
//
// Kernels of a kind that was measured take instead
//
//     call + operations x a + bytes x b + rows x r + columns x c
//
// where rows are the operations, or the columns where there are none, over the length of the
// output's rows: loops over rows begin and end, and short rows fill no vectors. Columns are the
// elements that windows read: gathering them takes its time where few channels share them.
#pragma once

#include "sys/types.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

// Adjoint is with respect to inputs and parameters together, Parameters with respect to parameters
// only, where no cotangent of the inputs is wanted.
enum class KernelPass { Apply, Adjoint, Parameters };
const char* kernelPassName(KernelPass pass);

struct KernelWork {
  KernelPass pass = KernelPass::Apply;
  double flops = 0, bytes = 0, rows = 0, columns = 0;
};

// The measured times of a kind of kernels in one pass: seconds for each operation, byte, row and
// column.
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

struct KernelRates {
  double flops = 5e10;  // operations a second of one process
  double memory = 1e10; // bytes a second that it reads or writes
  double call = 0;      // seconds for each call of a kernel
  std::vector<KernelTimes> measured = {};
  // How many times as long kernels of a kind took as the rates above say.
  std::map<std::pair<std::string, KernelPass>, double> scales = {};

  // The rates of a device; the defaults are those of a core.
  static KernelRates ofDevice() { return {.flops = 1e13, .memory = 1e12, .call = 5e-6}; }
  // How long a kernel takes; 0 for no work.
  double seconds(const std::string& kind, Index elementBytes, const KernelWork& work) const;
  bool operator==(const KernelRates&) const = default;
};

} // namespace tenon
