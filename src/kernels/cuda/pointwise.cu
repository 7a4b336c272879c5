// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of pointwise functions, vector operations and optimizers
// (elementwise/): nvcc compiles this file, and a functor that is not listed is a linker error. Sine
// and Cosine need a slower form for large arguments and are listed as Everywhere, which selects the
// form per element; Identity is Scale by 1. The functors are in functors/pointwise.hpp,
// bfloat16.hpp, selection.hpp, update.hpp and vector.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/bfloat16.hpp"
#include "kernels/functors/pointwise.hpp"
#include "kernels/functors/selection.hpp"
#include "kernels/functors/update.hpp"
#include "kernels/functors/vector.hpp"

namespace tenon::device {

using namespace functors;
using namespace pointwise;

#define TENON_ELEMENTS(...) template void eachElement(const Stream&, Index, const __VA_ARGS__&);
#define TENON_FUNCTION(F)                                                                          \
  TENON_ELEMENTS(Value<F, float>)                                                                  \
  TENON_ELEMENTS(Value<F, double>)                                                                 \
  TENON_ELEMENTS(Derivative<F, float>)                                                             \
  TENON_ELEMENTS(Derivative<F, double>)
TENON_PLAIN_FUNCTIONS(TENON_FUNCTION)
TENON_FUNCTION(LeakyRelu)
TENON_FUNCTION(Elu)
TENON_FUNCTION(Everywhere<Sine>)
TENON_FUNCTION(Everywhere<Cosine>)
TENON_FUNCTION(Clamp)
TENON_FUNCTION(Power)
TENON_FUNCTION(Celu)
TENON_FUNCTION(pointwise::Scale)
TENON_FUNCTION(ShiftedScale)

#define TENON_ALL(T)                                                                               \
  TENON_ELEMENTS(CompareElements<IsGreater, T>)                                                    \
  TENON_ELEMENTS(CompareElements<IsGreaterOrEqual, T>)                                             \
  TENON_ELEMENTS(CompareElements<IsEqual, T>)                                                      \
  TENON_ELEMENTS(CompareElements<IsNotEqual, T>)                                                   \
  TENON_ELEMENTS(SelectElements<T>)                                                                \
  TENON_ELEMENTS(Axpby<T>)                                                                         \
  TENON_ELEMENTS(Scaled<T>)                                                                        \
  TENON_ELEMENTS(Product<T>)                                                                       \
  TENON_ELEMENTS(AddedProduct<T>)                                                                  \
  TENON_ELEMENTS(FromBFloat16<T>)                                                                  \
  TENON_ELEMENTS(PlainSgd<T>)                                                                      \
  TENON_ELEMENTS(MomentumSgd<T>)                                                                   \
  TENON_ELEMENTS(Adam<T>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
