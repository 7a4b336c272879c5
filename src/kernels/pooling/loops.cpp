// SPDX-License-Identifier: BSD-2-Clause
// Pooling on the host (PoolingMode Max and both averages), one row of outputs at a time. The loop
// over the taps of the window is outside and the loop over the outputs of the row inside, which
// makes the inner loop long and free of branches:
//
//   for each tap (t0, t1, t2) of the window:  for all outputs o2 of the row:
//     y[o2] += x[row of (t0, t1)][o2 stride - padLow + t2 dilation]     (or the maximum)
//
// A maximum uses this loop for outputs whose taps along the row are all inside the input. The few
// outputs at the ends of the row, whose windows extend beyond the input, are computed one by one.
// makeLoopPooling() is declared in backends.hpp.
#include "kernels/base/maximum.hpp"
#include "kernels/pooling/backends.hpp"

#include <algorithm>
#include <vector>

namespace tenon {

namespace {

using Winner = std::int32_t; // index of the input in its plane

// One row of outputs (o0, o1, all o2) in a plane [dimension 0, 1, 2], and the input rows that it
// reads.
struct Row {
  Index output;         // index of its first output in the plane
  Range taps0, taps1;   // taps that read input
  Index padded;         // number of taps (t0, t1) before padEnd
  Index first0, first1; // positions in dimensions 0 and 1 that tap 0 reads; negative in padding
};

// The outputs whose first and last tap along the row are inside the input; can be empty.
Range interiorOf(const WindowShape& w) {
  const Range first = outputsInside(w, 2, 0), last = outputsInside(w, 2, w.kernel[2] - 1);
  const Index begin = std::min(std::max(first.begin, last.begin), w.out[2]);
  return {begin, std::clamp(std::min(first.end, last.end), begin, w.out[2])};
}

// The rows of outputs of a plane.
std::vector<Row> rowsOf(const WindowShape& w) {
  std::vector<Row> rows;
  for (Index o0 = 0; o0 < w.out[0]; ++o0)
    for (Index o1 = 0; o1 < w.out[1]; ++o1)
      rows.push_back({.output = (o0 * w.out[1] + o1) * w.out[2],
                      .taps0 = tapsInside(w, 0, o0),
                      .taps1 = tapsInside(w, 1, o1),
                      .padded = tapsBeforeEnd(w, 0, o0) * tapsBeforeEnd(w, 1, o1),
                      .first0 = o0 * w.stride[0] - w.padLow[0],
                      .first1 = o1 * w.stride[1] - w.padLow[1]});
  return rows;
}

// Calls visit(plane, row) for the rows [begin, end), numbered over all planes.
template <class Visit>
void forEachRow(const std::vector<Row>& rows, Index begin, Index end, Visit visit) {
  const auto inPlane = static_cast<Index>(rows.size());
  Index plane = begin / inPlane, row = begin % inPlane;
  for (; begin < end; ++begin) {
    visit(plane, rows[row]);
    if (++row < inPlane)
      continue;
    row = 0;
    ++plane;
  }
}

// Calls visit(offset of an input row) for the input rows of the row's taps, in order.
template <class Visit>
void forEachInputRow(const WindowShape& w, const Row& row, Visit visit) {
  for (Index t0 = row.taps0.begin; t0 < row.taps0.end; ++t0)
    for (Index t1 = row.taps1.begin; t1 < row.taps1.end; ++t1)
      visit(((row.first0 + t0 * w.dilation[0]) * w.in[1] + row.first1 + t1 * w.dilation[1]) *
            w.in[2]);
}

// Initialises a run of outputs from the first tap, for which output o reads x[tap + o stride].
template <class T>
void beginTap(Range outputs, const T* x, Index tap, Index stride, T* y, Winner* winners) {
  for (Index o = outputs.begin; o < outputs.end; ++o) {
    y[o] = x[tap + o * stride];
    winners[o] = Winner(tap + o * stride);
  }
}

// Combines a later tap into the run. A compile-time stride (kStride != 0), and loads that do not
// depend on the comparison, allow vectorisation.
template <int kStride, class T>
void combineTap(Range outputs, const T* __restrict x, Index tap, Index stride, T* __restrict y,
                Winner* __restrict winners) {
  const Index step = kStride ? kStride : stride;
  for (Index o = outputs.begin; o < outputs.end; ++o) {
    const T value = x[tap + o * step], best = y[o];
    const Winner candidate = Winner(tap) + Winner(o) * Winner(step), winner = winners[o];
    const bool wins = beats(value, best);
    y[o] = wins ? value : best;
    winners[o] = wins ? candidate : winner;
  }
}

template <class T>
class MaxPooling final : public Pooling<T> {
public:
  MaxPooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), planes_(shape.planes), window_(embedWindow(shape.window)),
        rows_(rowsOf(window_)), interior_(interiorOf(window_)), inVolume_(inputVolume(window_)),
        outVolume_(outputVolume(window_)) {
    ScratchPlan plan;
    winnersAt_ = plan.addForThreads<Winner>(context_->threads(), window_.out[2]);
    context_->reserve(plan);
  }

  Index workspaceBytes() const override { return planes_ * outVolume_ * Index(sizeof(Winner)); }

  void forward(const T* x, T* y, void* workspace) override {
    auto* winners = static_cast<Winner*>(workspace);
    splitRows([=, this](int thread, Index begin, Index end) {
      Winner* rowWinners = context_->scratch<Winner>(winnersAt_, thread);
      forEachRow(rows_, begin, end, [&](Index p, const Row& row) {
        const Index at = p * outVolume_ + row.output;
        poolRow(x + p * inVolume_, row, y + at, winners ? winners + at : rowWinners);
      });
    });
  }

  // Windows can overlap, so threads divide planes: two threads never add to one input.
  void adjoint(const T* dy, const void* workspace, T* dx) override {
    const auto* winners = static_cast<const Winner*>(workspace);
    parallelRanges(context_->threads(), planes_, inVolume_, [=, this](Index begin, Index end) {
      std::fill(dx + begin * inVolume_, dx + end * inVolume_, T(0));
      for (Index p = begin; p < end; ++p)
        for (Index o = p * outVolume_; o < (p + 1) * outVolume_; ++o)
          dx[p * inVolume_ + winners[o]] += dy[o];
    });
  }

  void tangent(const T* dx, const void* workspace, T* dy) override {
    const auto* winners = static_cast<const Winner*>(workspace);
    parallelRanges(context_->threads(), planes_, outVolume_, [=, this](Index begin, Index end) {
      for (Index p = begin; p < end; ++p)
        for (Index o = p * outVolume_; o < (p + 1) * outVolume_; ++o)
          dy[o] = dx[p * inVolume_ + winners[o]];
    });
  }

  Backend backend() const override { return Backend::Blas; }

private:
  // Calls body(thread, begin, end) for ranges of rows, numbered over all planes, on several
  // threads.
  template <class Body>
  void splitRows(const Body& body) const {
    parallelPieces(context_->threads(winnersAt_), planes_ * Index(rows_.size()),
                   window_.out[2] * kernelVolume(window_), body);
  }

  void poolRow(const T* x, const Row& row, T* y, Winner* winners) const {
    poolEnds(x, row, {0, interior_.begin}, y, winners);
    poolEnds(x, row, {interior_.end, window_.out[2]}, y, winners);
    bool first = true;
    forEachInputRow(window_, row, [&](Index input) {
      for (Index t = 0; t < window_.kernel[2]; ++t, first = false) {
        const Index tap = input - window_.padLow[2] + t * window_.dilation[2];
        if (first)
          beginTap(interior_, x, tap, window_.stride[2], y, winners);
        else if (window_.stride[2] == 1)
          combineTap<1>(interior_, x, tap, 1, y, winners);
        else if (window_.stride[2] == 2)
          combineTap<2>(interior_, x, tap, 2, y, winners);
        else
          combineTap<0>(interior_, x, tap, window_.stride[2], y, winners);
      }
    });
  }

  // Outputs at the ends of the row, whose windows extend beyond the input, one by one. Each window
  // reads at least one input (makePooling() checks this), so there is a winner.
  void poolEnds(const T* x, const Row& row, Range outputs, T* y, Winner* winners) const {
    for (Index o = outputs.begin; o < outputs.end; ++o) {
      const Range taps = tapsInside(window_, 2, o);
      Index winner = -1;
      forEachInputRow(window_, row, [&](Index input) {
        const Index start = input + o * window_.stride[2] - window_.padLow[2];
        for (Index t = taps.begin; t < taps.end; ++t) {
          const Index i = start + t * window_.dilation[2];
          if (winner < 0 || beats(x[i], x[winner]))
            winner = i;
        }
      });
      y[o] = x[winner];
      winners[o] = Winner(winner);
    }
  }

  KernelContextPtr context_;
  Index planes_;
  WindowShape window_;
  std::vector<Row> rows_;
  Range interior_; // outputs of a row whose taps are all inside the input
  Index inVolume_, outVolume_;
  ThreadScratch winnersAt_; // winners of a row, per thread
};

// y[o] += x[tap + o stride] for a run of outputs; spreadTap() is the transpose.
template <class T>
void addTap(Range outputs, const T* __restrict x, Index tap, Index stride, T* __restrict y) {
  if (stride == 1)
    for (Index o = outputs.begin; o < outputs.end; ++o)
      y[o] += x[tap + o];
  else
    for (Index o = outputs.begin; o < outputs.end; ++o)
      y[o] += x[tap + o * stride];
}

template <class T>
void spreadTap(Range outputs, const T* __restrict y, Index tap, Index stride, T* __restrict x) {
  if (stride == 1)
    for (Index o = outputs.begin; o < outputs.end; ++o)
      x[tap + o] += y[o];
  else
    for (Index o = outputs.begin; o < outputs.end; ++o)
      x[tap + o * stride] += y[o];
}

template <class T>
class AveragePooling final : public Pooling<T> {
public:
  AveragePooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), planes_(shape.planes), window_(embedWindow(shape.window)),
        rows_(rowsOf(window_)), includePad_(shape.mode == PoolingMode::AverageIncludePad),
        inVolume_(inputVolume(window_)), outVolume_(outputVolume(window_)),
        tapsOfColumn_(size_t(window_.out[2])) {
    ScratchPlan plan;
    scaledAt_ = plan.addForThreads<T>(context_->threads(), window_.out[2]);
    context_->reserve(plan);
    // The number of a window's taps is a product over the dimensions; its factor along the row is
    // the same for all rows.
    for (Index o = 0; o < window_.out[2]; ++o) {
      const Range taps = tapsInside(window_, 2, o);
      tapsOfColumn_[o] = T(includePad_ ? tapsBeforeEnd(window_, 2, o) : taps.end - taps.begin);
    }
    for (Index t = 0; t < window_.kernel[2]; ++t)
      outputsOfTap_.push_back(outputsInside(window_, 2, t));
  }

  Index workspaceBytes() const override { return 0; }

  void forward(const T* x, T* y, void*) override {
    const Index rows = planes_ * Index(rows_.size());
    parallelRanges(context_->threads(), rows, rowCost(), [=, this](Index begin, Index end) {
      forEachRow(rows_, begin, end, [&](Index p, const Row& row) {
        T* to = y + p * outVolume_ + row.output;
        std::fill_n(to, window_.out[2], T(0));
        forEachTap(row, [&](Index offset, Range outputs) {
          addTap(outputs, x + p * inVolume_, offset, window_.stride[2], to);
        });
        divide(row, to, to);
      });
    });
  }

  void adjoint(const T* dy, const void*, T* dx) override {
    const Index cost = Index(rows_.size()) * rowCost();
    const auto spreadPlanes = [=, this](int thread, Index begin, Index end) {
      T* scaled = context_->scratch<T>(scaledAt_, thread);
      std::fill(dx + begin * inVolume_, dx + end * inVolume_, T(0));
      for (Index p = begin; p < end; ++p)
        for (const Row& row : rows_) {
          divide(row, dy + p * outVolume_ + row.output, scaled);
          forEachTap(row, [&](Index offset, Range outputs) {
            spreadTap(outputs, scaled, offset, window_.stride[2], dx + p * inVolume_);
          });
        }
    };
    parallelPieces(context_->threads(scaledAt_), planes_, cost, spreadPlanes);
  }

  void tangent(const T* dx, const void*, T* dy) override { forward(dx, dy, nullptr); }
  Backend backend() const override { return Backend::Blas; }

private:
  Index rowCost() const { return window_.out[2] * kernelVolume(window_); }

  // Calls visit(offset in the plane that output 0 reads, outputs of the row whose tap reads input)
  // for all taps.
  template <class Visit>
  void forEachTap(const Row& row, Visit visit) const {
    forEachInputRow(window_, row, [&](Index input) {
      for (Index t = 0; t < window_.kernel[2]; ++t)
        visit(input - window_.padLow[2] + t * window_.dilation[2], outputsOfTap_[t]);
    });
  }

  // Divides a row by the numbers of elements of its means. For example, without the padding of 1 a
  // window of 3 x 3 at a corner has 2 x 2 elements: `taps` is 2, and tapsOfColumn_[0] is 2.
  void divide(const Row& row, const T* from, T* to) const {
    const Index inside = (row.taps0.end - row.taps0.begin) * (row.taps1.end - row.taps1.begin);
    const T taps = T(includePad_ ? row.padded : inside);
    for (Index o = 0; o < window_.out[2]; ++o)
      to[o] = from[o] / (taps * tapsOfColumn_[o]);
  }

  KernelContextPtr context_;
  Index planes_;
  WindowShape window_;
  std::vector<Row> rows_;
  bool includePad_;
  Index inVolume_, outVolume_;
  std::vector<T> tapsOfColumn_;
  ThreadScratch scaledAt_; // a row of dy / taps, per thread
  std::vector<Range> outputsOfTap_;
};

} // namespace

template <class T>
std::unique_ptr<Pooling<T>> makeLoopPooling(const PoolingShape& shape, KernelContextPtr context) {
  if (shape.mode == PoolingMode::Max)
    return std::make_unique<MaxPooling<T>>(shape, std::move(context));
  return std::make_unique<AveragePooling<T>>(shape, std::move(context));
}

template std::unique_ptr<Pooling<float>> makeLoopPooling<float>(const PoolingShape&,
                                                                KernelContextPtr);
template std::unique_ptr<Pooling<double>> makeLoopPooling<double>(const PoolingShape&,
                                                                  KernelContextPtr);

} // namespace tenon
