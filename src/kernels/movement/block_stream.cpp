// SPDX-License-Identifier: BSD-2-Clause
// Packs a strided box into a buffer that another process on the same node reads through shared
// memory, with streaming stores (stores that bypass the caches) if the processor has them. A fence
// after each row orders the data before any later store, such as the flag that tells the reader
// that the data have arrived.
#include "kernels/movement/block_stream.hpp"

#include "kernels/walks/block.hpp"
#include "kernels/walks/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tenon {

namespace {

// Minimum bytes of a row: for shorter rows the fence costs more than the caches save.
constexpr std::size_t kMinStreamed = 1024;

// memcpy() for one row.
void streamBytes(const std::byte* x, std::byte* y, std::size_t bytes) {
  if constexpr (kStreamed > 0) {
    if (bytes >= kMinStreamed) {
      // Streaming stores require aligned addresses; the bytes before and after are copied by
      // memcpy.
      const std::size_t head = -reinterpret_cast<std::uintptr_t>(y) % kStreamed,
                        streamed = (bytes - head) / kStreamed * kStreamed;
      std::memcpy(y, x, head);
      streamStores(x + head, y + head, streamed);
      std::memcpy(y + head + streamed, x + head + streamed, bytes - head - streamed);
      // The reader polls a later store; without a fence that store is not ordered after streaming
      // stores.
      endStream();
      return;
    }
  }
  std::memcpy(y, x, bytes);
}

} // namespace

template <class T>
void blockStream(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                 T* y) {
  Index ys[kMaxBlockRank] = {}, step = 1;
  for (int d = std::min(rank, kMaxBlockRank) - 1; d >= 0; --d) {
    ys[d] = step;
    step *= extent[d];
  }
  forEachRowInParts(context, normaliseBlock(rank, extent, xs, ys),
                    [=](Index n, Index atX, Index stepX, Index atY, Index stepY) {
                      if (stepX == 1 && stepY == 1)
                        return streamBytes(reinterpret_cast<const std::byte*>(x + atX),
                                           reinterpret_cast<std::byte*>(y + atY),
                                           static_cast<std::size_t>(n) * sizeof(T));
                      for (Index i = 0; i < n; ++i)
                        y[atY + i * stepY] = x[atX + i * stepX];
                    });
}

template void blockStream<float>(KernelContext&, int, const Index*, const float*, const Index*,
                                 float*);
template void blockStream<double>(KernelContext&, int, const Index*, const double*, const Index*,
                                  double*);
template void blockStream<std::int64_t>(KernelContext&, int, const Index*, const std::int64_t*,
                                        const Index*, std::int64_t*);
template void blockStream<std::int32_t>(KernelContext&, int, const Index*, const std::int32_t*,
                                        const Index*, std::int32_t*);

} // namespace tenon
