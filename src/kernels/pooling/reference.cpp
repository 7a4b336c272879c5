// SPDX-License-Identifier: BSD-2-Clause
// Pooling by plain loops over the definition in pooling.hpp, one window at a time; tests compare
// all other backends with these results. A plane is the spatial elements of one sample and channel.
// For a maximum, the workspace contains for each output the index of the winner, the largest input
// of its window, within the plane.
#include "kernels/base/maximum.hpp"
#include "kernels/pooling/backends.hpp"

#include <algorithm>

namespace tenon {

namespace {

template <class T>
class ReferencePooling final : public Pooling<T> {
public:
  explicit ReferencePooling(const PoolingShape& shape)
      : planes_(shape.planes), window_(embedWindow(shape.window)), mode_(shape.mode),
        inVolume_(inputVolume(window_)), outVolume_(outputVolume(window_)) {}

  Index workspaceBytes() const override {
    return mode_ == PoolingMode::Max ? planes_ * outVolume_ * Index(sizeof(std::int32_t)) : 0;
  }

  void forward(const T* x, T* y, void* workspace) override {
    auto* winners = static_cast<std::int32_t*>(workspace);
    forEachWindow([&](Index plane, const Position& o, Index flat) {
      if (mode_ != PoolingMode::Max) {
        y[flat] = average(x + plane * inVolume_, o);
        return;
      }
      const Index winner = winnerOf(x + plane * inVolume_, o);
      y[flat] = x[plane * inVolume_ + winner];
      if (winners)
        winners[flat] = std::int32_t(winner);
    });
  }

  void adjoint(const T* dy, const void* workspace, T* dx) override {
    const auto* winners = static_cast<const std::int32_t*>(workspace);
    std::fill_n(dx, planes_ * inVolume_, T(0));
    forEachWindow([&](Index plane, const Position& o, Index flat) {
      if (mode_ == PoolingMode::Max) {
        dx[plane * inVolume_ + winners[flat]] += dy[flat];
        return;
      }
      forEachRead(window_, o,
                  [&](Index, Index i) { dx[plane * inVolume_ + i] += dy[flat] / divisor(o); });
    });
  }

  void tangent(const T* dx, const void* workspace, T* dy) override {
    const auto* winners = static_cast<const std::int32_t*>(workspace);
    forEachWindow([&](Index plane, const Position& o, Index flat) {
      const T* direction = dx + plane * inVolume_;
      dy[flat] = mode_ == PoolingMode::Max ? direction[winners[flat]] : average(direction, o);
    });
  }

  Backend backend() const override { return Backend::Reference; }

private:
  template <class Visit>
  void forEachWindow(Visit visit) const {
    for (Index plane = 0; plane < planes_; ++plane)
      forEachOutput(window_, [&](const Position& o, Index flat) {
        visit(plane, o, plane * outVolume_ + flat);
      });
  }

  // Index of the first maximum of a window.
  Index winnerOf(const T* x, const Position& o) const {
    Index winner = -1;
    forEachRead(window_, o, [&](Index, Index i) {
      if (winner < 0 || beats(x[i], x[winner]))
        winner = i;
    });
    return winner;
  }

  // Number of elements of a mean: with padding the taps before padEnd, otherwise the inputs read.
  T divisor(const Position& o) const {
    if (mode_ == PoolingMode::AverageIncludePad)
      return T(tapsBeforeEnd(window_, 0, o[0]) * tapsBeforeEnd(window_, 1, o[1]) *
               tapsBeforeEnd(window_, 2, o[2]));
    Index count = 0;
    forEachRead(window_, o, [&](Index, Index) { ++count; });
    return T(count);
  }

  T average(const T* x, const Position& o) const {
    T sum = 0;
    forEachRead(window_, o, [&](Index, Index i) { sum += x[i]; });
    return sum / divisor(o);
  }

  Index planes_;
  WindowShape window_;
  PoolingMode mode_;
  Index inVolume_, outVolume_;
};

} // namespace

template <class T>
std::unique_ptr<Pooling<T>> makeReferencePooling(const PoolingShape& shape) {
  return std::make_unique<ReferencePooling<T>>(shape);
}

template std::unique_ptr<Pooling<float>> makeReferencePooling<float>(const PoolingShape&);
template std::unique_ptr<Pooling<double>> makeReferencePooling<double>(const PoolingShape&);

} // namespace tenon
