// SPDX-License-Identifier: BSD-2-Clause
// The Fourier coefficients of a real field that a spectral convolution keeps, from a box of the
// field:
//
//   X[k] = sum over the elements j of the box of exp(-2 pi i k.j / N) x[j],
//
// in the last dimension k = 0 .. m-1, in the others k = 0 .. m-1 and -m .. -1, in this order. The
// map is linear, so the boxes that make up the field give partial sums. Coefficients are pairs of
// real and imaginary part.
//
//   analyse       X = A x            its adjoint  x = A' X
//   synthesise    x = A' D X         its adjoint  X = D A x,    D = c / N with c = 1 for k = 0 and
//                                                               k = N/2 in the last dimension, else 2,
//
// so that synthesise() is the inverse real transform of the coefficients, where those not kept are
// zero. Each dimension is a product with a dense matrix, which for few coefficients is less work
// than a fast transform, or a transform of whole lines by FFTW, on the device by cuFFT, in which
// the elements of other ranks are zero. So a box needs no elements but its own.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

// One dimension of a box: `count` elements from `begin`, of `extent` elements of the field; `modes`
// is m.
struct FourierDim {
  Index extent, begin, count, modes;
};

template <class T>
class FourierStage;

template <class T>
class TruncatedFourier {
public:
  // `rows` is the largest number of fields, batch times channels. Fftw and Cufft transform all
  // dimensions fast, Auto those in which that is faster, and the other backends none. Without the
  // library TENON_ERR_SUPPORT.
  TruncatedFourier(KernelContextPtr context, Backend backend, const std::vector<FourierDim>& dims,
                   Index rows);
  ~TruncatedFourier();

  // x is [rows, elements of the box], X [rows, coefficients, 2].
  void analyse(Index rows, const T* x, T* coefficients);
  void analyseAdjoint(Index rows, const T* coefficients, T* x);
  void synthesise(Index rows, const T* coefficients, T* x);
  void synthesiseAdjoint(Index rows, const T* x, T* coefficients);

  // "FFTW, matrix" or "cuFFT, matrix": the method of each dimension.
  std::string methods() const;

private:
  void addStages(Backend backend, const std::vector<FourierDim>& dims, Index rows,
                 ScratchPlan& plan);
  void scale(Index rows, const T* from, T* to) const;
  T* scratch(std::size_t stage) { return context_->scratch<T>(stage % 2 == 0 ? first_ : second_); }

  KernelContextPtr context_;
  std::vector<std::unique_ptr<FourierStage<T>>> stages_; // from the last dimension to the first
  std::vector<Index> lines_;                             // outer indices of each stage for one row
  ReadList<T> weights_;                                  // D, by k of the last dimension
  Index modesOfLast_ = 0;
  bool isEmpty_ = false;         // has no element of the field
  Index pieces_ = 1;             // coefficients in all
  Index first_ = 0, second_ = 0; // scratch
};

// c[p,q,m] += sum over r of op(a[p,q,r,m]) b[p,q,r,m] for complex pairs, where op is the conjugate
// if `conjugates` is set and the identity if not.
struct ModeProducts {
  Index extent[3];        // of p, q and r
  Index a[3], b[3], c[2]; // strides, in lists of modes
  Index modes;
};
template <class T>
void multiplyModes(KernelContext& context, const ModeProducts& of, bool conjugates, const T* a,
                   const T* b, T* c);

} // namespace tenon
