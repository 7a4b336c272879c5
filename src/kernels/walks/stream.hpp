// SPDX-License-Identifier: BSD-2-Clause
// Lines of memory: asked for before they are read, and stored past the caches where nobody reads
// them soon. A cache reads a line from memory before the first store to it, so that what is written
// there moves twice; a streamed line moves once.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tenon {

inline constexpr std::size_t kLine = 64;
// Of what a store streams; 0 where the processor has no such stores.
#ifdef __SSE2__
inline constexpr std::size_t kStreamed = sizeof(__m128i);
#else
inline constexpr std::size_t kStreamed = 0;
#endif

// Has the line at that address brought to the cache.
inline void fetchLine([[maybe_unused]] const void* address) {
#ifdef __GNUC__
  __builtin_prefetch(address);
#endif
}

// Whether rows consist of whole lines, and are so many that caches would not hold them for whoever
// reads them next: rows that were gathered and then summed took 1.5 times as long streamed up to 32
// MB, and 0.65 of it from 64 MB on.
inline bool canStream(const void* y, std::size_t bytesOfRow, std::size_t bytesToNext,
                      std::size_t rows) {
  constexpr std::size_t kMin = std::size_t(1) << 26;
  return kStreamed > 0 &&
         (reinterpret_cast<std::uintptr_t>(y) | bytesOfRow | bytesToNext) % kLine == 0 &&
         bytesOfRow * rows >= kMin;
}

// n elements, whole stores, to an address that is a multiple of them.
template <class T>
inline void streamStores(const T* x, T* y, std::size_t n) {
#ifdef __SSE2__
  constexpr std::size_t kStep = kStreamed / sizeof(T);
  for (std::size_t i = 0; i < n; i += kStep)
    _mm_stream_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i)));
#else
  for (std::size_t i = 0; i < n; ++i)
    y[i] = x[i];
#endif
}

// What was streamed before comes before a later store, which alone does not order it.
inline void endStream() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

} // namespace tenon
