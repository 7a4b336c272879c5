// SPDX-License-Identifier: BSD-2-Clause
// Convolution on the device as matrix products, in the tiles of convolution/tiles.hpp, which
// describes the method: kernels gather the columns of im2col, cuBLAS multiplies. This file has the
// loops over elements of a tile, as kernels of the device. Of the convolution backends in float64,
// only this one uses the tensor cores.
#include "kernels/convolution/tiles.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/functors/im2col.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Columns of up to 64 MiB in float64, in scratch that later kernels reuse, and enough outputs to
// occupy all multiprocessors.
constexpr TileLimits kDeviceLimits{
    .columnElements = Index(1) << 23, .leastOutputs = 256, .enoughOutputs = Index(1) << 23};

template <class T>
class GemmConvolution final : public TiledConvolution<T> {
public:
  GemmConvolution(const ConvolutionShape& shape, KernelContextPtr context)
      : TiledConvolution<T>(shape, std::move(context), kDeviceLimits) {
    prepareGemm(*context_);
    // The functors of im2col index the elements of a tile in 32 bits.
    const Index columns = copies_ ? 0 : depth_ * images_ * rows_ * cols_;
    const Index maxElements = std::max(columns, copies_ ? 0 : images_ * in_ * inVolume_);
    if (maxElements > kMaxWalkedElements)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("backend 'gemm' supports up to {} inputs and columns at a time, but "
                              "this convolution of {} channels has {}; use 'cudnn', or split "
                              "the tensor over more ranks",
                              kMaxWalkedElements, in_, maxElements));
  }
  Backend backend() const override { return Backend::Gemm; }

private:
  using TiledConvolution<T>::batch_, TiledConvolution<T>::cols_, TiledConvolution<T>::columns,
      TiledConvolution<T>::context_, TiledConvolution<T>::copies_, TiledConvolution<T>::depth_,
      TiledConvolution<T>::images_, TiledConvolution<T>::in_, TiledConvolution<T>::inVolume_,
      TiledConvolution<T>::out_, TiledConvolution<T>::packed, TiledConvolution<T>::rows_,
      TiledConvolution<T>::window_, TiledConvolution<T>::y_;

  Backend productBackend() const override { return Backend::Gemm; }

  void clear(T* dx) override {
    const Index n = batch_ * in_ * inVolume_, one = 1;
    fillBlock(*context_, 1, &n, T(0), dx, &one);
  }

  functors::ColumnTile columnTile(const Tile& tile) const {
    return {window_, in_, tile.image, tile.images, tile.outputs};
  }

  void gather(const Tile& tile, const T* x) override {
    const functors::GatherColumns<T> gather(columnTile(tile), x, columns());
    eachElement(*context_, gather.outputs(), 1, gather);
  }

  void scatter(const Tile& tile, T* dx) override {
    const functors::ScatterColumns<T> scatter(columnTile(tile), window_, columns(), dx);
    eachElement(*context_, scatter.inputs, kernelVolume(window_), scatter);
  }

  // Calls visit(rank, extents, offset in y, strides in y, offset in the packed matrix, strides in
  // it) for the boxes that make up the tile, at most three: a first and a last plane of which the
  // tile has some rows, and whole planes in between.
  template <class Visit>
  void forEachBox(const Tile& tile, Visit visit) const {
    const auto [rows, cols] = tile.outputs;
    const Index plane = window_.out[1], width = cols.end - cols.begin;
    for (Index row = rows.begin; row < rows.end;) {
      const bool isWhole = row % plane == 0 && row + plane <= rows.end;
      const Index planes = isWhole ? (rows.end - row) / plane : 1;
      const Index count = isWhole ? plane : std::min(plane - row % plane, rows.end - row);
      // [channel, image, plane, row, column]
      const Index extent[] = {out_, tile.images, planes, count, width};
      const Index yStrides[] = {y_.channel, y_.batch, y_.space[0], y_.space[1], y_.space[2]};
      const Index packedStrides[] = {tile.width(), tile.pixels(), plane * width, width, 1};
      visit(5, extent,
            tile.image * y_.batch + row / plane * y_.space[0] + row % plane * y_.space[1] +
                cols.begin * y_.space[2],
            yStrides, (row - rows.begin) * width, packedStrides);
      row += planes * count;
    }
  }

  void pack(const Tile& tile, const T* dy) override {
    forEachBox(tile, [&](int rank, const Index* extent, Index yOffset, const Index* yStrides,
                         Index packedOffset, const Index* packedStrides) {
      blockCombine(*context_, Combine::Copy, rank, extent, dy + yOffset, yStrides,
                   packed() + packedOffset, packedStrides);
    });
  }

  void unpack(const Tile& tile, const T* b, T* y, bool accumulate) override {
    forEachBox(tile, [&](int rank, const Index* extent, Index yOffset, const Index* yStrides,
                         Index packedOffset, const Index* packedStrides) {
      blockCombine(*context_, accumulate ? Combine::Add : Combine::Copy, rank, extent,
                   packed() + packedOffset, packedStrides, y + yOffset, yStrides);
    });
    if (b)
      combineBias(Combine::Add, tile, b, y);
  }

  T beginOutputs(const Tile& tile, const T* b, T* y, bool accumulate) override {
    if (b)
      combineBias(accumulate ? Combine::Add : Combine::Copy, tile, b, y);
    return T(b || accumulate); // beta = 0 lets the product overwrite y
  }

  // Writes the bias to y, or adds it, for the outputs of the tile.
  void combineBias(Combine operation, const Tile& tile, const T* b, T* y) {
    static constexpr Index kPerChannel[] = {1, 0, 0, 0, 0}; // strides of b in the boxes
    forEachBox(tile, [&](int rank, const Index* extent, Index yOffset, const Index* yStrides, Index,
                         const Index*) {
      blockCombine(*context_, operation, rank, extent, b, kPerChannel, y + yOffset, yStrides);
    });
  }

  void sumOutputs(const Tile& tile, const T* dy, Index distance, T* db) override {
    const Index extent[] = {out_, tile.width()}, ofDy[] = {distance, 1}, ofDb[] = {1, 0};
    blockMultiplyAdd<T>(*context_, 2, extent, T(1), nullptr, nullptr, dy, ofDy, db, ofDb);
  }
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>> makeGemmConvolution(const ConvolutionShape& shape,
                                                    KernelContextPtr context) {
  return std::make_unique<GemmConvolution<T>>(shape, std::move(context));
}

template std::unique_ptr<Convolution<float>> makeGemmConvolution<float>(const ConvolutionShape&,
                                                                        KernelContextPtr);
template std::unique_ptr<Convolution<double>> makeGemmConvolution<double>(const ConvolutionShape&,
                                                                          KernelContextPtr);

} // namespace tenon
