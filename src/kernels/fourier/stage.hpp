// SPDX-License-Identifier: BSD-2-Clause
// One dimension of a truncated Fourier transform, by a matrix or by a fast transform.
#pragma once

#include "kernels/fourier/fourier.hpp"

#include <memory>

namespace tenon {

struct FourierStageShape {
  FourierDim dim;
  bool isReal; // the last dimension: elements to pairs, of nonnegative modes alone
  Index outer; // at most
  Index inner; // pairs behind the dimension; 1 in the last

  Index kept() const { return isReal ? dim.modes : 2 * dim.modes; }
};

template <class T>
class FourierStage {
public:
  virtual ~FourierStage() = default;
  // For each of the outer indices y [modes, inner] = F x [count, inner].
  virtual void analyse(Index outer, const T* x, T* y) = 0;
  // x = F' y, by the conjugate transpose; in the last dimension its real part.
  virtual void adjoint(Index outer, const T* y, T* x) = 0;
  virtual const char* method() const noexcept = 0;
};

// What they need of the scratch is added to the plan.
template <class T>
std::unique_ptr<FourierStage<T>> makeDenseFourierStage(KernelContext& context, Backend backend,
                                                       const FourierStageShape& shape,
                                                       ScratchPlan& plan);
// Zeros where the box has no elements. Without FFTW this is TENON_ERR_SUPPORT.
template <class T>
std::unique_ptr<FourierStage<T>> makeFftwStage(KernelContext& context,
                                               const FourierStageShape& shape, ScratchPlan& plan);
// For a context of the device, and boxes that have elements.
template <class T>
std::unique_ptr<FourierStage<T>> makeCufftStage(KernelContext& context,
                                                const FourierStageShape& shape, ScratchPlan& plan);

} // namespace tenon
