// SPDX-License-Identifier: BSD-2-Clause
// The kernels of the stand-in: what runs when one is launched. That is its twin, the host's half of
// what nvcc compiled, or with the option TENON_STANDIN_PTX its PTX, translated for the host
// (ptx/translate.py); a kernel whose translation is missing is refused then.
//
//   TENON_STANDIN_THREADS=reverse  threads of a block run from the last to the first between two barriers (PTX alone)
//   TENON_STANDIN_RAN=FILE         the name of each kernel that runs is added to the file, once by each process
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// How the host runs a kernel, given its parameter (src/kernels/cuda/launch.cuh).
using TenonTwin = void (*)(const void* kernel, unsigned blocks, unsigned threads,
                           const unsigned* order);

namespace tenon::standin {

struct Launch {
  const void* parameter;
  unsigned blocks, threads;
  const unsigned* order; // of the blocks; null for the first to the last
};

// Of kernels, and of those that are translated PTX's instructions and bytes of global memory.
struct Counts {
  std::uint64_t instructions = 0, read = 0, written = 0, kernels = 0;
  Counts& operator+=(const Counts& more) {
    instructions += more.instructions;
    read += more.read;
    written += more.written;
    kernels += more.kernels;
    return *this;
  }
};

struct Translated {
  const char *name, *file;
  void (*run)(const Launch& launch, Counts& counts);
};
// Makes kernels known before main().
struct Registered {
  Registered(const Translated* kernels, std::size_t count);
};

// A kernel by the address that is launched: its name as nvcc registers it, and its twin.
void nameKernel(const void* entry, const char* name);
void giveTwin(const void* entry, std::size_t bytes, TenonTwin run);
// Bytes of its parameter; refuses a kernel that has no twin.
std::size_t parameterBytes(const void* entry);
void runKernel(const void* entry, const Launch& launch);

// " (kernel NAME)" while one runs.
std::string runningKernel();
// End the program, with the kernel that runs.
[[noreturn]] void refuseKernel(const std::string& what);
[[noreturn]] void refuseAccess(const char* what, std::uint64_t address, unsigned bytes, int line);

} // namespace tenon::standin

// Of all kernels that have run.
extern "C" __attribute__((visibility("default"))) tenon::standin::Counts tenonStandinCounts();
