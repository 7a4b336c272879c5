// SPDX-License-Identifier: BSD-2-Clause
// Convolution as matrix products: with the columns X of im2col.hpp and w as the matrix
// W [outChannels, (c,t)],
//     Y = W X,    dX = W^T dY,    dW += dY X^T,
// group by group: a group's channels are consecutive rows of X and Y. The outputs are cut into
// tiles: several whole images where an image is small (one product is then worth its call), a piece
// of an image where it is large. A kernel of one tap that only copies needs no columns: X is x.
// Loops over elements are left to the class of each space.
#pragma once

#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/im2col.hpp"
#include "kernels/products/gemm.hpp"

namespace tenon {

struct Tile {
  Index image, images;
  OutputTile outputs; // all outputs of an image where images > 1

  Index pixels() const {
    return (outputs.rows.end - outputs.rows.begin) * (outputs.cols.end - outputs.cols.begin);
  }
  Index width() const { return images * pixels(); } // columns of its matrices
};

// How large a tile becomes.
struct TileLimits {
  Index columnElements; // the most elements of its columns
  Index leastOutputs;   // taken even if the columns become larger: reading W again costs more
  Index enoughOutputs;  // make a product worth its call
};

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
  // gather() fills columns() from the tile's part of x; scatter() is its transpose, which adds to
  // dx.
  virtual void gather(const Tile& tile, const T* x) = 0;
  virtual void scatter(const Tile& tile, T* dx) = 0;
  // Prepares y for a product that is added to beta times what is there; gives beta.
  virtual T beginOutputs(const Tile& tile, const T* b, T* y, bool accumulate) = 0;
  // pack() copies dy of the tile to the matrix packed() [outChannels, outputs]; unpack() copies
  // that matrix to y.
  virtual void pack(const Tile& tile, const T* dy) = 0;
  virtual void unpack(const Tile& tile, const T* b, T* y, bool accumulate) = 0;
  // db[k] += sum over the tile's outputs of dy[k], whose rows are `distance` apart.
  virtual void sumOutputs(const Tile& tile, const T* dy, Index distance, T* db) = 0;
  virtual Backend productBackend() const = 0;

  T* columns() { return context_->scratch<T>(columnsAt_); }
  T* packed() { return context_->scratch<T>(packedAt_); }

  KernelContextPtr context_;
  Index batch_, in_, out_;
  WindowShape window_;
  ImageStrides y_;
  Index inVolume_, outVolume_;
  Index depth_; // rows of the columns: channels times taps
  bool denseInSpace_ = false;
  bool copies_;
  Index images_, rows_, cols_; // the most of a tile

private:
  void planTiles(const TileLimits& limits);
  bool isDenseInSpace() const;
  template <class Visit>
  void forEachTile(Visit visit);
  Index firstOutput(const Tile& tile) const;
  const T* gathered(const Tile& tile, const T* x);
  const T* outputs(const Tile& tile, const T* dy);
  // Computes the products of all groups.
  void multiply(const BatchStrides& strides, bool transA, bool transB, Index m, Index n, Index k,
                const T* a, Index lda, const T* b, Index ldb, T beta, T* c, Index ldc);
  // The distances between the rows of the product's matrices: of the columns, and of the outputs.
  Index inputDistance(Index width) const { return copies_ ? inVolume_ : width; }
  Index outputDistance(Index width) const { return packs_ ? width : y_.channel; }

  Index groups_;
  Index outEach_, depthEach_, weightsEach_; // rows of Y and X, and elements of W, in each
  bool packs_;                              // the product's outputs are not where y or dy has them
  Index columnsAt_, packedAt_;              // in the scratch
};

} // namespace tenon
