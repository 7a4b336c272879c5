// SPDX-License-Identifier: BSD-2-Clause
// The matrix products of a convolution (formulas in tiles.hpp), tile by tile: how large the tiles
// are, and the forward pass and its two adjoints as products of a tile's matrices. Tiles bound the
// scratch memory and keep the columns of im2col in the cache. Their order is fixed, so weight
// gradients are always summed in the same order.
#include "kernels/convolution/tiles.hpp"

namespace tenon {

namespace {

// Whether the matrix X of im2col is the input itself (a 1x1 kernel), which saves the copy.
bool onlyCopies(const WindowShape& w) {
  for (int d = 0; d < kMaxSpatial; ++d)
    if (w.kernel[d] != 1 || w.stride[d] != 1 || w.padLow[d] != 0 || w.in[d] != w.out[d])
      return false;
  return true;
}

} // namespace

template <class T>
TiledConvolution<T>::TiledConvolution(const ConvolutionShape& shape, KernelContextPtr context,
                                      const TileLimits& limits)
    : context_(std::move(context)), batch_(shape.batch), in_(shape.inChannels),
      out_(shape.outChannels), window_(embedWindow(shape.window)),
      y_(embedStrides(outputStrides(shape), shape.window.rank)), inVolume_(inputVolume(window_)),
      outVolume_(outputVolume(window_)), depth_(in_ * kernelVolume(window_)),
      copies_(onlyCopies(window_)), groups_(shape.groups), outEach_(out_ / groups_),
      depthEach_(depth_ / groups_), weightsEach_(outEach_ * depthEach_) {
  planTiles(limits);
  denseInSpace_ = isDenseInSpace();
  if (out_ == 1) // BLAS checks the row stride even of a matrix with one row
    y_.channel = std::max(y_.channel, outVolume_);
  // The product is a matrix with one row per channel. In y, several images, or outputs that are not
  // contiguous, do not form such a matrix.
  packs_ = images_ > 1 || !denseInSpace_;
  const Index outputs = images_ * rows_ * cols_; // columns of the matrices of the largest tile
  ScratchPlan plan;
  columnsAt_ = plan.add<T>(copies_ ? 0 : depth_ * outputs);
  packedAt_ = plan.add<T>(packs_ ? out_ * outputs : 0);
  context_->reserve(plan);
}

// Sets the maximum tile: images_ whole images, or rows_ x cols_ outputs of one image.
template <class T>
void TiledConvolution<T>::planTiles(const TileLimits& limits) {
  images_ = 1;
  rows_ = window_.out[0] * window_.out[1];
  cols_ = window_.out[2];
  if (copies_)
    return; // without columns an image of any size needs no scratch
  const Index depth = std::max<Index>(1, depth_);
  // Number of outputs whose columns fit the limit.
  const Index budget = std::max(limits.leastOutputs, limits.columnElements / depth);
  if (outVolume_ > budget) {
    cols_ = std::min(cols_, budget);
    rows_ = std::min(rows_, std::max<Index>(1, budget / cols_));
  } else if (outVolume_ > 0) {
    const Index images = ceilDivide(std::min(budget, limits.enoughOutputs), outVolume_);
    images_ = std::clamp<Index>(images, 1, std::max<Index>(1, batch_));
  }
}

// Whether the outputs of a channel are contiguous.
template <class T>
bool TiledConvolution<T>::isDenseInSpace() const {
  Index dense = 1;
  for (int d = kMaxSpatial - 1; d >= 0; --d) {
    if (window_.out[d] > 1 && y_.space[d] != dense)
      return false;
    dense *= window_.out[d];
  }
  return true;
}

template <class T>
template <class Visit>
void TiledConvolution<T>::forEachTile(Visit visit) {
  if (outVolume_ == 0)
    return;
  // A row of outputs is one (o0, o1), its columns are the o2.
  const Index allRows = window_.out[0] * window_.out[1], allCols = window_.out[2];
  for (Index n = 0; n < batch_; n += images_)
    for (Index r = 0; r < allRows; r += rows_)
      for (Index o = 0; o < allCols; o += cols_)
        visit(Tile{n,
                   std::min(images_, batch_ - n),
                   {{r, std::min(r + rows_, allRows)}, {o, std::min(o + cols_, allCols)}}});
}

// The offset of the tile's first output in y. Called only if the outputs of a channel are
// contiguous: rows and columns then count as one dimension.
template <class T>
Index TiledConvolution<T>::firstOutput(const Tile& tile) const {
  return tile.image * y_.batch + tile.outputs.rows.begin * window_.out[2] + tile.outputs.cols.begin;
}

template <class T>
const T* TiledConvolution<T>::gathered(const Tile& tile, const T* x) {
  if (copies_)
    return x + tile.image * in_ * inVolume_;
  gather(tile, x);
  return columns();
}

template <class T>
const T* TiledConvolution<T>::outputs(const Tile& tile, const T* dy) {
  if (!packs_)
    return dy + firstOutput(tile);
  pack(tile, dy);
  return packed();
}

template <class T>
void TiledConvolution<T>::multiply(const BatchStrides& strides, bool transA, bool transB, Index m,
                                   Index n, Index k, const T* a, Index lda, const T* b, Index ldb,
                                   T beta, T* c, Index ldc) {
  gemmBatch<T>(*context_, productBackend(), groups_, strides, transA, transB, m, n, k, T(1), a, lda,
               b, ldb, beta, c, ldc);
}

template <class T>
void TiledConvolution<T>::forward(const T* x, const T* w, const T* b, T* y, bool accumulate) {
  forEachTile([&](const Tile& tile) {
    const Index width = tile.width();
    const T* in = gathered(tile, x);
    const Index distance = inputDistance(width), targetDistance = outputDistance(width);
    T* target = packs_ ? packed() : y + firstOutput(tile);
    // If the product writes y in place, y is initialised with the bias before; otherwise unpack()
    // adds the bias.
    const T beta = packs_ ? T(0) : beginOutputs(tile, b, y, accumulate);
    // Y = W X + beta Y.
    multiply({.a = weightsEach_, .b = depthEach_ * distance, .c = outEach_ * targetDistance},
             /*transA=*/false, /*transB=*/false, outEach_, width, depthEach_, w, depthEach_, in,
             distance, beta, target, targetDistance);
    if (packs_)
      unpack(tile, b, y, accumulate);
  });
}

template <class T>
void TiledConvolution<T>::adjointData(const T* w, const T* dy, T* dx) {
  // Tiles overlap in the inputs that they read, so each adds to dx.
  clear(dx);
  forEachTile([&](const Tile& tile) {
    const Index width = tile.width();
    const Index distance = inputDistance(width), dyDistance = outputDistance(width);
    T* target = copies_ ? dx + tile.image * in_ * inVolume_ : columns();
    const T* out = outputs(tile, dy);
    // dX = W^T dY.
    multiply({.a = weightsEach_, .b = outEach_ * dyDistance, .c = depthEach_ * distance},
             /*transA=*/true, /*transB=*/false, depthEach_, width, outEach_, w, depthEach_, out,
             dyDistance, /*beta=*/T(0), target, distance);
    if (!copies_)
      scatter(tile, dx);
  });
}

template <class T>
void TiledConvolution<T>::adjointWeights(const T* x, const T* dy, T* dw, T* db) {
  forEachTile([&](const Tile& tile) {
    const Index width = tile.width();
    const Index distance = inputDistance(width), dyDistance = outputDistance(width);
    const T* out = outputs(tile, dy);
    const T* in = gathered(tile, x);
    // dW += dY X^T.
    multiply({.a = outEach_ * dyDistance, .b = depthEach_ * distance, .c = weightsEach_},
             /*transA=*/false, /*transB=*/true, outEach_, depthEach_, width, out, dyDistance, in,
             distance, /*beta=*/T(1), dw, depthEach_);
    if (db)
      sumOutputs(tile, out, dyDistance, db);
  });
}

template class TiledConvolution<float>;
template class TiledConvolution<double>;

} // namespace tenon
