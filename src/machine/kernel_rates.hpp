// SPDX-License-Identifier: BSD-2-Clause
// What the kernels of layers take. A kernel makes so many floating-point operations on so many bytes, of which
// each is counted once. By the roofline (Williams, Waterman and Patterson 2009) it takes
//
//     call + max(operations / flops, bytes / memory)
//
// Where kernels of a type of layers were measured, their own curve stands in place of the roof: the seconds of
// a byte over the operations for each byte, straight in logarithms between the points that were measured. It is
// level before the first of them, where memory limits, and rises with the operations behind the last.
#pragma once

#include "sys/types.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

enum class KernelPass { Apply, Adjoint }; // the adjoint of inputs and parameters together
const char* kernelPassName(KernelPass pass);

struct KernelWork {
  double flops = 0, bytes = 0;
};

struct KernelCurve {
  struct Point {
    double flops = 0;     // for each byte
    double bandwidth = 0; // bytes a second
    bool operator==(const Point&) const = default;
  };
  std::string layer; // a type of layers
  KernelPass pass = KernelPass::Apply;
  Index cellBytes = 4;
  std::vector<Point> points; // at least one, in rising order of operations

  double secondsOfByte(double flops) const;
  bool operator==(const KernelCurve&) const = default;
};

struct KernelRates {
  double flops = 5e10;  // operations a second of one process
  double memory = 1e10; // bytes a second that it reads or writes
  double call = 0;      // seconds for each call of a kernel
  std::vector<KernelCurve> curves = {};
  // How many times as long kernels of a type took as the rates above say.
  std::map<std::pair<std::string, KernelPass>, double> scales = {};

  // In place of the defaults, which are those of a core.
  static KernelRates ofDevice() { return {.flops = 1e13, .memory = 1e12, .call = 5e-6}; }
  // 0 for no work.
  double seconds(const std::string& layer, KernelPass pass, Index cellBytes,
                 const KernelWork& work) const;
  bool operator==(const KernelRates&) const = default;
};

} // namespace tenon
