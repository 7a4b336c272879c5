// SPDX-License-Identifier: BSD-2-Clause
// The Fourier coefficients of a real field that a spectral convolution keeps, from a box of the field:
//
//   X[k] = sum over the cells j of the box of exp(-2 pi i k.j / N) x[j],
//
// in the last dimension k = 0 .. m-1, in the others k = 0 .. m-1 and -m .. -1, in this order. It is linear,
// so boxes that make up the field give addends. Coefficients are pairs of real and imaginary part.
//
//   analyse       X = A x            its adjoint  x = A' X
//   synthesise    x = A' D X         its adjoint  X = D A x,    D = c / N with c = 1 for k = 0 and
//                                                               k = N/2 in the last dimension, else 2,
//
// so that what is synthesised is the inverse real transform of the coefficients, the others being zero.
// Each dimension is a product with a dense matrix: of few coefficients that is less work, for a processor,
// than a fast transform, and a box needs no other cells.
#pragma once

#include "kernels/backend.hpp"
#include "kernels/context.hpp"

#include <vector>

namespace tenon {

// One dimension: `count` cells from `begin`, of `extent` in the field; `modes` is m.
struct FourierDim {
  Index extent, begin, count, modes;
};

template <class T>
class TruncatedFourier {
public:
  // For fields of at most `rows` batches and channels.
  TruncatedFourier(KernelContextPtr context, Backend backend, const std::vector<FourierDim>& dims,
                   Index rows);

  // x is [rows, cells of the box], X [rows, coefficients, 2].
  void analyse(Index rows, const T* x, T* coefficients);
  void analyseAdjoint(Index rows, const T* coefficients, T* x);
  void synthesise(Index rows, const T* coefficients, T* x);
  void synthesiseAdjoint(Index rows, const T* x, T* coefficients);

private:
  struct Stage {
    Index count, modes; // cells, coefficients
    Index inner;        // pairs behind the dimension, once it is analysed
    std::vector<T> re,
        im; // [modes, count] of exp(-i theta); of the last dimension one, [count, 2 modes]
  };
  static Stage stageOf(const FourierDim& dim, Index inner);
  void planScratch(Index rows);
  Index outer(Index rows, std::size_t stage) const;
  void multiply(const Stage& stage, bool adjoint, Index outer, const T* x, T* y);
  void scale(Index rows, const T* from, T* to) const;

  KernelContextPtr context_;
  Backend backend_;
  std::vector<Stage> stages_; // of the dimensions but the last
  Stage last_;
  std::vector<T> weights_;        // D, by k of the last dimension
  Index pieces_ = 0;              // coefficients in all
  Index first_, second_, turned_; // scratch
};

// c[m] += op(a[m]) b[m] for complex pairs, op the conjugate where `conjugates`.
template <class T>
void complexMultiplyAdd(KernelContext& context, Index n, bool conjugates, const T* a, const T* b,
                        T* c);

} // namespace tenon
