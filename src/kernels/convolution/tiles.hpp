// SPDX-License-Identifier: BSD-2-Clause
// Convolution as matrix products: the common part of the BLAS backend of the host
// (convolution/blas.cpp) and the cuBLAS backend of the device (cuda/convolution_gemm.cpp). With the
// columns X [(c,t), outputs] of im2col.hpp and the weights w as the matrix W [outChannels, (c,t)],
// where c is an input channel and t a tap,
//     Y = W X,    dX = W^T dY,    dW += dY X^T,
// separately for each group, whose channels are consecutive rows of X and Y. The outputs are split
// into tiles: several whole images if an image is too small for an efficient product, a part of an
// image if it is large. A 1x1 kernel without stride and padding needs no columns: X is x.
//
// A derived class for each memory space provides the loops over elements. Calls for each tile; if X
// is x, or Y is a part of y, the functions in brackets are not needed:
//
//   forward()         [gather()], beginOutputs() before or [unpack()] after the product
//   adjointData()     clear() before the first tile; [pack()], product, [scatter()]
//   adjointWeights()  [pack()], [gather()], product, sumOutputs()
#pragma once

#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/im2col.hpp"
#include "kernels/products/gemm.hpp"

namespace tenon {

// The outputs of one matrix product: `images` images of the batch, beginning with `image`.
struct Tile {
  Index image, images;
  OutputTile outputs; // all outputs of an image if images > 1

  // Number of outputs of a channel in one image.
  Index pixels() const {
    return (outputs.rows.end - outputs.rows.begin) * (outputs.cols.end - outputs.cols.begin);
  }
  Index width() const { return images * pixels(); } // columns of the tile's matrices
};

// Limits of the size of a tile.
struct TileLimits {
  Index columnElements; // maximum number of elements of the columns
  Index leastOutputs;   // minimum, even beyond columnElements: each tile reads W again
  Index enoughOutputs;  // number of outputs from which a product is efficient
};

// Base of the convolutions that multiply matrices tile by tile.
template <class T>
class TiledConvolution : public Convolution<T> {
public:
  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override;
  void adjointData(const T* w, const T* dy, T* dx) override;
  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override;
  const char* implementation() const override { return copies_ ? "gemm" : "im2col+gemm"; }

protected:
  TiledConvolution(const ConvolutionShape& shape, KernelContextPtr context,
                   const TileLimits& limits);

  // Clears dx of the whole batch.
  virtual void clear(T* dx) = 0;
  // gather() fills columns() from the tile's inputs in x; scatter() is the transpose, which adds to
  // dx.
  virtual void gather(const Tile& tile, const T* x) = 0;
  virtual void scatter(const Tile& tile, T* dx) = 0;
  // Prepares y for the update y = W X + beta y, and returns beta.
  virtual T beginOutputs(const Tile& tile, const T* b, T* y, bool accumulate) = 0;
  // pack() copies dy of the tile to the matrix packed() [outChannels, outputs]; unpack() copies
  // that matrix to y.
  virtual void pack(const Tile& tile, const T* dy) = 0;
  virtual void unpack(const Tile& tile, const T* b, T* y, bool accumulate) = 0;
  // db[k] += sum over the tile's outputs of dy[k]; `distance` is the row stride of dy.
  virtual void sumOutputs(const Tile& tile, const T* dy, Index distance, T* db) = 0;
  virtual Backend productBackend() const = 0;

  T* columns() { return context_->scratch<T>(columnsAt_); }
  T* packed() { return context_->scratch<T>(packedAt_); }

  KernelContextPtr context_;
  Index batch_, in_, out_;     // numbers of images, input and output channels
  WindowShape window_;         // embedded in three dimensions
  ImageStrides y_;             // strides of y and dy
  Index inVolume_, outVolume_; // elements of one channel of x and y
  Index depth_;                // number of rows of X: channels times taps
  bool denseInSpace_ = false;  // whether the outputs of a channel are contiguous in y
  bool copies_;                // whether X is x itself: the kernel only copies its input
  Index images_, rows_, cols_; // maximum size of a tile

private:
  void planTiles(const TileLimits& limits);
  bool isDenseInSpace() const;
  template <class Visit>
  void forEachTile(Visit visit);
  Index firstOutput(const Tile& tile) const; // offset of the tile in y
  // The matrices X and dY of a tile: in place, or after gather() or pack().
  const T* gathered(const Tile& tile, const T* x);
  const T* outputs(const Tile& tile, const T* dy);
  // Multiplies the matrices of all groups.
  void multiply(const BatchStrides& strides, bool transA, bool transB, Index m, Index n, Index k,
                const T* a, Index lda, const T* b, Index ldb, T beta, T* c, Index ldc);
  // Row strides of the matrices X and Y.
  Index inputDistance(Index width) const { return copies_ ? inVolume_ : width; }
  Index outputDistance(Index width) const { return packs_ ? width : y_.channel; }

  Index groups_;
  Index outEach_, depthEach_, weightsEach_; // per group: rows of Y, rows of X, elements of W
  bool packs_;                 // whether the product is stored in packed() instead of y or dy
  Index columnsAt_, packedAt_; // offsets in the scratch
};

} // namespace tenon
