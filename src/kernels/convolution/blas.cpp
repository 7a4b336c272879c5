// SPDX-License-Identifier: BSD-2-Clause
// The host's loops around the matrix products of convolution/tiles.hpp, which describes the method:
// gathering and scattering the columns of im2col, copying outputs from and to y, and the bias. BLAS
// uses its own threads for the products; the loops here divide channels among Tenon's threads, so
// no sum is split.
#include "kernels/convolution/tiles.hpp"

namespace tenon {

namespace {

// The columns of a tile are 1 MiB in float64, to fit the second-level cache. The numbers of outputs
// are those from which a matrix product of BLAS is efficient.
constexpr TileLimits kLimits{
    .columnElements = Index(1) << 17, .leastOutputs = 256, .enoughOutputs = 512};

template <class T>
class BlasConvolution final : public TiledConvolution<T> {
public:
  BlasConvolution(const ConvolutionShape& shape, KernelContextPtr context)
      : TiledConvolution<T>(shape, std::move(context), kLimits) {}
  Backend backend() const override { return Backend::Blas; }

private:
  using TiledConvolution<T>::batch_, TiledConvolution<T>::columns, TiledConvolution<T>::context_,
      TiledConvolution<T>::denseInSpace_, TiledConvolution<T>::depth_, TiledConvolution<T>::in_,
      TiledConvolution<T>::inVolume_, TiledConvolution<T>::out_, TiledConvolution<T>::packed,
      TiledConvolution<T>::window_, TiledConvolution<T>::y_;

  Backend productBackend() const override { return Backend::Blas; }

  void clear(T* dx) override {
    parallelFill(context_->threads(), batch_ * in_ * inVolume_, T(0), dx);
  }

  void gather(const Tile& tile, const T* x) override {
    forEachChannel(tile, [=, this](Index channel, T* columns, Index distance) {
      gatherColumns(window_, tile.outputs, x + channel * inVolume_, columns, distance);
    });
  }

  void scatter(const Tile& tile, T* dx) override {
    forEachChannel(tile, [=, this](Index channel, const T* columns, Index distance) {
      scatterColumns(window_, tile.outputs, columns, distance, dx + channel * inVolume_);
    });
  }

  // Calls visit(channel, rows of the matrix X for the channel, stride between these rows) for each
  // input channel of the tile's images, with channels numbered over the whole batch, on several
  // threads. X is [in_ channels, taps, images, pixels].
  template <class Visit>
  void forEachChannel(const Tile& tile, Visit visit) {
    const Index taps = depth_ / std::max<Index>(1, in_), pixels = tile.pixels();
    const Index distance = tile.width();
    T* first = columns();
    parallelRanges(context_->threads(), tile.images * in_, taps * pixels,
                   [=, this](Index begin, Index end) {
                     for (Index i = begin; i < end; ++i)
                       visit(tile.image * in_ + i,
                             first + i % in_ * taps * distance + i / in_ * pixels, distance);
                   });
  }

  // db[k] += sum of row k of dY, the matrix of the tile whose rows are `distance` apart.
  void sumOutputs(const Tile& tile, const T* dy, Index distance, T* db) override {
    const Index width = tile.width();
    parallelRanges(context_->threads(), out_, width, [=](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        T sum = 0;
        for (Index o = 0; o < width; ++o)
          sum += dy[k * distance + o];
        db[k] += sum;
      }
    });
  }

  // Calls visit(k) for each output channel, on several threads.
  template <class Visit>
  void forEachOutputChannel(const Tile& tile, Visit visit) {
    parallelRanges(context_->threads(), out_, tile.width(), [=](Index begin, Index end) {
      for (Index k = begin; k < end; ++k)
        visit(k);
    });
  }

  // Writes the bias to y, or adds it; the product is then added to y (beta = 1).
  T beginOutputs(const Tile& tile, const T* b, T* y, bool accumulate) override {
    forEachOutputChannel(tile, [=, this, o = tile.outputs, cols = window_.out[2]](Index k) {
      T* channel = y + tile.image * y_.batch + k * y_.channel;
      const T value = b ? b[k] : T(0);
      for (Index r = o.rows.begin; r < o.rows.end; ++r)
        for (Index i = r * cols + o.cols.begin; i < r * cols + o.cols.end; ++i)
          channel[i] = accumulate ? channel[i] + value : value;
    });
    return T(1);
  }

  // Calls visit(row of outputs in y, the same row in the packed matrix, length) for all images and
  // rows of output channel k. Rows that are adjacent in y are visited as one.
  template <class Element, class Visit>
  void forEachPackedRow(const Tile& tile, Index k, Element* y, Visit visit) {
    const auto [rows, cols] = tile.outputs;
    const Index length = denseInSpace_ ? tile.pixels() : cols.end - cols.begin;
    const Index end = denseInSpace_ ? rows.begin + 1 : rows.end;
    T* elements = packed() + k * tile.width();
    for (Index n = 0; n < tile.images; ++n) {
      Element* channel = y + (tile.image + n) * y_.batch + k * y_.channel;
      for (Index r = rows.begin; r < end; ++r, elements += length)
        visit(channel + r / window_.out[1] * y_.space[0] + r % window_.out[1] * y_.space[1] +
                  cols.begin * y_.space[2],
              elements, length);
    }
  }

  // Stride in y between the outputs of a packed row.
  Index columnStep() const { return denseInSpace_ ? 1 : y_.space[2]; }

  void pack(const Tile& tile, const T* dy) override {
    forEachOutputChannel(tile, [=, this, step = columnStep()](Index k) {
      forEachPackedRow(tile, k, dy, [=](const T* row, T* elements, Index length) {
        for (Index o = 0; o < length; ++o)
          elements[o] = row[o * step];
      });
    });
  }

  void unpack(const Tile& tile, const T* b, T* y, bool accumulate) override {
    forEachOutputChannel(tile, [=, this, step = columnStep()](Index k) {
      const T value = b ? b[k] : T(0);
      forEachPackedRow(tile, k, y, [=](T* row, const T* elements, Index length) {
        for (Index o = 0; o < length; ++o)
          row[o * step] = accumulate ? row[o * step] + (elements[o] + value) : elements[o] + value;
      });
    });
  }
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
