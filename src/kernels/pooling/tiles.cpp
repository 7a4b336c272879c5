// SPDX-License-Identifier: BSD-2-Clause
// Maximum pooling for windows that tile the input: stride equal to the kernel, no padding, no
// dilation, as the usual 2x2 pooling. Each input belongs to at most one window, so it is enough to
// save the number of the winning tap (the position of the maximum within the window). The adjoint
// then writes each element of dx once, dy or 0, instead of clearing dx and scattering dy. One pass
// over a row of outputs processes all taps of one input row; its loops have no branches. The
// functions are declared in backends.hpp.
#include "kernels/base/instruction_set.hpp"
#include "kernels/base/maximum.hpp"
#include "kernels/pooling/backends.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace tenon {

namespace {

using Tap = std::int32_t; // number of a tap within its window, row-major

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// b if `chosen`, else a; by masks, since a data-dependent branch is hard to predict.
template <class T>
inline T choose(bool chosen, T a, T b) {
  const auto from = std::bit_cast<Bits<T>>(a), to = std::bit_cast<Bits<T>>(b);
  const Bits<T> mask = Bits<T>(0) - Bits<T>(chosen);
  return std::bit_cast<T>(Bits<T>(from ^ ((from ^ to) & mask)));
}

// Combines one more tap into an output: `best` is the maximum so far and `winner` its tap.
template <class T>
inline void take(T value, Tap tap, T& best, Tap& winner) {
  const bool wins = beats(value, best);
  best = choose(wins, best, value);
  winner = choose(wins, winner, tap);
}

// Combines the taps firstTap, firstTap + 1, ... of one input row (kTaps) into a row of outputs,
// which is initialised if kBegins.
template <bool kBegins, class Count, class T, int... kTaps>
void combineRow(std::integer_sequence<int, kTaps...>, Count outputs, const T* __restrict x,
                Tap firstTap, T* __restrict y, Tap* __restrict taps) {
  constexpr Index kWidth = sizeof...(kTaps);
  const Index end = outputs;
  for (Index o = 0; o < end; ++o) {
    T best = kBegins ? x[o * kWidth] : y[o];
    Tap winner = kBegins ? firstTap : taps[o];
    (take(x[o * kWidth + kTaps], firstTap + kTaps, best, winner), ...);
    y[o] = best;
    taps[o] = winner;
  }
}

// The adjoint of combineRow(): each element of an input row receives the cotangent of its window if
// its tap is the winner, and 0 otherwise.
template <class Count, class T, int... kTaps>
void spreadRow(std::integer_sequence<int, kTaps...>, Count outputs, const T* __restrict dy,
               const Tap* __restrict taps, Tap firstTap, T* __restrict dx) {
  constexpr Index kWidth = sizeof...(kTaps);
  const Index end = outputs;
  for (Index o = 0; o < end; ++o) {
    const T cotangent = dy[o];
    const Tap winner = taps[o];
    ((dx[o * kWidth + kTaps] = choose(winner == firstTap + kTaps, T(0), cotangent)), ...);
  }
}

// Taps of a row of a window: the loops are compiled for each number of them. Wider kernels use
// loops.cpp.
constexpr Index kMaxTaps = 4;

// Calls visit with the taps of a row as a compile-time sequence.
template <class Visit>
void withTaps(Index width, Visit visit) {
  if (width == 1)
    visit(std::make_integer_sequence<int, 1>());
  else if (width == 2)
    visit(std::make_integer_sequence<int, 2>());
  else if (width == 3)
    visit(std::make_integer_sequence<int, 3>());
  else
    visit(std::make_integer_sequence<int, kMaxTaps>());
}

// The windows of all planes.
struct Tiles {
  Index planes;
  WindowShape window;
  Index inVolume, outVolume;
  // Rows are short and cover the input without gaps, so they can be computed in whole vectors.
  bool overrun;
};

// Number of outputs per vector. If `overrun` is set, a row is computed in whole vectors: the excess
// of its last vector is written to the beginning of the next row, whose own computation overwrites
// it later. This saves a remainder loop in each row.
constexpr Index kLanes = 8;

Index wholeVectors(Index outputs) {
  return (outputs + kLanes - 1) / kLanes * kLanes;
}

// A number of outputs that the compiler knows to be a multiple of kLanes, but whose value it does
// not know: GCC 14 unrolls a loop of constant length to scalars before it would vectorise it.
struct WholeVectors {
  Index outputs;
  operator Index() const { return outputs / kLanes * kLanes; }
};

// Calls visit(offset of the first window's first element, index of the first output) for these rows
// of outputs, numbered over all planes.
template <class Visit>
void forEachRow(const Tiles& tiles, Range rows, Visit visit) {
  const WindowShape& w = tiles.window;
  if (tiles.overrun) { // then rows follow each other without gaps
    const Index step = w.kernel[1] * w.in[2], outputs = w.out[2];
    for (Index r = rows.begin; r < rows.end; ++r)
      visit(r * step, r * outputs);
    return;
  }
  Index o1 = rows.begin % w.out[1], o0 = rows.begin / w.out[1] % w.out[0];
  Index plane = rows.begin / w.out[1] / w.out[0];
  for (Index r = rows.begin; r < rows.end; ++r) {
    visit(plane * tiles.inVolume + (o0 * w.kernel[0] * w.in[1] + o1 * w.kernel[1]) * w.in[2],
          r * w.out[2]);
    if (++o1 < w.out[1])
      continue;
    o1 = 0;
    if (++o0 < w.out[0])
      continue;
    o0 = 0;
    ++plane;
  }
}

// Calls visit(count) with the number of outputs to compute for a row. The last row of a thread must
// not exceed its end, since the next row belongs to another thread.
template <class Visit>
void withCount(const Tiles& tiles, Range rows, Index output, Visit visit) {
  const Index outputs = tiles.window.out[2], whole = wholeVectors(outputs);
  if (tiles.overrun && output + whole <= rows.end * outputs)
    visit(WholeVectors{whole});
  else
    visit(outputs);
}

// Calls visit(offset of the input row, number of its first tap) for the input rows of a window, in
// order.
template <class Visit>
void forEachInputRow(const WindowShape& w, Visit visit) {
  Tap first = 0;
  for (Index t0 = 0; t0 < w.kernel[0]; ++t0)
    for (Index t1 = 0; t1 < w.kernel[1]; ++t1, first += Tap(w.kernel[2]))
      visit((t0 * w.in[1] + t1) * w.in[2], first);
}

// The maxima of one row of outputs, whose first window begins at x.
template <class Sequence, class Count, class T>
void poolRow(Sequence sequence, Count outputs, const WindowShape& w, const T* x, T* y, Tap* taps) {
  // The first input row is outside the loop; inside it the compiler would compute both variants and
  // blend them.
  combineRow<true>(sequence, outputs, x, 0, y, taps);
  forEachInputRow(w, [&](Index row, Tap first) {
    if (first != 0)
      combineRow<false>(sequence, outputs, x + row, first, y, taps);
  });
}

// The forward pass for some rows of outputs. The winning taps are stored in savedTaps, or, if that
// is null, in a row of scratch.
template <class T>
void poolRows(const Tiles& tiles, Range rows, const T* x, T* y, Tap* savedTaps, Tap* rowTaps) {
  const WindowShape& w = tiles.window;
  withTaps(w.kernel[2], [&](auto sequence) {
    forEachRow(tiles, rows, [&](Index input, Index output) {
      withCount(tiles, rows, output, [&](auto count) {
        poolRow(sequence, count, w, x + input, y + output,
                savedTaps ? savedTaps + output : rowTaps);
      });
    });
  });
}

// The adjoint for some rows of outputs.
template <class T>
void spreadRows(const Tiles& tiles, Range rows, const T* dy, const Tap* taps, T* dx) {
  const WindowShape& w = tiles.window;
  withTaps(w.kernel[2], [&](auto sequence) {
    forEachRow(tiles, rows, [&](Index input, Index output) {
      forEachInputRow(w, [&](Index row, Tap first) {
        withCount(tiles, rows, output, [&](auto count) {
          spreadRow(sequence, count, dy + output, taps + output, first, dx + input + row);
        });
      });
    });
  });
}

template <class T>
class TilePooling final : public Pooling<T> {
public:
  TilePooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), tiles_{shape.planes, embedWindow(shape.window), 0, 0, false} {
    const WindowShape& w = tiles_.window;
    tiles_.inVolume = inputVolume(w);
    tiles_.outVolume = outputVolume(w);
    // In longer rows the remainder is a small share. With kernel[0] = 1 the rows of all planes are
    // at equal distances.
    tiles_.overrun = w.kernel[0] == 1 && w.out[2] < 2 * kLanes && coversInput();
    ScratchPlan plan;
    tapsAt_ = plan.addForThreads<Tap>(context_->threads(), wholeVectors(w.out[2]));
    context_->reserve(plan);
  }

  Index workspaceBytes() const override {
    return tiles_.planes * tiles_.outVolume * Index(sizeof(Tap));
  }

  void forward(const T* x, T* y, void* workspace) override {
    auto* savedTaps = static_cast<Tap*>(workspace);
    splitRows([=, this](int thread, Index begin, Index end) {
      Tap* row = context_->scratch<Tap>(tapsAt_, thread);
      vectorised<InstructionSet::Avx2>([=, this] {
        poolRows(tiles_, {begin, end}, x, y, savedTaps, row);
      });
    });
  }

  void adjoint(const T* dy, const void* workspace, T* dx) override {
    if (!coversInput())
      parallelFill(context_->threads(), tiles_.planes * tiles_.inVolume, T(0), dx);
    const auto* taps = static_cast<const Tap*>(workspace);
    splitRows([=, this](int, Index begin, Index end) {
      vectorised<InstructionSet::Avx2>([=, this] {
        spreadRows(tiles_, {begin, end}, dy, taps, dx);
      });
    });
  }

  void tangent(const T* dx, const void* workspace, T* dy) override {
    const auto* taps = static_cast<const Tap*>(workspace);
    splitRows([=, this](int, Index begin, Index end) {
      const WindowShape& w = tiles_.window;
      forEachRow(tiles_, {begin, end}, [&](Index input, Index output) {
        for (Index o = 0; o < w.out[2]; ++o)
          dy[output + o] = dx[input + o * w.kernel[2] + offsetOf(taps[output + o])];
      });
    });
  }

  Backend backend() const override { return Backend::Blas; }

private:
  template <class Body>
  void splitRows(const Body& body) const {
    const WindowShape& w = tiles_.window;
    parallelPieces(context_->threads(tapsAt_), tiles_.planes * w.out[0] * w.out[1],
                   w.out[2] * kernelVolume(w), body);
  }

  // Offset of a tap from the first element of its window.
  Index offsetOf(Tap tap) const {
    const WindowShape& w = tiles_.window;
    const Index row = tap / w.kernel[2];
    return (row / w.kernel[1] * w.in[1] + row % w.kernel[1]) * w.in[2] + tap % w.kernel[2];
  }

  bool coversInput() const {
    const WindowShape& w = tiles_.window;
    for (int d = 0; d < kMaxSpatial; ++d)
      if (w.in[d] != w.out[d] * w.kernel[d])
        return false;
    return true;
  }

  KernelContextPtr context_;
  Tiles tiles_;
  ThreadScratch tapsAt_; // winning taps of a row, per thread
};

} // namespace

bool isTiled(const PoolingShape& shape) {
  const WindowShape w = embedWindow(shape.window);
  if (shape.mode != PoolingMode::Max || w.kernel[2] > kMaxTaps)
    return false;
  for (int d = 0; d < kMaxSpatial; ++d)
    if (w.stride[d] != w.kernel[d] || w.padLow[d] != 0 || (w.dilation[d] != 1 && w.kernel[d] > 1) ||
        w.out[d] * w.kernel[d] > w.in[d])
      return false;
  return true;
}

template <class T>
std::unique_ptr<Pooling<T>> makeTilePooling(const PoolingShape& shape, KernelContextPtr context) {
  return std::make_unique<TilePooling<T>>(shape, std::move(context));
}

template std::unique_ptr<Pooling<float>> makeTilePooling<float>(const PoolingShape&,
                                                                KernelContextPtr);
template std::unique_ptr<Pooling<double>> makeTilePooling<double>(const PoolingShape&,
                                                                  KernelContextPtr);

} // namespace tenon
