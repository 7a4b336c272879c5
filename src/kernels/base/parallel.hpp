// SPDX-License-Identifier: BSD-2-Clause
// Loops of the kernels on several threads. What is split are independent outputs, in contiguous
// ranges, and no sum changes its order: the results are the same bit by bit for any number of
// threads. The threads are OpenMP's, as in oneDNN and OpenBLAS, so that all three use one team; the
// library only asks how many there are and never sets the number.
#pragma once

#include "sys/types.hpp"

#include <algorithm>

namespace tenon {

// How many threads a kernel that is called now may use: what OpenMP would give a parallel region,
// at most -tenon_threads, and 1 inside an active region.
int kernelThreads() noexcept;
// Whether the library was compiled with OpenMP; without it there is one thread.
bool hasThreads() noexcept;

// The least work, in elements read or written once, that is worth the start of a team. A team of
// two costs about 2 us; y = a x + b y then breaks even at 16,000 doubles or 50,000 floats.
constexpr Index kMinWork = Index(1) << 15;

inline bool isWorthThreads(int threads, Index work) {
  return threads > 1 && work >= kMinWork;
}

// body(piece) for each piece, on a team.
using PieceBody = void (*)(const void* body, Index piece);
void runPieces(int threads, Index pieces, PieceBody call, const void* body);

// body(piece, begin, end) for at most `threads` ranges that make up [0, count); `cost` is the work
// of one item. body must not throw. It is copied by each thread, so that what it captures by value
// stays in registers.
template <class Body>
void parallelPieces(int threads, Index count, Index cost, const Body& body) {
  if (count <= 0)
    return;
  const Index pieces = std::min<Index>(threads, count);
  if (pieces < 2 || !isWorthThreads(threads, count * cost))
    return body(0, Index(0), count);
  const auto one = [&body, count, pieces](Index piece) {
    const Body own = body;
    own(static_cast<int>(piece), count * piece / pieces, count * (piece + 1) / pieces);
  };
  runPieces(
      threads, pieces,
      [](const void* f, Index piece) { (*static_cast<const decltype(one)*>(f))(piece); }, &one);
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
