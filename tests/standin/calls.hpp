// SPDX-License-Identifier: BSD-2-Clause
// Counts of the calls that a process has made to the stand-in for CUDA. A GPU takes a few
// microseconds to begin a kernel and the host as long to queue it, so the number of calls bounds
// the speed of small layers; tests compare it with the number that a layer should need.
#pragma once

#include <cstdint>

namespace tenon::standin {

struct Calls {
  std::uint64_t kernels = 0;       // launches of kernels, also while a stream records
  std::uint64_t libraries = 0;     // products, convolutions, transforms and collectives queued
  std::uint64_t graphs = 0;        // launches of graphs
  std::uint64_t copies = 0;        // copies and fills queued
  std::uint64_t pageableBytes = 0; // copied from or to host memory that is not page-locked
  std::uint64_t events = 0;        // recorded
  std::uint64_t waits = 0;         // of the host for a stream, an event or the device
};

// To be changed while the lock of the stand-in is held (Call).
Calls& calls();

} // namespace tenon::standin

// The counts of this process until now.
extern "C" __attribute__((visibility("default"))) tenon::standin::Calls tenonStandinCalls();
