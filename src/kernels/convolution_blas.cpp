// SPDX-License-Identifier: BSD-2-Clause
// Convolution as matrix products: with the columns X of im2col.hpp and w as the matrix
// W [outChannels, (c,t)],
//     Y = W X,    dX = W^T dY,    dW += dY X^T,
// group by group: a group's channels are consecutive rows of X and Y.
// The outputs are cut into tiles whose columns stay in the cache: several whole images where an
// image is small (one product is then worth its call), a piece of an image where it is large. A
// kernel of one tap that only copies needs no columns: X is x.
// The products run on BLAS's threads; gathering and the like are split by channels.
#include "kernels/convolution_backends.hpp"
#include "kernels/gemm.hpp"
#include "kernels/im2col.hpp"

namespace tenon {

namespace {

constexpr Index kColumnElements = Index(1) << 17; // of the columns of a tile: 1 MiB of float64
constexpr Index kLeastOutputs = 256;  // of a tile: below, reading W again costs more than it saves
constexpr Index kEnoughOutputs = 512; // outputs that make a product worth its call

struct Tile {
  Index image, images;
  OutputTile outputs; // the whole image where images > 1
};

// One group's part of W, X and Y.
struct Group {
  Index outputs, depth;        // rows of Y and X
  Index firstOutput, firstRow; // where they begin
  Index weights;               // where W's part begins
};

bool onlyCopies(const WindowShape& w) {
  for (int d = 0; d < kMaxSpatial; ++d)
    if (w.kernel[d] != 1 || w.stride[d] != 1 || w.padLow[d] != 0 || w.in[d] != w.out[d])
      return false;
  return true;
}

template <class T>
class BlasConvolution final : public Convolution<T> {
public:
  BlasConvolution(const ConvolutionShape& shape, KernelContextPtr context)
      : context_(std::move(context)), batch_(shape.batch), in_(shape.inChannels),
        out_(shape.outChannels), window_(embedWindow(shape.window)),
        inVolume_(inputVolume(window_)), outVolume_(outputVolume(window_)),
        depth_(in_ * kernelVolume(window_)), groups_(shape.groups), copies_(onlyCopies(window_)) {
    planTiles();
    const Index outputs = images_ * rows_ * cols_;
    ScratchPlan plan;
    columnsAt_ = plan.add<T>(copies_ ? 0 : depth_ * outputs);
    packedAt_ = plan.add<T>(images_ > 1 ? out_ * outputs : 0);
    context_->reserve(plan);
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    forEachTile([&](const Tile& tile) {
      const Index width = outputsOf(tile);
      const T* gathered = gather(tile, x);
      const Index distance = copies_ ? inVolume_ : width;
      T* target = tile.images > 1 ? packed() : y + firstOutput(tile);
      const Index targetDistance = tile.images > 1 ? width : outVolume_;
      if (tile.images == 1)
        beginOutputs(tile, b, y, accumulate);
      forEachGroup([&](const Group& g) {
        multiply(false, false, g.outputs, width, g.depth, w + g.weights, g.depth,
                 gathered + g.firstRow * distance, distance, T(tile.images == 1),
                 target + g.firstOutput * targetDistance, targetDistance);
      });
      if (tile.images > 1)
        unpack(tile, b, y, accumulate);
    });
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    parallelFill(batch_ * in_ * inVolume_, T(0), dx);
    forEachTile([&](const Tile& tile) {
      const Index width = outputsOf(tile);
      const Index dyDistance = tile.images > 1 ? width : outVolume_;
      T* gathered = copies_ ? dx + tile.image * in_ * inVolume_ : columns();
      const Index distance = copies_ ? inVolume_ : width;
      const T* outputs = pack(tile, dy);
      forEachGroup([&](const Group& g) {
        multiply(true, false, g.depth, width, g.outputs, w + g.weights, g.depth,
                 outputs + g.firstOutput * dyDistance, dyDistance, T(0),
                 gathered + g.firstRow * distance, distance);
      });
      if (!copies_)
        scatter(tile, dx);
    });
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    forEachTile([&](const Tile& tile) {
      const Index width = outputsOf(tile);
      const Index dyDistance = tile.images > 1 ? width : outVolume_;
      const T* outputs = pack(tile, dy);
      const T* gathered = gather(tile, x);
      const Index distance = copies_ ? inVolume_ : width;
      forEachGroup([&](const Group& g) {
        multiply(false, true, g.outputs, g.depth, width, outputs + g.firstOutput * dyDistance,
                 dyDistance, gathered + g.firstRow * distance, distance, T(1), dw + g.weights,
                 g.depth);
      });
      if (db)
        sumOutputs(width, outputs, dyDistance, db);
    });
  }

  Backend backend() const override { return Backend::Blas; }
  const char* implementation() const override { return copies_ ? "gemm" : "im2col+gemm"; }

private:
  // Sets the largest tile: images_ whole images, or rows_ x cols_ outputs of one.
  void planTiles() {
    images_ = 1;
    rows_ = window_.out[0] * window_.out[1];
    cols_ = window_.out[2];
    if (copies_)
      return;
    const Index depth = std::max<Index>(1, depth_);
    const Index budget = std::max(kLeastOutputs, kColumnElements / depth); // outputs of a tile
    if (outVolume_ > budget) {
      cols_ = std::min(cols_, budget);
      rows_ = std::min(rows_, std::max<Index>(1, budget / cols_));
    } else if (outVolume_ > 0) {
      const Index wanted = ceilDivide(std::min(budget, kEnoughOutputs), outVolume_);
      images_ = std::clamp<Index>(wanted, 1, std::max<Index>(1, batch_));
    }
  }

  template <class Visit>
  void forEachGroup(Visit visit) const {
    const Index outputs = out_ / groups_, depth = depth_ / groups_;
    for (Index g = 0; g < groups_; ++g)
      visit(Group{outputs, depth, g * outputs, g * depth, g * outputs * depth});
  }

  template <class Visit>
  void forEachTile(Visit visit) {
    if (outVolume_ == 0)
      return;
    const Index allRows = window_.out[0] * window_.out[1], allCols = window_.out[2];
    for (Index n = 0; n < batch_; n += images_)
      for (Index r = 0; r < allRows; r += rows_)
        for (Index o = 0; o < allCols; o += cols_)
          visit(Tile{n,
                     std::min(images_, batch_ - n),
                     {{r, std::min(r + rows_, allRows)}, {o, std::min(o + cols_, allCols)}}});
  }

  static Index pixelsOf(const OutputTile& tile) {
    return (tile.rows.end - tile.rows.begin) * (tile.cols.end - tile.cols.begin);
  }
  static Index outputsOf(const Tile& tile) { return tile.images * pixelsOf(tile.outputs); }
  Index firstOutput(const Tile& tile) const {
    return tile.image * out_ * outVolume_ + tile.outputs.rows.begin * window_.out[2] +
           tile.outputs.cols.begin;
  }

  void multiply(bool transA, bool transB, Index m, Index n, Index k, const T* a, Index lda,
                const T* b, Index ldb, T beta, T* c, Index ldc) {
    gemm<T>(Backend::Blas, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
  }

  const T* gather(const Tile& tile, const T* x) {
    if (copies_)
      return x + tile.image * in_ * inVolume_;
    forEachChannel(tile, [=, this](Index channel, T* columns, Index distance) {
      gatherColumns(window_, tile.outputs, x + channel * inVolume_, columns, distance);
    });
    return columns();
  }

  void scatter(const Tile& tile, T* dx) {
    forEachChannel(tile, [=, this](Index channel, const T* columns, Index distance) {
      scatterColumns(window_, tile.outputs, columns, distance, dx + channel * inVolume_);
    });
  }

  // visit(channel, its columns, their distance) for the input channels of the tile's images,
  // counted over the batch, on several threads.
  template <class Visit>
  void forEachChannel(const Tile& tile, Visit visit) {
    const Index taps = depth_ / std::max<Index>(1, in_), pixels = pixelsOf(tile.outputs);
    const Index distance = tile.images * pixels;
    T* first = columns();
    parallelRanges(context_->threads(), tile.images * in_, taps * pixels,
                   [=, this](Index begin, Index end) {
                     for (Index i = begin; i < end; ++i)
                       visit(tile.image * in_ + i,
                             first + i % in_ * taps * distance + i / in_ * pixels, distance);
                   });
  }

  // db[k] += sum over the tile's outputs of dy[k].
  void sumOutputs(Index width, const T* dy, Index distance, T* db) {
    parallelRanges(context_->threads(), out_, width, [=](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        T sum = 0;
        for (Index o = 0; o < width; ++o)
          sum += dy[k * distance + o];
        db[k] += sum;
      }
    });
  }

  template <class Visit>
  void forEachOutputChannel(const Tile& tile, Visit visit) {
    parallelRanges(context_->threads(), out_, outputsOf(tile), [=](Index begin, Index end) {
      for (Index k = begin; k < end; ++k)
        visit(k);
    });
  }

  // y of the tile becomes what the product is added to.
  void beginOutputs(const Tile& tile, const T* b, T* y, bool accumulate) {
    forEachOutputChannel(tile, [=, this, o = tile.outputs, cols = window_.out[2]](Index k) {
      T* channel = y + (tile.image * out_ + k) * outVolume_;
      const T value = b ? b[k] : T(0);
      for (Index r = o.rows.begin; r < o.rows.end; ++r)
        for (Index i = r * cols + o.cols.begin; i < r * cols + o.cols.end; ++i)
          channel[i] = accumulate ? channel[i] + value : value;
    });
  }

  // dy of the tile as a matrix [outChannels, outputs].
  const T* pack(const Tile& tile, const T* dy) {
    if (tile.images == 1)
      return dy + firstOutput(tile);
    forEachOutputChannel(tile, [=, this](Index k) {
      for (Index n = 0; n < tile.images; ++n)
        std::copy_n(dy + ((tile.image + n) * out_ + k) * outVolume_, outVolume_,
                    packed() + (k * tile.images + n) * outVolume_);
    });
    return packed();
  }

  void unpack(const Tile& tile, const T* b, T* y, bool accumulate) {
    forEachOutputChannel(tile, [=, this](Index k) {
      for (Index n = 0; n < tile.images; ++n) {
        const T* from = packed() + (k * tile.images + n) * outVolume_;
        T* to = y + ((tile.image + n) * out_ + k) * outVolume_;
        const T value = b ? b[k] : T(0);
        for (Index o = 0; o < outVolume_; ++o)
          to[o] = accumulate ? to[o] + (from[o] + value) : from[o] + value;
      }
    });
  }

  T* columns() { return context_->scratch<T>(columnsAt_); }
  T* packed() { return context_->scratch<T>(packedAt_); }

  KernelContextPtr context_;
  Index batch_, in_, out_;
  WindowShape window_;
  Index inVolume_, outVolume_;
  Index depth_; // rows of the columns: channels times taps
  Index groups_;
  bool copies_;
  Index images_, rows_, cols_;
  Index columnsAt_, packedAt_; // in the scratch
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>> makeBlasConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context) {
  return std::make_unique<BlasConvolution<T>>(shape, std::move(context));
}

template std::unique_ptr<Convolution<float>> makeBlasConvolution<float>(const ConvolutionShape&,
                                                                        KernelContextPtr);
template std::unique_ptr<Convolution<double>> makeBlasConvolution<double>(const ConvolutionShape&,
                                                                          KernelContextPtr);

} // namespace tenon
