// SPDX-License-Identifier: BSD-2-Clause
// Copies a box on the device by tiles, if it is contiguous along different dimensions in the input
// x and in the output y, as a transposed matrix is: x[i,j] is contiguous in j, y[j,i] in i. Threads
// that read adjacent elements would then write elements far apart, or the reverse. A tile of 32 x
// 64 elements is read along one dimension and written along the other (functors/transpose.hpp).
#pragma once

#include "kernels/functors/transpose.hpp"
#include "kernels/walks/block.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>

namespace tenon {

// y = x for the block, where `conversion` converts each element (a copy, or from or to bfloat16).
// Returns false, and does nothing, for boxes that are not transposed, and if there are too many
// tiles. The context must be on the device.
template <class Conversion>
bool transposeTiles(KernelContext& context, const Block& block, const Conversion& conversion,
                    const typename Conversion::From* x, typename Conversion::To* y) {
  using Tiles = functors::TransposeTiles<Conversion>;
  const int inner = block.rank - 1, d = transposedDimension(block);
  if (d < 0)
    return false;
  writeOrder(block, /*mayRepeat=*/false); // throws for boxes that write an element twice
  // The box of the tiles, with the strides between tiles, and with steps in elements along the two
  // tiled dimensions: d is contiguous in x, `inner` in y.
  Block tiles = block;
  Index alongX[kMaxBlockRank] = {}, alongY[kMaxBlockRank] = {};
  alongX[d] = Tiles::kTileX;
  alongY[inner] = Tiles::kTileY;
  for (const int k : {d, inner}) {
    const Index width = std::max(alongX[k], alongY[k]);
    tiles.extent[k] = (block.extent[k] + width - 1) / width;
    tiles.a[k] *= width;
    tiles.b[k] *= width;
  }
  const ElementOffsets<4> offsets{tiles.rank, tiles.extent, {tiles.a, tiles.b, alongX, alongY}};
  if (offsets.count() > sliceElements)
    return false;
  if constexpr (kHasDevice)
    device::eachThreadBlock(context.stream(), offsets.count(),
                            Tiles{.tiles = offsets,
                                  .stepX = block.a[inner],
                                  .stepY = block.b[d],
                                  .extentX = block.extent[d],
                                  .extentY = block.extent[inner],
                                  .conversion = conversion,
                                  .x = x,
                                  .y = y});
  return true;
}

} // namespace tenon
