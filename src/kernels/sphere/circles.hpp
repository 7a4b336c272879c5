// SPDX-License-Identifier: BSD-2-Clause
// Fourier coefficients of circles of latitude: the first part of spherical harmonic transforms.
//
//   toOrders     X[m] = sum over the columns x of exp(-2 pi i m x / N) f[x]
//   toColumns    f[x] = sum over m of Re X[m] cos(2 pi m x / N) - Im X[m] sin(2 pi m x / N)
//
// for m = 0 .. M-1, stored folded (orderAtPlace()). Each is the adjoint of the other one. A rank
// can have any block of columns, for which X is a partial sum, and of places of orders, for which f
// is one.
#pragma once

#include "kernels/fourier/stage.hpp"

namespace tenon {

// The transform of circles of latitude between columns and folded orders.
template <class T>
class CircleFourier {
public:
  // Each circle has the block `columns` of columns; the rank has `places` places of the folded
  // orders from `place` on. `lines` is the maximum number of circles.
  CircleFourier(KernelContextPtr context, Backend backend, const FourierDim& columns, Index place,
                Index places, Index lines);

  // x is [lines, columns], X [lines, places, 2].
  void toOrders(Index lines, const T* x, T* X);
  void toColumns(Index lines, const T* X, T* x);
  const char* method() const noexcept { return stage_->method(); }

private:
  template <class Body>
  void eachBlock(Index lines, const Body& body);
  // Copies the orders of the block between their order in the stage and their places.
  void copyOrders(Index lines, bool toPlaces, const T* from, T* to);

  KernelContextPtr context_;
  FourierDim columns_;
  Index place_, places_;
  Index block_;      // lines that are transformed together
  Index orders_ = 0; // offset of the orders of a block of lines in the scratch
  std::unique_ptr<FourierStage<T>> stage_;
};

} // namespace tenon
