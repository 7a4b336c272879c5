// SPDX-License-Identifier: BSD-2-Clause
// Pooling by element: of the outputs forward, of the inputs in the adjoint, where each gathers from the
// windows that read it, so that no two threads write one element.
#pragma once

#include "kernels/divisor.hpp"
#include "kernels/maximum.hpp"
#include "kernels/window.hpp"
#include "sys/device_code.hpp"

namespace tenon::functors {

using PoolingWinner = std::int32_t; // index in the plane

// Planes of an embedded window; fewer than 2^31 cells together.
struct PoolingPlanes {
  Index in[kMaxSpatial], out[kMaxSpatial], kernel[kMaxSpatial], stride[kMaxSpatial];
  Index dilation[kMaxSpatial], padLow[kMaxSpatial], padEnd[kMaxSpatial];
  Divisor inCells[kMaxSpatial], outCells[kMaxSpatial];
  Index inVolume, outVolume;

  struct Taps {
    Index begin, end;
  };
  TENON_DEVICE static Index ceilOf(Index a, Index b) { return a / b + (a % b > 0 ? 1 : 0); }
  TENON_DEVICE static Index clamp(Index i, Index least, Index most) {
    return i < least ? least : i > most ? most : i;
  }
  // As tapsInside and tapsBeforeEnd of window.hpp.
  TENON_DEVICE Taps tapsOf(int d, Index o) const {
    const Index first = o * stride[d] - padLow[d];
    return {clamp(ceilOf(-first, dilation[d]), 0, kernel[d]),
            clamp(ceilOf(in[d] - first, dilation[d]), 0, kernel[d])};
  }
  TENON_DEVICE Index countedTaps(int d, Index o, bool includesPad) const {
    if (includesPad)
      return clamp(ceilOf(padEnd[d] - (o * stride[d] - padLow[d]), dilation[d]), 0, kernel[d]);
    const Taps taps = tapsOf(d, o);
    return taps.end - taps.begin;
  }
  // The tap by which output o reads input i along d, -1 if none does.
  TENON_DEVICE Index tapOf(int d, Index o, Index i) const {
    const Index distance = i + padLow[d] - o * stride[d];
    return distance >= 0 && distance % dilation[d] == 0 && distance / dilation[d] < kernel[d]
               ? distance / dilation[d]
               : -1;
  }
  // The outputs whose windows reach over input i.
  TENON_DEVICE Taps outputsOver(int d, Index i) const {
    const Index last = (kernel[d] - 1) * dilation[d];
    return {clamp(ceilOf(i + padLow[d] - last, stride[d]), 0, out[d]),
            clamp(ceilOf(i + padLow[d] + 1, stride[d]), 0, out[d])};
  }
  struct Position {
    Index at[kMaxSpatial], plane;
  };
  TENON_DEVICE static Position split(Index cell, const Divisor (&cells)[kMaxSpatial]) {
    Position p{};
    auto rest = static_cast<std::uint32_t>(cell);
    for (int d = kMaxSpatial - 1; d >= 0; --d)
      p.at[d] = cells[d].divide(rest);
    p.plane = rest;
    return p;
  }
  TENON_DEVICE Position output(Index cell) const { return split(cell, outCells); }
  TENON_DEVICE Position input(Index cell) const { return split(cell, inCells); }

  // visit(input in the plane) for the inputs of a window, row-major.
  template <class Visit>
  TENON_DEVICE void forEachInput(const Position& o, const Visit& visit) const {
    const Taps t0 = tapsOf(0, o.at[0]), t1 = tapsOf(1, o.at[1]), t2 = tapsOf(2, o.at[2]);
    for (Index a = t0.begin; a < t0.end; ++a)
      for (Index b = t1.begin; b < t1.end; ++b)
        for (Index c = t2.begin; c < t2.end; ++c)
          visit(((o.at[0] * stride[0] - padLow[0] + a * dilation[0]) * in[1] + o.at[1] * stride[1] -
                 padLow[1] + b * dilation[1]) *
                    in[2] +
                o.at[2] * stride[2] - padLow[2] + c * dilation[2]);
  }
  // visit(position of an output that reads this input), row-major.
  template <class Visit>
  TENON_DEVICE void forEachReader(const Position& i, const Visit& visit) const {
    const Taps r0 = outputsOver(0, i.at[0]), r1 = outputsOver(1, i.at[1]);
    const Taps r2 = outputsOver(2, i.at[2]);
    for (Index a = r0.begin; a < r0.end; ++a)
      for (Index b = r1.begin; b < r1.end; ++b)
        for (Index c = r2.begin; c < r2.end; ++c)
          if (tapOf(0, a, i.at[0]) >= 0 && tapOf(1, b, i.at[1]) >= 0 && tapOf(2, c, i.at[2]) >= 0)
            visit(Position{{a, b, c}, i.plane});
  }
  TENON_DEVICE Index outputIndex(const Position& o) const {
    return o.plane * outVolume + (o.at[0] * out[1] + o.at[1]) * out[2] + o.at[2];
  }
  TENON_DEVICE Index counted(const Position& o, bool includesPad) const {
    return countedTaps(0, o.at[0], includesPad) * countedTaps(1, o.at[1], includesPad) *
           countedTaps(2, o.at[2], includesPad);
  }
};

template <class T>
struct AveragePool {
  PoolingPlanes planes;
  bool includesPad;
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index cell) const {
    const auto o = planes.output(cell);
    const T* plane = x + o.plane * planes.inVolume;
    T sum = 0;
    planes.forEachInput(o, [&](Index i) { sum += plane[i]; });
    y[cell] = sum / T(planes.counted(o, includesPad));
  }
};

template <class T>
struct AveragePoolAdjoint {
  PoolingPlanes planes;
  bool includesPad;
  const T* dy;
  T* dx;
  TENON_DEVICE void operator()(Index cell) const {
    T sum = 0;
    planes.forEachReader(planes.input(cell), [&](const PoolingPlanes::Position& o) {
      sum += dy[planes.outputIndex(o)] / T(planes.counted(o, includesPad));
    });
    dx[cell] = sum;
  }
};

// The first of the greatest; winners may be null.
template <class T>
struct MaxPool {
  PoolingPlanes planes;
  const T* x;
  T* y;
  PoolingWinner* winners;
  TENON_DEVICE void operator()(Index cell) const {
    const auto o = planes.output(cell);
    const T* plane = x + o.plane * planes.inVolume;
    Index winner = -1;
    planes.forEachInput(o, [&](Index i) {
      if (winner < 0 || beats(plane[i], plane[winner]))
        winner = i;
    });
    y[cell] = plane[winner];
    if (winners)
      winners[cell] = PoolingWinner(winner);
  }
};

template <class T>
struct MaxPoolTangent {
  PoolingPlanes planes;
  const T* dx;
  const PoolingWinner* winners;
  T* dy;
  TENON_DEVICE void operator()(Index cell) const {
    dy[cell] = dx[planes.output(cell).plane * planes.inVolume + winners[cell]];
  }
};

template <class T>
struct MaxPoolAdjoint {
  PoolingPlanes planes;
  const T* dy;
  const PoolingWinner* winners;
  T* dx;
  TENON_DEVICE void operator()(Index cell) const {
    const auto i = planes.input(cell);
    const auto inPlane = PoolingWinner(cell - i.plane * planes.inVolume);
    T sum = 0;
    planes.forEachReader(i, [&](const PoolingPlanes::Position& o) {
      const Index at = planes.outputIndex(o);
      if (winners[at] == inPlane)
        sum += dy[at];
    });
    dx[cell] = sum;
  }
};

} // namespace tenon::functors
