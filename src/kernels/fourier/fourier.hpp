// SPDX-License-Identifier: BSD-2-Clause
// The lowest Fourier coefficients of a real field, for a spectral convolution (the layer of a
// Fourier neural operator), computed from the box of the field that one rank owns:
//
//   X[k] = sum over the elements j of the box of exp(-2 pi i k.j / N) x[j],
//
// in the last dimension for k = 0 .. m-1, in the others for k = 0 .. m-1 and -m .. -1, in this
// order. N is the extent of the whole field. The map is linear, so the boxes of a partition produce
// partial sums, which the caller adds over the ranks. Coefficients are (real, imaginary) pairs.
//
//   analyse       X = A x            its adjoint  x = A' X
//   synthesise    x = A' D X         its adjoint  X = D A x,
//
// where D = c / N with c = 1 for k = 0 and k = N/2 in the last dimension, else c = 2 (for the mode
// -k, which is not stored). Thus synthesise() is the inverse real transform of the coefficients,
// with zeros for those that are not stored. Example: the first 4 modes of a line of 16 values, of
// which this rank owns 0 .. 7, are a TruncatedFourier of the dimension {.extent = 16, .begin = 0,
// .count = 8, .modes = 4}.
//
// Each dimension is either a product with a dense matrix, which is less work than a fast transform
// for few coefficients, or a transform of whole lines by FFTW (on the device cuFFT) with zeros for
// the elements of other ranks. Either way a box needs only its own elements. multiplyModes()
// multiplies coefficients by the weights of the layer.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

// One dimension of a box: `count` elements beginning at `begin`, of `extent` elements of the field;
// `modes` is m.
struct FourierDim {
  Index extent, begin, count, modes;
};

template <class T>
class FourierStage;

// The transform of a block, with its adjoint.
template <class T>
class TruncatedFourier {
public:
  // `rows` is the maximum number of fields, batch times channels. Fftw and Cufft use fast
  // transforms in all dimensions, Auto where they are faster, other backends never. Throws
  // TENON_ERR_SUPPORT if the library is missing.
  TruncatedFourier(KernelContextPtr context, Backend backend, const std::vector<FourierDim>& dims,
                   Index rows);
  ~TruncatedFourier();

  // x is [rows, elements of the box], X [rows, coefficients, 2].
  void analyse(Index rows, const T* x, T* coefficients);
  void analyseAdjoint(Index rows, const T* coefficients, T* x);
  void synthesise(Index rows, const T* coefficients, T* x);
  void synthesiseAdjoint(Index rows, const T* x, T* coefficients);

  // The method of each dimension, such as "FFTW, matrix" or "cuFFT, matrix".
  std::string methods() const;

private:
  // Creates the transforms of all dimensions (fourier/stage.hpp).
  void addStages(Backend backend, const std::vector<FourierDim>& dims, Index rows,
                 ScratchPlan& plan);
  void scale(Index rows, const T* from, T* to) const; // multiplies by D
  // The result of a stage; the results of successive stages alternate between two areas.
  T* scratch(std::size_t stage) { return context_->scratch<T>(stage % 2 == 0 ? first_ : second_); }

  KernelContextPtr context_;
  std::vector<std::unique_ptr<FourierStage<T>>> stages_; // from the last dimension to the first
  std::vector<Index> lines_;                             // outer indices of each stage per row
  ReadList<T> weights_;                                  // D, indexed by k of the last dimension
  Index modesOfLast_ = 0;
  bool isEmpty_ = false;         // the box has no elements
  Index coefficients_ = 1;       // number of coefficients of a field
  Index first_ = 0, second_ = 0; // offsets of two areas of scratch
};

// c[p,q,m] += sum over r of op(a[p,q,r,m]) b[p,q,r,m] for complex pairs, where op is the complex
// conjugate if `conjugates`, else the identity.
struct ModeProducts {
  Index extent[3];        // ranges of p, q and r
  Index a[3], b[3], c[2]; // strides, in units of `modes`
  Index modes;
};
template <class T>
void multiplyModes(KernelContext& context, const ModeProducts& products, bool conjugates,
                   const T* a, const T* b, T* c);

} // namespace tenon
