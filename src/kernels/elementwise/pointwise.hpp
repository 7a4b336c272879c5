// SPDX-License-Identifier: BSD-2-Clause
// Pointwise functions y = f(x) and the product r = f'(x) v, which is tangent and adjoint alike,
// since the Jacobian is diagonal; and the small vector operations around them.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// The formulas are in functors/pointwise.hpp. The rectifiers have their left derivative at 0; NaN
// propagates.
enum class Pointwise {
  Relu,
  Tanh,
  Sigmoid,
  LeakyRelu,
  Elu,
  Gelu,     // x times the normal distribution function
  GeluTanh, // the usual approximation of Gelu by tanh
  Silu,
  Softplus,
  Exp,
  Sine,
  Cosine,
  Clamp,
  Abs,
  Sqrt,
  Reciprocal,
  Power,
  Log,
  Softsign,
  Mish,
  HardSwish,
  Selu,
  Celu,
  Scale, // with a shift
  Identity
};

struct PointwiseFunction {
  PointwiseFunction(Pointwise which, double value = 0, double another = 0)
      : kind(which), parameter(value), second(another) {}
  Pointwise kind;
  // The slope of LeakyRelu left of 0, the factor of Elu, Celu and Scale, the exponent of Power and
  // the lower end of Clamp; the upper end of Clamp and the shift of Scale. Others use neither.
  double parameter, second;
};

// y may be x.
template <class T>
void pointwiseForward(KernelContext& context, const PointwiseFunction& function, Index n,
                      const T* x, T* y);

// y = f(y) for every element of a box, with the strides ys; rank 0 to 8. On the device of one that
// is contiguous.
template <class T>
void blockPointwise(KernelContext& context, const PointwiseFunction& function, int rank,
                    const Index* extent, T* y, const Index* ys);

// r = f'(x) v, where y = f(x). r may be v. x or y may be null if the function's kReads
// (functors/pointwise.hpp) does not name it.
template <class T>
void pointwiseDerivative(KernelContext& context, const PointwiseFunction& function, Index n,
                         const T* x, const T* y, const T* v, T* r);

// y = alpha x + beta y; beta = 0 never reads y.
template <class T>
void axpby(KernelContext& context, Index n, T alpha, const T* x, T beta, T* y);

// y = a b, or with `adds` y += a b. y may be a or b.
template <class T>
void product(KernelContext& context, Index n, const T* a, const T* b, bool adds, T* y);

// y[r,c] += b[c].
template <class T>
void addBias(KernelContext& context, Index rows, Index cols, const T* b, T* y);

// b[c] += sum over r of x[r,c].
template <class T>
void sumRows(KernelContext& context, Index rows, Index cols, const T* x, T* b);

} // namespace tenon
