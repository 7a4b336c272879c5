// SPDX-License-Identifier: BSD-2-Clause
// Fourier transforms of circles of latitude to folded orders (definitions in circles.hpp), by the
// stages of truncated Fourier transforms (fourier/stage.hpp), whose orders are in increasing order:
// blocks of circles are transformed in scratch memory, and then the even and the odd places are
// copied, each by one strided copy. A rank without all orders has zeros for the others.
#include "kernels/sphere/circles.hpp"

#include "kernels/base/parallel.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kScratchNumbers = Index(1) << 17; // of a block of circles on the host

// Where pairs of numbers are in an array of lines: that of the first pair, and the distances of two
// pairs and of two lines.
struct StridedPairs {
  Index begin, pair, line;
};

template <class T>
void copyPairs(Index pairs, const T* from, Index fromStride, T* to, Index toStride) {
  for (Index i = 0; i < pairs; ++i) {
    to[i * toStride] = from[i * fromStride];
    to[i * toStride + 1] = from[i * fromStride + 1];
  }
}

} // namespace

template <class T>
CircleFourier<T>::CircleFourier(KernelContextPtr context, Backend backend,
                                const FourierDim& columns, Index place, Index places, Index lines)
    : context_(std::move(context)), columns_(columns), place_(place), places_(places),
      block_(std::max<Index>(lines, 1)) {
  if (isOnDevice(*context_))
    prepareGemm(*context_);
  else
    block_ = std::clamp<Index>(kScratchNumbers / (2 * columns.modes), 1, block_);
  ScratchPlan plan;
  stage_ = makeFourierStage<T>(*context_, backend, {columns, /*isReal=*/true, block_, /*inner=*/1},
                               plan);
  orders_ = plan.add<T>(2 * block_ * columns.modes);
  context_->reserve(plan);
}

template <class T>
template <class Body>
void CircleFourier<T>::eachBlock(Index lines, const Body& body) {
  for (Index first = 0; first < lines; first += block_)
    body(first, std::min(block_, lines - first), context_->template scratch<T>(orders_));
}

template <class T>
void CircleFourier<T>::toOrders(Index lines, const T* x, T* X) {
  eachBlock(lines, [&](Index first, Index count, T* orders) {
    stage_->analyse(count, x + first * columns_.count, orders);
    copyOrders(count, /*toPlaces=*/true, orders, X + 2 * first * places_);
  });
}

template <class T>
void CircleFourier<T>::toColumns(Index lines, const T* X, T* x) {
  eachBlock(lines, [&](Index first, Index count, T* orders) {
    if (places_ < columns_.modes) { // the block has some of the orders only
      const Index numbers = 2 * count * columns_.modes, one = 1;
      fillBlock(*context_, 1, &numbers, T(0), orders, &one);
    }
    copyOrders(count, /*toPlaces=*/false, X + 2 * first * places_, orders);
    stage_->adjoint(count, orders, x + first * columns_.count);
  });
}

// Even places have the orders 0, 1, ..., odd places M-1, M-2, ... On the device each parity is one
// strided copy of pairs; on the host that walk costs more than the transform itself, because its
// innermost rows have two numbers, so there a loop copies pairs.
template <class T>
void CircleFourier<T>::copyOrders(Index lines, bool toPlaces, const T* from, T* to) {
  const Index orders = columns_.modes;
  for (const Index parity : {0, 1}) {
    const Index first = place_ + (place_ % 2 == parity ? 0 : 1), end = place_ + places_;
    if (first >= end)
      continue;
    // The pairs of one line, of which every second place is of this parity.
    const StridedPairs atPlaces{2 * (first - place_), 4, 2 * places_},
        atOrders{2 * (parity == 0 ? first / 2 : orders - 1 - first / 2), parity == 0 ? 2 : -2,
                 2 * orders};
    const Index pairs = (end - first + 1) / 2;
    const StridedPairs &source = toPlaces ? atOrders : atPlaces,
                       &target = toPlaces ? atPlaces : atOrders;
    if (isOnDevice(*context_)) {
      const Index extent[] = {lines, pairs, 2}, read[] = {source.line, source.pair, 1},
                  written[] = {target.line, target.pair, 1};
      blockCombine(*context_, Combine::Copy, 3, extent, from + source.begin, read,
                   to + target.begin, written);
      continue;
    }
    parallelRanges(context_->threads(), lines, /*cost=*/4 * pairs, [=](Index begin, Index end) {
      for (Index line = begin; line < end; ++line)
        copyPairs(pairs, from + source.begin + line * source.line, source.pair,
                  to + target.begin + line * target.line, target.pair);
    });
  }
}

template class CircleFourier<float>;
template class CircleFourier<double>;

} // namespace tenon
