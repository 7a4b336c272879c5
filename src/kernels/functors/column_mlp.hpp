// SPDX-License-Identifier: BSD-2-Clause
// The perceptron of products/column_mlp.hpp on the device, all layers in one kernel: a thread block
// keeps the channels of a tile of points in its shared memory from the first layer to the last, and
// reads and writes the arrays of tensors once. The sum of an output begins with the bias and goes
// over the inputs in order, so the results at a point do not depend on the other points.
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
  double parameter;

  static bool has(Pointwise kind) {
    switch (kind) {
    case Pointwise::Relu:
    case Pointwise::Tanh:
    case Pointwise::Sigmoid:
    case Pointwise::LeakyRelu:
    case Pointwise::Elu:
    case Pointwise::Gelu:
    case Pointwise::GeluTanh:
    case Pointwise::Silu:
    case Pointwise::Softplus:
      return true;
    default:
      return false;
    }
  }
  template <class T>
  TENON_DEVICE T value(T x) const {
    using namespace pointwise;
    switch (kind) {
    case Pointwise::Relu:
      return Relu::value(x);
    case Pointwise::Tanh:
      return Tanh::value(x);
    case Pointwise::Sigmoid:
      return Sigmoid::value(x);
    case Pointwise::LeakyRelu:
      return LeakyRelu{parameter}.value(x);
    case Pointwise::Elu:
      return Elu{parameter}.value(x);
    case Pointwise::Gelu:
      return Gelu::value(x);
    case Pointwise::GeluTanh:
      return GeluTanh::value(x);
    case Pointwise::Silu:
      return Silu::value(x);
    default:
      return Softplus::value(x);
    }
  }
};

// The functor for eachThreadBlock(). The tiles b, b + blocks, ... belong to thread block b, which
// takes the phases of a tile one after the other: the offsets of its points, the load of their
// channels, the layers, and the store.
template <class T>
struct ColumnMlpTiles {
  static constexpr int kMaxLayers = 8;
  static constexpr Index kMaxWidth = 128;
  // A thread computes kOutputs outputs of kPoints points: each number that it loads enters four
  // products.
  static constexpr unsigned kOutputs = 4, kPoints = 4;
  static constexpr unsigned kMinTile = 16, kMaxTile = 128;     // points
  static constexpr unsigned kNumbers = (1U << 14) / sizeof(T); // of a level: 16 KiB

  struct Shared {
    T levels[2][kNumbers];              // [channel, point] before and after a layer, alternately
    Index from[kMaxTile], to[kMaxTile]; // offsets of the points in x and y
  };
  struct Layer {
    const T *weights, *biases; // biases can be null
    std::uint32_t in, out;
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
  ElementOffsets<2> points; // the offset of a point in x and y
  Index tiles;
  std::uint32_t tile; // points of a tile, a power of two
  Side ofX, ofY;
  const T* x;
  T* y;

  TENON_DEVICE int phases() const { return rounds * phasesOfTile(); }
  TENON_DEVICE void operator()(int phase, const GridThread& p, Shared& shared) const {
    const Index number = p.block + Index(phase / phasesOfTile()) * p.blocks;
    if (number >= tiles)
      return;
    const Index first = number * tile, left = points.count() - first;
    const auto valid = static_cast<std::uint32_t>(left < tile ? left : tile);
    const int step = phase % phasesOfTile(), layer = step - 2;
    if (step == 0)
      findOffsets(p, first, valid, shared);
    else if (step == 1)
      load(p, valid, shared);
    else if (layer < count)
      apply(p, layer, shared.levels[layer % 2], shared.levels[1 - layer % 2]);
    else
      store(p, valid, shared);
  }

private:
  TENON_DEVICE int phasesOfTile() const { return count + 3; }

  TENON_DEVICE void findOffsets(const GridThread& p, Index first, std::uint32_t valid,
                                Shared& shared) const {
    for (std::uint32_t i = p.thread; i < valid; i += p.threads) {
      const auto offsets = points(first + i);
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
  // Points beyond the last one are copies of it, which raise no other floating-point exceptions.
  TENON_DEVICE void load(const GridThread& p, std::uint32_t valid, Shared& shared) const {
    eachOfTile(p, ofX, layers[0].in, [&](std::uint32_t channel, std::uint32_t point) {
      shared.levels[0][channel * tile + point] =
          x[shared.from[point < valid ? point : valid - 1] + channel * ofX.channel];
    });
  }
  TENON_DEVICE void store(const GridThread& p, std::uint32_t valid, Shared& shared) const {
    const T* const last = shared.levels[count % 2];
    eachOfTile(p, ofY, layers[count - 1].out, [&](std::uint32_t channel, std::uint32_t point) {
      if (point < valid)
        y[shared.to[point] + channel * ofY.channel] = last[channel * tile + point];
    });
  }

  TENON_DEVICE void apply(const GridThread& p, int number, const T* from, T* to) const {
    const Layer& layer = layers[number];
    const std::uint32_t groups = tile / kPoints,
                        items = (layer.out + kOutputs - 1) / kOutputs * groups;
    TENON_KEEP_LOOP
    for (std::uint32_t item = p.thread; item < items; item += p.threads) {
      const std::uint32_t output = item / groups * kOutputs, point = item % groups;
      sum(layer, output, from + point, to + point, groups);
      // The loop is not unrolled, and so has the functions once.
      TENON_KEEP_LOOP
      for (std::uint32_t k = 0; number + 1 < count && k < kOutputs * kPoints; ++k)
        if (const std::uint32_t row = output + k / kPoints; row < layer.out) {
          T& value = to[row * tile + point + k % kPoints * groups];
          value = activation.value(value);
        }
    }
  }
  // Outputs from `output` on, of points that are `apart` elements apart.
  TENON_DEVICE void sum(const Layer& layer, std::uint32_t output, const T* from, T* to,
                        std::uint32_t apart) const {
    const T* rows[kOutputs];
    T sums[kOutputs][kPoints];
    TENON_UNROLL
    for (unsigned r = 0; r < kOutputs; ++r) {
      // Rows beyond the last one are the last one, and not stored.
      const std::uint32_t row = output + r < layer.out ? output + r : layer.out - 1;
      rows[r] = layer.weights + Index(row) * layer.in;
      const T bias = layer.biases ? layer.biases[row] : T(0);
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        sums[r][k] = bias;
    }
    TENON_KEEP_LOOP
    for (std::uint32_t i = 0; i < layer.in; ++i, from += tile) {
      T h[kPoints];
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        h[k] = from[k * apart];
      TENON_UNROLL
      for (unsigned r = 0; r < kOutputs; ++r) {
        const T weight = rows[r][i];
        TENON_UNROLL
        for (unsigned k = 0; k < kPoints; ++k)
          sums[r][k] += weight * h[k];
      }
    }
    TENON_UNROLL
    for (unsigned r = 0; r < kOutputs; ++r) {
      TENON_UNROLL
      for (unsigned k = 0; k < kPoints; ++k)
        if (output + r < layer.out)
          to[(output + r) * tile + k * apart] = sums[r][k];
    }
  }
};

} // namespace tenon::functors
