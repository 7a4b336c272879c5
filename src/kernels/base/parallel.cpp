// SPDX-License-Identifier: BSD-2-Clause
// All OpenMP regions of the kernels. Other code calls runPieces(), so only this file differs in a
// build without OpenMP.
#include "kernels/base/parallel.hpp"

#include "sys/threads.hpp"
#include "sys/traps.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace tenon {

#ifdef _OPENMP

int kernelThreads() noexcept {
  return omp_in_parallel() ? 1 : std::min(omp_get_max_threads(), threadLimit());
}

bool hasThreads() noexcept {
  return true;
}

// The team always has the full size, even for fewer pieces, because GCC's runtime creates and ends
// threads whenever the size changes. OpenMP can provide fewer threads than requested, which does
// not change results. Floating-point traps are disabled in each thread, since a thread that the
// program started can have them enabled.
void runPieces(int threads, Index pieces, PieceBody call, const void* body) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index piece = 0; piece < pieces; ++piece) {
    const NoTraps noTraps;
    call(body, piece);
  }
}

#else

int kernelThreads() noexcept {
  return 1;
}

bool hasThreads() noexcept {
  return false;
}

void runPieces(int, Index pieces, PieceBody call, const void* body) {
  for (Index piece = 0; piece < pieces; ++piece)
    call(body, piece);
}

#endif

} // namespace tenon
