// SPDX-License-Identifier: BSD-2-Clause
// Pointwise functions y = f(x) (the activations of layers) and the product r = f'(x) v, which is
// both the tangent and the adjoint since the Jacobian is diagonal; and vector operations: y = alpha
// x + beta y, products, and the addition and the gradient of a bias. Arrays are contiguous, in the
// memory space of the context.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// The formulas are in functors/pointwise.hpp. At 0, rectifiers have their left derivative. NaN
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
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Floor, // Floor, Ceil and Round are constant between jumps: their derivative is 0
  Ceil,
  Round,        // to the nearest integer, halves to the even one
  NegativePart, // min(x, 0)
  Scale,        // alpha x + beta
  Identity
};

// A function with its parameters.
struct PointwiseFunction {
  PointwiseFunction(Pointwise function, double firstParameter = 0, double secondParameter = 0)
      : kind(function), parameter(firstParameter), second(secondParameter) {}
  Pointwise kind;
  // parameter: the slope of LeakyRelu for x < 0, the factor of Elu, Celu and Scale, the exponent of
  // Power, the lower end of Clamp. second: the upper end of Clamp, the shift of Scale. Unused by
  // other functions.
  double parameter, second;
};

// y can be x.
template <class T>
void pointwiseForward(KernelContext& context, const PointwiseFunction& function, Index n,
                      const T* x, T* y);

// y = f(y) for every element of a box with strides ys; the rank is 0 to 8. On the device the box
// must be contiguous.
template <class T>
void blockPointwise(KernelContext& context, const PointwiseFunction& function, int rank,
                    const Index* extent, T* y, const Index* ys);

// r = f'(x) v, where y = f(x). r can be v. x or y can be null unless the function reads it (kReads
// in functors/pointwise.hpp).
template <class T>
void pointwiseDerivative(KernelContext& context, const PointwiseFunction& function, Index n,
                         const T* x, const T* y, const T* v, T* r);

// y = alpha x + beta y; if beta = 0, y is not read.
template <class T>
void axpby(KernelContext& context, Index n, T alpha, const T* x, T beta, T* y);

// y = a b, or y += a b if `adds`. y can be a or b.
template <class T>
void product(KernelContext& context, Index n, const T* a, const T* b, bool adds, T* y);

// y[r,c] += b[c].
template <class T>
void addBias(KernelContext& context, Index rows, Index cols, const T* b, T* y);

// b[c] += sum over r of x[r,c].
template <class T>
void sumRows(KernelContext& context, Index rows, Index cols, const T* x, T* b);

} // namespace tenon
