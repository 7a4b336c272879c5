// SPDX-License-Identifier: BSD-2-Clause
// Loops of the kernels on several threads. Threads divide independent outputs into contiguous
// ranges and never change the order of a sum: results are bitwise identical for any number of
// threads. The threads are OpenMP's, as in oneDNN and OpenBLAS, and all three share one team; the
// library queries the number of threads and never sets it. Example, y = 0 for n elements:
//     parallelRanges(context.threads(), n, /*cost=*/1,
//                    [=](Index begin, Index end) { std::fill(y + begin, y + end, 0); });
#pragma once

#include "sys/types.hpp"

#include <algorithm>

namespace tenon {

// Number of threads for a kernel that is called now: that of an OpenMP parallel region, at most
// -tenon_threads, and 1 inside an active parallel region.
int kernelThreads() noexcept;
// Whether the library was compiled with OpenMP; without it there is one thread.
bool hasThreads() noexcept;

// Minimum work, in elements read or written once, that justifies the start of a team of threads. A
// team of two costs about 2 us; y = a x + b y then breaks even at 16,000 doubles or 50,000 floats.
constexpr Index kMinWork = Index(1) << 15;

inline bool isWorthThreads(int threads, Index work) {
  return threads > 1 && work >= kMinWork;
}

// Calls call(body, piece) for each piece, on a team of threads. The functions below use it; other
// code calls them.
using PieceBody = void (*)(const void* body, Index piece);
void runPieces(int threads, Index pieces, PieceBody call, const void* body);

// Calls body(piece, begin, end) for at most `threads` ranges that together are [0, count). `cost`
// is the work per item. body must not throw. Each thread copies body, which keeps values captured
// by value in registers.
template <class Body>
void parallelPieces(int threads, Index count, Index cost, const Body& body) {
  if (count <= 0)
    return;
  const Index pieces = std::min<Index>(threads, count);
  if (pieces < 2 || !isWorthThreads(threads, count * cost))
    return body(0, Index(0), count);
  const auto runOne = [&body, count, pieces](Index piece) {
    const Body own = body;
    own(static_cast<int>(piece), count * piece / pieces, count * (piece + 1) / pieces);
  };
  runPieces(
      threads, pieces,
      [](const void* f, Index piece) { (*static_cast<const decltype(runOne)*>(f))(piece); },
      &runOne);
}

// parallelPieces() for a body(begin, end) that needs no scratch memory per thread.
template <class Body>
void parallelRanges(int threads, Index count, Index cost, const Body& body) {
  parallelPieces(threads, count, cost, [body](int, Index begin, Index end) { body(begin, end); });
}

template <class T>
void parallelFill(int threads, Index n, T value, T* y) {
  parallelRanges(threads, n, 1,
                 [=](Index begin, Index end) { std::fill(y + begin, y + end, value); });
}

} // namespace tenon
