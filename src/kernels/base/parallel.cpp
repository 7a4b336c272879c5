// SPDX-License-Identifier: BSD-2-Clause
// The only OpenMP regions of the kernels. Everything else is written against runPieces(), so that a
// build without OpenMP differs in this file alone.
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

// The team always has the size that the kernel may use, even for fewer pieces, because GCC's
// runtime creates and ends threads whenever the size changes. OpenMP may give fewer threads than
// asked, which changes no result. A thread of the program's that takes part may trap floating-point
// exceptions, as one that began outside of a call.
void runPieces(int threads, Index pieces, PieceBody call, const void* body) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index piece = 0; piece < pieces; ++piece) {
    const HeldTraps held;
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
