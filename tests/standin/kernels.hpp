// SPDX-License-Identifier: BSD-2-Clause
// Runs CUDA kernels on the host, in the stand-in for CUDA. A launch names a kernel by the address
// of its host stub, its entry. Depending on the build, one of two versions of the kernel runs:
//   its twin         a host function that does the same work thread by thread; Tenon's kernels are
//                    compiled for the host too, and each launch first passes the twin
//                    (src/kernels/cuda/launch.cuh)
//   its translation  the PTX that nvcc made, translated to C++ by ptx/translate.py, in builds with
//                    the option TENON_STANDIN_PTX; a kernel without a translation ends the program
//
// Environment variables:
//   TENON_STANDIN_THREADS=reverse  between two barriers, threads of a block run from the last to
//                                  the first (only translations)
//   TENON_STANDIN_RAN=FILE         the name of each kernel that runs is appended to FILE, once per
//                                  process
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The type of a twin. `kernel` is the address of the kernel's parameter, a function object; `order`
// is as in Launch.
using TenonTwin = void (*)(const void* kernel, unsigned blocks, unsigned threads,
                           const unsigned* order);

namespace tenon::standin {

// One launch: `blocks` blocks of `threads` threads each.
struct Launch {
  const void* parameter; // the kernel's only parameter
  unsigned blocks, threads;
  const unsigned* order; // order[i] is the block that runs as the i-th; null for ascending order
};

// What kernels have done: how many ran and, for translations only, the PTX instructions that they
// executed and the bytes of global memory that they read and wrote.
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

// A translated kernel: its mangled name, its file of PTX, and the function that runs all its blocks
// and adds to `counts`.
struct Translated {
  const char *name, *file;
  void (*run)(const Launch& launch, Counts& counts);
};
// Each translated source has a static object of this type, which registers its kernels before
// main().
struct Registered {
  Registered(const Translated* kernels, std::size_t count);
};

// Set the name of the kernel with this entry, as nvcc registers it, and its twin, whose parameter
// has `bytes` bytes.
void nameKernel(const void* entry, const char* name);
void giveTwin(const void* entry, std::size_t bytes, TenonTwin run);
// Returns the bytes of a kernel's parameter. Ends the program if the kernel has no twin.
std::size_t parameterBytes(const void* entry);
// Runs all blocks, one after the other, in the calling thread.
void runKernel(const void* entry, const Launch& launch);

// Returns " (kernel NAME)" while a kernel runs, otherwise "".
std::string runningKernel();
// Both end the program with a message that names the running kernel. `line` is the line of its PTX
// with the wrong access.
[[noreturn]] void refuseKernel(const std::string& what);
[[noreturn]] void refuseAccess(const char* what, std::uint64_t address, unsigned bytes, int line);

} // namespace tenon::standin

// Returns the counts of all kernels that have run in this process.
extern "C" __attribute__((visibility("default"))) tenon::standin::Counts tenonStandinCounts();
