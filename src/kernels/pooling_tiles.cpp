// SPDX-License-Identifier: BSD-2-Clause
// The maximum over windows that tile the input: as far apart as they are large, neither padded nor
// dilated. Every input cell then belongs to one window at most, so that the workspace is the number
// of the winning tap, and the adjoint writes each cell once instead of clearing and scattering.
// One pass over a row of outputs takes all taps of one input row; the loops are free of branches.
#include "kernels/maximum.hpp"
#include "kernels/pooling_backends.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace tenon {

namespace {

using Tap = std::int32_t;

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// b if `chosen`, else a: by masks, since a comparison of data is no branch to be foreseen.
template <class T>
inline T choose(bool chosen, T a, T b) {
  const auto from = std::bit_cast<Bits<T>>(a), to = std::bit_cast<Bits<T>>(b);
  const Bits<T> mask = Bits<T>(0) - Bits<T>(chosen);
  return std::bit_cast<T>(Bits<T>(from ^ ((from ^ to) & mask)));
}

// One tap more of an output.
template <class T>
inline void take(T value, Tap tap, T& best, Tap& winner) {
  const bool wins = beats(value, best);
  best = choose(wins, best, value);
  winner = choose(wins, winner, tap);
}

// The taps firstTap, firstTap + 1, ... of one input row, one for each of kTaps, combined into a row
// of outputs, which holds nothing yet if it begins.
template <bool kBegins, class T, int... kTaps>
void combineRow(std::integer_sequence<int, kTaps...>, Index outputs, const T* __restrict x,
                Tap firstTap, T* __restrict y, Tap* __restrict taps) {
  constexpr Index kWidth = sizeof...(kTaps);
  for (Index o = 0; o < outputs; ++o) {
    T best = kBegins ? x[o * kWidth] : y[o];
    Tap winner = kBegins ? firstTap : taps[o];
    (take(x[o * kWidth + kTaps], firstTap + kTaps, best, winner), ...);
    y[o] = best;
    taps[o] = winner;
  }
}

// The transpose: the row's cells get the cotangent where their tap has won.
template <class T, int... kTaps>
void spreadRow(std::integer_sequence<int, kTaps...>, Index outputs, const T* __restrict dy,
               const Tap* __restrict taps, Tap firstTap, T* __restrict dx) {
  constexpr Index kWidth = sizeof...(kTaps);
  for (Index o = 0; o < outputs; ++o) {
    const T cotangent = dy[o];
    const Tap winner = taps[o];
    ((dx[o * kWidth + kTaps] = choose(winner == firstTap + kTaps, T(0), cotangent)), ...);
  }
}

// Calls visit with the taps of a row as a constant sequence.
template <class Visit>
void withTaps(Index width, Visit visit) {
  if (width == 1)
    visit(std::make_integer_sequence<int, 1>());
  else if (width == 2)
    visit(std::make_integer_sequence<int, 2>());
  else if (width == 3)
    visit(std::make_integer_sequence<int, 3>());
  else
    visit(std::make_integer_sequence<int, 4>());
}
constexpr Index kMostTaps = 4;

template <class T>
class TilePooling final : public Pooling<T> {
public:
  TilePooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), planes_(shape.planes), window_(embedWindow(shape.window)),
        inVolume_(inputVolume(window_)), outVolume_(outputVolume(window_)) {
    ScratchPlan plan;
    tapsAt_ = plan.add<Tap>(window_.out[2]);
    maximaAt_ = plan.add<T>(window_.out[2]);
    context_->reserve(plan);
  }

  Index workspaceBytes() const override { return planes_ * outVolume_ * Index(sizeof(Tap)); }

  void forward(const T* x, T* y, void* workspace) override {
    auto* kept = static_cast<Tap*>(workspace);
    Tap* rowTaps = context_->scratch<Tap>(tapsAt_);
    withTaps(window_.kernel[2], [&](auto sequence) {
      forEachRow([&](Index input, Index output) {
        poolRow(sequence, x + input, y + output, kept ? kept + output : rowTaps);
      });
    });
  }

  void adjoint(const T* dy, const void* workspace, T* dx) override {
    const auto* taps = static_cast<const Tap*>(workspace);
    if (!coversInput())
      std::fill_n(dx, planes_ * inVolume_, T(0));
    withTaps(window_.kernel[2], [&](auto sequence) {
      forEachRow([&](Index input, Index output) {
        forEachInputRow([&](Index row, Tap first) {
          spreadRow(sequence, window_.out[2], dy + output, taps + output, first, dx + input + row);
        });
      });
    });
  }

  void tangent(const T* x, const T* dx, T* dy) override {
    Tap* taps = context_->scratch<Tap>(tapsAt_);
    T* maxima = context_->scratch<T>(maximaAt_);
    withTaps(window_.kernel[2], [&](auto sequence) {
      forEachRow([&](Index input, Index output) {
        poolRow(sequence, x + input, maxima, taps);
        for (Index o = 0; o < window_.out[2]; ++o)
          dy[output + o] = dx[input + o * window_.kernel[2] + offsetOf(taps[o])];
      });
    });
  }

  Backend backend() const override { return Backend::Blas; }

private:
  // visit(first cell of the windows, first output) for each row of outputs.
  template <class Visit>
  void forEachRow(Visit visit) const {
    const WindowShape& w = window_;
    Index output = 0;
    for (Index p = 0; p < planes_; ++p)
      for (Index o0 = 0; o0 < w.out[0]; ++o0)
        for (Index o1 = 0; o1 < w.out[1]; ++o1, output += w.out[2])
          visit(p * inVolume_ + (o0 * w.kernel[0] * w.in[1] + o1 * w.kernel[1]) * w.in[2], output);
  }

  // visit(offset of the input row, its first tap) for the rows of a window in order.
  template <class Visit>
  void forEachInputRow(Visit visit) const {
    Tap first = 0;
    for (Index t0 = 0; t0 < window_.kernel[0]; ++t0)
      for (Index t1 = 0; t1 < window_.kernel[1]; ++t1, first += Tap(window_.kernel[2]))
        visit((t0 * window_.in[1] + t1) * window_.in[2], first);
  }

  template <class Sequence>
  void poolRow(Sequence sequence, const T* x, T* y, Tap* taps) const {
    forEachInputRow([&](Index row, Tap first) {
      if (first == 0)
        combineRow<true>(sequence, window_.out[2], x + row, first, y, taps);
      else
        combineRow<false>(sequence, window_.out[2], x + row, first, y, taps);
    });
  }

  // Where a tap lies from the window's first cell.
  Index offsetOf(Tap tap) const {
    const Index row = tap / window_.kernel[2];
    return (row / window_.kernel[1] * window_.in[1] + row % window_.kernel[1]) * window_.in[2] +
           tap % window_.kernel[2];
  }

  bool coversInput() const {
    for (int d = 0; d < kMaxSpatial; ++d)
      if (window_.in[d] != window_.out[d] * window_.kernel[d])
        return false;
    return true;
  }

  KernelContextPtr context_;
  Index planes_;
  WindowShape window_;
  Index inVolume_, outVolume_;
  Index tapsAt_, maximaAt_; // of a row, in the scratch
};

} // namespace

bool isTiled(const PoolingShape& shape) {
  const WindowShape w = embedWindow(shape.window);
  if (shape.mode != PoolingMode::Max || w.kernel[2] > kMostTaps)
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
