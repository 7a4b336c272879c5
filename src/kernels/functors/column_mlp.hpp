// SPDX-License-Identifier: BSD-2-Clause
// The perceptron of products/column_mlp.hpp on the device, all layers in one kernel: a thread block
// keeps the channels of a tile of points in its shared memory from the first layer to the last, and
// reads and writes the arrays of tensors once. The same kernel takes cotangents through the layers,
// from the last one to the first. The sum of an output begins with the bias and goes over the
// inputs in order, so the results at a point do not depend on the other points.
#pragma once

#include "kernels/functors/pointwise.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

#include <cstdint>

namespace tenon::functors {

// The activations that this kernel has. It selects one of them when it runs: a kernel for each
// would be compiled for every function of a network, though few are used in perceptrons.
struct SelectedActivation {
  Pointwise kind;

  static bool has(Pointwise kind) {
    switch (kind) {
    case Pointwise::Relu:
    case Pointwise::Tanh:
    case Pointwise::Sigmoid:
    case Pointwise::Gelu:
    case Pointwise::GeluTanh:
    case Pointwise::Silu:
    case Pointwise::Softplus:
      return true;
    default:
      return false;
    }
  }
  // Calls visit(functor) with the functor of the function.
  template <class Visit>
  TENON_DEVICE auto with(const Visit& visit) const {
    using namespace pointwise;
    switch (kind) {
    case Pointwise::Relu:
      return visit(Relu{});
    case Pointwise::Tanh:
      return visit(Tanh{});
    case Pointwise::Sigmoid:
      return visit(Sigmoid{});
    case Pointwise::Gelu:
      return visit(Gelu{});
    case Pointwise::GeluTanh:
      return visit(GeluTanh{});
    case Pointwise::Silu:
      return visit(Silu{});
    default:
      return visit(Softplus{});
    }
  }
  // Whether the derivative needs the argument of the function, rather than its value.
  bool readsArgument() const {
    return with([](const auto& f) { return f.kReads == pointwise::Reads::Argument; });
  }
  template <class T>
  TENON_DEVICE T value(T x) const {
    return with([x](const auto& f) { return f.value(x); });
  }
  template <class T>
  TENON_DEVICE T derivative(T point, T v) const {
    return with([point, v](const auto& f) { return f.derivative(point, v); });
  }
};

// The functor for eachThreadBlock(). The tiles b, b + blocks, ... belong to thread block b, which
// takes the phases of a tile one after the other: the offsets of its points, the load of their
// channels, the layers, and the store.
template <class T>
struct ColumnMlpTiles {
  static constexpr int kMaxLayers = 8;
  static constexpr Index kMaxWidth = 128;
  // A thread computes kRows rows of a layer at kPoints points: each number that it loads enters
  // four products.
  static constexpr unsigned kRows = 4, kPoints = 4;
  static constexpr unsigned kMinTile = 16, kMaxTile = 128;     // points
  static constexpr unsigned kNumbers = (1U << 14) / sizeof(T); // of a level: 16 KiB

  struct Shared {
    T levels[2][kNumbers];              // [channel, point] before and after a layer, alternately
    Index from[kMaxTile], to[kMaxTile]; // offsets of the points in x and y
  };
  // row r = bias r + the sum over t of weights[r stepOfRows + t stepOfTerms] times channel t, then
  // the activation, or its derivative at the numbers `at` times the row. `before` and `after` get
  // the rows before and after that. These three are matrices [row, point], and can be null.
  struct Layer {
    const T *weights, *biases; // biases can be null
    T *before, *after;
    const T* at;
    std::uint32_t terms, rows, stepOfTerms, stepOfRows;
    enum : std::int32_t { None, Value, Derivative } function;
  };
  // An array: the stride of channels, and whether neighbouring threads access neighbouring channels
  // rather than points.
  struct Side {
    Index channel;
    std::int32_t isByChannel;
  };

  Layer layers[kMaxLayers];
  std::int32_t count, rounds; // numbers of layers, and of tiles of a thread block at most
  SelectedActivation activation;
  // The offset of a point in x and y.
  ElementOffsets<2> points{/*rank=*/0, nullptr, {nullptr, nullptr}};
  Index tiles;
  std::uint32_t tile; // points of a tile, a power of two
  Side ofX, ofY;
  const T* x;
  T* copyOfX; // the matrix [channel, point], or null
  T* y;       // can be null

  TENON_DEVICE int phases() const { return rounds * phasesOfTile(); }
  TENON_DEVICE void operator()(int phase, const GridThread& p, Shared& shared) const {
    const Index number = p.block + Index(phase / phasesOfTile()) * p.blocks;
    if (number >= tiles)
      return;
    const Index first = number * tile, left = points.count() - first;
    const Range range{first, static_cast<std::uint32_t>(left < tile ? left : tile)};
    const int step = phase % phasesOfTile(), layer = step - 2;
    if (step == 0)
      findOffsets(p, range, shared);
    else if (step == 1)
      load(p, range, shared);
    else if (layer < count)
      apply(p, range, layers[layer], shared.levels[layer % 2], shared.levels[1 - layer % 2]);
    else if (y)
      store(p, range, shared);
  }

private:
  // The points of a tile.
  struct Range {
    Index first;
    std::uint32_t valid;
  };

  TENON_DEVICE int phasesOfTile() const { return count + 3; }

  TENON_DEVICE void findOffsets(const GridThread& p, const Range& range, Shared& shared) const {
    for (std::uint32_t i = p.thread; i < range.valid; i += p.threads) {
      const auto offsets = points(range.first + i);
      shared.from[i] = offsets.of[0];
      shared.to[i] = offsets.of[1];
    }
  }
  // Calls visit(channel, point) for this thread's elements of the tile.
  template <class Visit>
  TENON_DEVICE void eachOfTile(const GridThread& p, const Side& side, std::uint32_t channels,
                               const Visit& visit) const {
    TENON_KEEP_LOOP
    for (std::uint32_t i = p.thread; i < channels * tile; i += p.threads)
      if (side.isByChannel)
        visit(i % channels, i / channels);
      else
        visit(i / tile, i % tile);
  }
  // The place of a tile's element in a matrix [channel, point].
  TENON_DEVICE Index placeOf(const Range& range, std::uint32_t channel, std::uint32_t point) const {
    return channel * points.count() + range.first + point;
  }
  // Points beyond the last one are copies of it, which raise no other floating-point exceptions.
  TENON_DEVICE void load(const GridThread& p, const Range& range, Shared& shared) const {
    eachOfTile(p, ofX, layers[0].terms, [&](std::uint32_t channel, std::uint32_t point) {
      const std::uint32_t from = point < range.valid ? point : range.valid - 1;
      const T number = x[shared.from[from] + channel * ofX.channel];
      shared.levels[0][channel * tile + point] = number;
      if (copyOfX && point < range.valid)
        copyOfX[placeOf(range, channel, point)] = number;
    });
  }
  TENON_DEVICE void store(const GridThread& p, const Range& range, Shared& shared) const {
    const T* const last = shared.levels[count % 2];
    eachOfTile(p, ofY, layers[count - 1].rows, [&](std::uint32_t channel, std::uint32_t point) {
      if (point < range.valid)
        y[shared.to[point] + channel * ofY.channel] = last[channel * tile + point];
    });
  }

  TENON_DEVICE void apply(const GridThread& p, const Range& range, const Layer& layer,
                          const T* from, T* to) const {
    const std::uint32_t groups = tile / kPoints, items = (layer.rows + kRows - 1) / kRows * groups;
    TENON_KEEP_LOOP
    for (std::uint32_t item = p.thread; item < items; item += p.threads) {
      const std::uint32_t row = item / groups * kRows, point = item % groups;
      sum(layer, row, from + point, to + point, groups);
      if (layer.function == Layer::None)
        continue;
      // The loop is not unrolled, and so has the functions once.
      TENON_KEEP_LOOP
      for (std::uint32_t k = 0; k < kRows * kPoints; ++k)
        applyFunction(range, layer, row + k / kPoints, point + k % kPoints * groups, to);
    }
  }
  TENON_DEVICE void applyFunction(const Range& range, const Layer& layer, std::uint32_t row,
                                  std::uint32_t point, T* to) const {
    if (row >= layer.rows)
      return;
    T& number = to[row * tile + point];
    const Index place = placeOf(range, row, point < range.valid ? point : range.valid - 1);
    const T before = number, after = layer.function == Layer::Value
                                         ? activation.value(before)
                                         : activation.derivative(layer.at[place], before);
    number = after;
    if (layer.before && point < range.valid)
      layer.before[place] = before;
    if (layer.after && point < range.valid)
      layer.after[place] = after;
  }
  // The rows from `row` on, at points that are `apart` elements apart.
  TENON_DEVICE void sum(const Layer& layer, std::uint32_t row, const T* from, T* to,
                        std::uint32_t apart) const {
    const T* weights[kRows];
    T sums[kRows][kPoints];
    TENON_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      // Rows beyond the last one are the last one, and not stored.
      const std::uint32_t at = row + r < layer.rows ? row + r : layer.rows - 1;
      weights[r] = layer.weights + at * layer.stepOfRows;
      const T bias = layer.biases ? layer.biases[at] : T(0);
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        sums[r][k] = bias;
    }
    TENON_KEEP_LOOP
    for (std::uint32_t t = 0; t < layer.terms; ++t, from += tile) {
      T channel[kPoints];
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        channel[k] = from[k * apart];
      TENON_UNROLL
      for (unsigned r = 0; r < kRows; ++r) {
        const T weight = weights[r][t * layer.stepOfTerms];
        TENON_UNROLL
        for (unsigned k = 0; k < kPoints; ++k)
          sums[r][k] += weight * channel[k];
      }
    }
    TENON_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        if (row + r < layer.rows)
          to[(row + r) * tile + k * apart] = sums[r][k];
    }
  }
};

} // namespace tenon::functors
