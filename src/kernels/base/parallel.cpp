// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/base/parallel.hpp"

#include "sys/threads.hpp"

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

// The team is always of the size that the kernel may use: GCC's runtime makes and ends threads when
// the size changes. It may give fewer than asked.
void runPieces(int threads, Index pieces, PieceBody call, const void* body) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index piece = 0; piece < pieces; ++piece)
    call(body, piece);
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
