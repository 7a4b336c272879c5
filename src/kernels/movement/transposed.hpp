// SPDX-License-Identifier: BSD-2-Clause
// Copies a box on the device by tiles, if it is contiguous along different dimensions in the input
// and in the output.
#pragma once

#include "kernels/functors/transpose.hpp"
#include "kernels/walks/block.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>

namespace tenon {

// Returns false, and does nothing, on the host, for other boxes, and if there are too many tiles.
template <class Way>
bool transposeTiles(KernelContext& context, const Block& block, const Way& way,
                    const typename Way::From* x, typename Way::To* y) {
  using Tiles = functors::TransposeTiles<Way>;
  const int inner = block.rank - 1, d = transposedDimension(block);
  if (d < 0)
    return false;
  writeOrder(block, false); // throws for boxes that write an element twice
  Block tiles = block;
  Index alongX[kMaxBlockRank] = {}, alongY[kMaxBlockRank] = {};
  alongX[d] = Tiles::kTileX;
  alongY[inner] = Tiles::kTileY;
  for (const int k : {d, inner}) {
    const Index tile = std::max(alongX[k], alongY[k]);
    tiles.extent[k] = (block.extent[k] + tile - 1) / tile;
    tiles.a[k] *= tile;
    tiles.b[k] *= tile;
  }
  const ElementOffsets<4> offsets{tiles.rank, tiles.extent, {tiles.a, tiles.b, alongX, alongY}};
  if (offsets.count() > kMaxWalkedElements)
    return false;
  if constexpr (kHasDevice)
    device::eachBlock(context.stream(), offsets.count(),
                      Tiles{offsets, block.a[inner], block.b[d], block.extent[d],
                            block.extent[inner], way, x, y});
  return true;
}

} // namespace tenon
