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
        y_(embedStrides(outputStrides(shape), shape.window.rank)), inVolume_(inputVolume(window_)),
        outVolume_(outputVolume(window_)), depth_(in_ * kernelVolume(window_)),
        groups_(shape.groups), copies_(onlyCopies(window_)) {
    planTiles();
    denseInSpace_ = isDenseInSpace();
    if (out_ == 1) // BLAS wants a distance between rows even of one row
      y_.channel = std::max(y_.channel, outVolume_);
    packs_ = images_ > 1 || !denseInSpace_;
    const Index outputs = images_ * rows_ * cols_;
    ScratchPlan plan;
    columnsAt_ = plan.add<T>(copies_ ? 0 : depth_ * outputs);
    packedAt_ = plan.add<T>(packs_ ? out_ * outputs : 0);
    context_->reserve(plan);
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    forEachTile([&](const Tile& tile) {
      const Index width = outputsOf(tile);
      const T* gathered = gather(tile, x);
      const Index distance = copies_ ? inVolume_ : width;
      T* target = packs_ ? packed() : y + firstOutput(tile);
      const Index targetDistance = outputDistance(width);
      if (!packs_)
        beginOutputs(tile, b, y, accumulate);
      forEachGroup([&](const Group& g) {
        multiply(false, false, g.outputs, width, g.depth, w + g.weights, g.depth,
                 gathered + g.firstRow * distance, distance, T(!packs_),
                 target + g.firstOutput * targetDistance, targetDistance);
      });
      if (packs_)
        unpack(tile, b, y, accumulate);
    });
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    parallelFill(context_->threads(), batch_ * in_ * inVolume_, T(0), dx);
    forEachTile([&](const Tile& tile) {
      const Index width = outputsOf(tile);
      const Index dyDistance = outputDistance(width);
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
      const Index dyDistance = outputDistance(width);
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
  // Whether the outputs of a channel lie one after the other.
  bool isDenseInSpace() const {
    Index dense = 1;
    for (int d = kMaxSpatial - 1; d >= 0; --d) {
      if (window_.out[d] > 1 && y_.space[d] != dense)
        return false;
      dense *= window_.out[d];
    }
    return true;
  }
  Index firstOutput(const Tile& tile) const {
    return tile.image * y_.batch + tile.outputs.rows.begin * window_.out[2] +
           tile.outputs.cols.begin;
  }
  // Between the channels of the product's matrix of outputs.
  Index outputDistance(Index width) const { return packs_ ? width : y_.channel; }

  void multiply(bool transA, bool transB, Index m, Index n, Index k, const T* a, Index lda,
                const T* b, Index ldb, T beta, T* c, Index ldc) {
    gemm<T>(*context_, Backend::Blas, transA, transB, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
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
      T* channel = y + tile.image * y_.batch + k * y_.channel;
      const T value = b ? b[k] : T(0);
      for (Index r = o.rows.begin; r < o.rows.end; ++r)
        for (Index i = r * cols + o.cols.begin; i < r * cols + o.cols.end; ++i)
          channel[i] = accumulate ? channel[i] + value : value;
    });
  }

  // visit(a row of the tile's outputs in y, the same row in the packed matrix, its length) for all
  // images and rows of output channel k; rows that follow each other in y are visited as one.
  template <class Element, class Visit>
  void forEachPackedRow(const Tile& tile, Index k, Element* y, Visit visit) {
    const auto [rows, cols] = tile.outputs;
    const Index length = denseInSpace_ ? pixelsOf(tile.outputs) : cols.end - cols.begin;
    const Index end = denseInSpace_ ? rows.begin + 1 : rows.end;
    T* cells = packed() + k * outputsOf(tile);
    for (Index n = 0; n < tile.images; ++n) {
      Element* channel = y + (tile.image + n) * y_.batch + k * y_.channel;
      for (Index r = rows.begin; r < end; ++r, cells += length)
        visit(channel + r / window_.out[1] * y_.space[0] + r % window_.out[1] * y_.space[1] +
                  cols.begin * y_.space[2],
              cells, length);
    }
  }

  // Between the outputs of a packed row in y.
  Index columnStep() const { return denseInSpace_ ? 1 : y_.space[2]; }

  // dy of the tile as a matrix [outChannels, outputs].
  const T* pack(const Tile& tile, const T* dy) {
    if (!packs_)
      return dy + firstOutput(tile);
    forEachOutputChannel(tile, [=, this, step = columnStep()](Index k) {
      forEachPackedRow(tile, k, dy, [=](const T* row, T* cells, Index length) {
        for (Index o = 0; o < length; ++o)
          cells[o] = row[o * step];
      });
    });
    return packed();
  }

  void unpack(const Tile& tile, const T* b, T* y, bool accumulate) {
    forEachOutputChannel(tile, [=, this, step = columnStep()](Index k) {
      const T value = b ? b[k] : T(0);
      forEachPackedRow(tile, k, y, [=](T* row, const T* cells, Index length) {
        for (Index o = 0; o < length; ++o)
          row[o * step] = accumulate ? row[o * step] + (cells[o] + value) : cells[o] + value;
      });
    });
  }

  T* columns() { return context_->scratch<T>(columnsAt_); }
  T* packed() { return context_->scratch<T>(packedAt_); }

  KernelContextPtr context_;
  Index batch_, in_, out_;
  WindowShape window_;
  ImageStrides y_;
  Index inVolume_, outVolume_;
  Index depth_; // rows of the columns: channels times taps
  Index groups_;
  bool copies_;
  bool denseInSpace_;
  bool packs_; // the product's outputs are not where y or dy has them
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
