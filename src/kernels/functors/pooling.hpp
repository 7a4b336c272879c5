// SPDX-License-Identifier: BSD-2-Clause
// Functors (structs with the arrays of a kernel, applied to one element) of pooling on the device:
// maximum and mean over windows, with adjoint and tangent. The forward functor computes one output
// from the inputs of its window. The adjoint functor computes one input's cotangent (gradient) from
// the outputs whose windows contain the input (a gather), so no two threads add to one element. The
// winner of a window is the input that has its maximum; the forward pass saves it for the
// derivatives.
#pragma once

#include "kernels/base/maximum.hpp"
#include "kernels/convolution/window.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/device_code.hpp"

namespace tenon::functors {

using PoolingWinner = std::int32_t; // index of the input within its plane

// The window in a plane [dimension 0, 1, 2], as in convolution/window.hpp: tap t of output o reads
// input o stride - padLow + t dilation. Indices have 32 bits: the numbers of inputs and of outputs,
// and inputs plus padding along each dimension, are less than 2^31.
struct PoolingPlanes {
  using Number = std::int32_t;

  Number in[kMaxSpatial], out[kMaxSpatial], kernel[kMaxSpatial], stride[kMaxSpatial];
  Number dilation[kMaxSpatial], padLow[kMaxSpatial], padEnd[kMaxSpatial];
  Divisor perIn[kMaxSpatial], perOut[kMaxSpatial], perStride[kMaxSpatial], perDilation[kMaxSpatial];
  Number inVolume, outVolume;

  struct Taps {
    Number begin, end;
  };
  // a / divisor, rounded up and limited to [0, maximum].
  TENON_DEVICE static Number ceilOf(Number a, Number divisor, const Divisor& by, Number maximum) {
    if (a <= 0)
      return 0;
    auto quotient = std::uint32_t(a) + std::uint32_t(divisor - 1);
    by.divide(quotient);
    return quotient < std::uint32_t(maximum) ? Number(quotient) : maximum;
  }
  // The input position that tap 0 of output o reads.
  TENON_DEVICE Number firstOf(int d, Number o) const { return o * stride[d] - padLow[d]; }
  // Number of taps that are less than `distance` from tap 0.
  TENON_DEVICE Number tapsBefore(int d, Number distance) const {
    return ceilOf(distance, dilation[d], perDilation[d], kernel[d]);
  }
  // As tapsInside() and tapsBeforeEnd() in convolution/window.hpp.
  TENON_DEVICE Taps tapsOf(int d, Number o) const {
    const Number first = firstOf(d, o);
    return {tapsBefore(d, -first), tapsBefore(d, in[d] - first)};
  }
  TENON_DEVICE Number countedTaps(int d, Number o, bool includesPad) const {
    if (includesPad)
      return tapsBefore(d, padEnd[d] - firstOf(d, o));
    const Taps taps = tapsOf(d, o);
    return taps.end - taps.begin;
  }
  // The outputs whose window spans input i.
  TENON_DEVICE Taps outputsOver(int d, Number i) const {
    const Number padded = i + padLow[d], last = (kernel[d] - 1) * dilation[d];
    return {ceilOf(padded - last, stride[d], perStride[d], out[d]),
            ceilOf(padded + 1, stride[d], perStride[d], out[d])};
  }
  // Whether such an output has a tap at input i; with dilation the input can be between two taps.
  TENON_DEVICE bool reads(int d, Number o, Number i) const {
    auto distance = std::uint32_t(i - firstOf(d, o));
    return perDilation[d].divide(distance) == 0;
  }
  // The index of an input or output in its plane, and the plane.
  struct Position {
    Number index[kMaxSpatial], plane;
  };
  TENON_DEVICE static Position split(Index element, const Divisor (&per)[kMaxSpatial]) {
    Position p{};
    auto rest = static_cast<std::uint32_t>(element);
    for (int d = kMaxSpatial - 1; d >= 0; --d)
      p.index[d] = Number(per[d].divide(rest));
    p.plane = Number(rest);
    return p;
  }
  TENON_DEVICE Position output(Index element) const { return split(element, perOut); }
  TENON_DEVICE Position input(Index element) const { return split(element, perIn); }

  // Calls visit(index of the input in its plane) for the inputs of a window, row-major.
  template <class Visit>
  TENON_DEVICE void forEachInput(const Position& o, const Visit& visit) const {
    const Taps t0 = tapsOf(0, o.index[0]), t1 = tapsOf(1, o.index[1]), t2 = tapsOf(2, o.index[2]);
    for (Number a = t0.begin; a < t0.end; ++a) {
      const Number i0 = firstOf(0, o.index[0]) + a * dilation[0];
      for (Number b = t1.begin; b < t1.end; ++b) {
        const Number i1 = firstOf(1, o.index[1]) + b * dilation[1];
        const Number row = (i0 * in[1] + i1) * in[2] + firstOf(2, o.index[2]);
        for (Number c = t2.begin; c < t2.end; ++c)
          visit(row + c * dilation[2]);
      }
    }
  }
  // Calls visit(position of the output) for each output that reads this input, row-major.
  template <class Visit>
  TENON_DEVICE void forEachReader(const Position& i, const Visit& visit) const {
    const Taps r0 = outputsOver(0, i.index[0]), r1 = outputsOver(1, i.index[1]);
    const Taps r2 = outputsOver(2, i.index[2]);
    for (Number a = r0.begin; a < r0.end; ++a) {
      if (!reads(0, a, i.index[0]))
        continue;
      for (Number b = r1.begin; b < r1.end; ++b) {
        if (!reads(1, b, i.index[1]))
          continue;
        for (Number c = r2.begin; c < r2.end; ++c)
          if (reads(2, c, i.index[2]))
            visit(Position{{a, b, c}, i.plane});
      }
    }
  }
  TENON_DEVICE Number outputIndex(const Position& o) const {
    return o.plane * outVolume + (o.index[0] * out[1] + o.index[1]) * out[2] + o.index[2];
  }
  // Number of elements of a mean.
  TENON_DEVICE Index counted(const Position& o, bool includesPad) const {
    return Index(countedTaps(0, o.index[0], includesPad)) *
           countedTaps(1, o.index[1], includesPad) * countedTaps(2, o.index[2], includesPad);
  }
};

// y = mean of x over the window of each output.
template <class T>
struct AveragePool {
  PoolingPlanes planes;
  bool includesPad;
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index element) const {
    const auto o = planes.output(element);
    const T* plane = x + o.plane * planes.inVolume;
    T sum = 0;
    planes.forEachInput(o, [&](PoolingWinner i) { sum += plane[i]; });
    y[element] = sum / T(planes.counted(o, includesPad));
  }
};

// dx = sum over the windows that read an input of dy divided by their number of elements.
template <class T>
struct AveragePoolAdjoint {
  PoolingPlanes planes;
  bool includesPad;
  const T* dy;
  T* dx;
  TENON_DEVICE void operator()(Index element) const {
    T sum = 0;
    planes.forEachReader(planes.input(element), [&](const PoolingPlanes::Position& o) {
      sum += dy[planes.outputIndex(o)] / T(planes.counted(o, includesPad));
    });
    dx[element] = sum;
  }
};

// The first of the largest inputs; winners can be null.
template <class T>
struct MaxPool {
  PoolingPlanes planes;
  const T* x;
  T* y;
  PoolingWinner* winners;
  TENON_DEVICE void operator()(Index element) const {
    const auto o = planes.output(element);
    const T* plane = x + o.plane * planes.inVolume;
    PoolingWinner winner = -1;
    T greatest = 0;
    planes.forEachInput(o, [&](PoolingWinner i) {
      const T value = plane[i];
      if (winner < 0 || beats(value, greatest)) {
        winner = i;
        greatest = value;
      }
    });
    y[element] = greatest;
    if (winners)
      winners[element] = winner;
  }
};

// dy = dx at the winner of each output.
template <class T>
struct MaxPoolTangent {
  PoolingPlanes planes;
  const T* dx;
  const PoolingWinner* winners;
  T* dy;
  TENON_DEVICE void operator()(Index element) const {
    dy[element] = dx[planes.output(element).plane * planes.inVolume + winners[element]];
  }
};

// One thread per tile of inputs that the same windows read. Each input sums dy over the windows in
// which it is the maximum, row-major.
template <class T>
struct MaxPoolAdjoint {
  using Number = PoolingPlanes::Number;
  PoolingPlanes planes;
  Number tile[kMaxSpatial],
      shift[kMaxSpatial];       // the first tile begins `shift` before the first input
  Divisor perTile[kMaxSpatial]; // number of tiles along each dimension
  Index isOne; // 1 if the inputs of a tile are read only by the window at tile + ahead
  // The number of a tile's window, less that of the tile (tilesOf() in pooling/pooling.cpp).
  Number ahead[kMaxSpatial];
  const T* dy;
  const PoolingWinner* winners;
  T* dx;
  TENON_DEVICE void operator()(Index number) const {
    const auto t = PoolingPlanes::split(number, perTile);
    PoolingPlanes::Taps inputs[kMaxSpatial];
    for (int d = 0; d < kMaxSpatial; ++d) {
      const Number begin = t.index[d] * tile[d] - shift[d], rest = planes.in[d] - begin;
      inputs[d] = {begin > 0 ? begin : 0, rest < tile[d] ? planes.in[d] : begin + tile[d]};
    }
    T* const plane = dx + Index(t.plane) * planes.inVolume;
    if (isOne == 1) {
      const PoolingPlanes::Position o{
          {t.index[0] + ahead[0], t.index[1] + ahead[1], t.index[2] + ahead[2]}, t.plane};
      bool exists = true;
      for (int d = 0; d < kMaxSpatial; ++d)
        exists &= std::uint32_t(o.index[d]) < std::uint32_t(planes.out[d]);
      const Number output = planes.outputIndex(o);
      const PoolingWinner winner = exists ? winners[output] : -1;
      const T value = exists ? T(0) + dy[output] : T(0); // T(0) + turns -0 into +0, as a sum does
      forEach(inputs, [=](PoolingWinner i) { plane[i] = i == winner ? value : T(0); });
    } else {
      PoolingPlanes::Taps windows[kMaxSpatial];
      for (int d = 0; d < kMaxSpatial; ++d)
        windows[d] = {planes.outputsOver(d, inputs[d].begin).begin,
                      planes.outputsOver(d, inputs[d].end - 1).end};
      const Number first =
          planes.outputIndex({{windows[0].begin, windows[1].begin, windows[2].begin}, t.plane});
      forEach(inputs, [&](PoolingWinner i) { plane[i] = wonBy(i, first, windows); });
    }
  }

private:
  // Calls visit(index in the plane) for the inputs of a tile.
  template <class Visit>
  TENON_DEVICE void forEach(const PoolingPlanes::Taps (&inputs)[kMaxSpatial],
                            const Visit& visit) const {
    for (Number a = inputs[0].begin; a < inputs[0].end; ++a)
      for (Number b = inputs[1].begin; b < inputs[1].end; ++b) {
        const Number row = (a * planes.in[1] + b) * planes.in[2];
        TENON_KEEP_LOOP
        for (Number i = row + inputs[2].begin; i < row + inputs[2].end; ++i)
          visit(i);
      }
  }
  // The sum of dy over the windows whose winner is input i. `first` is the index of the first one's
  // output.
  TENON_DEVICE T wonBy(PoolingWinner i, Number first,
                       const PoolingPlanes::Taps (&windows)[kMaxSpatial]) const {
    const Number length = windows[2].end - windows[2].begin;
    T sum = 0;
    for (Number a = windows[0].begin; a < windows[0].end; ++a)
      for (Number b = windows[1].begin; b < windows[1].end; ++b) {
        const Number row =
            first + ((a - windows[0].begin) * planes.out[1] + b - windows[1].begin) * planes.out[2];
        TENON_KEEP_LOOP
        for (Number output = row; output < row + length; ++output)
          if (winners[output] == i)
            sum += dy[output];
      }
    return sum;
  }
};

} // namespace tenon::functors
