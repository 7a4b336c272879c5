// SPDX-License-Identifier: BSD-2-Clause
// One dimension of a truncated Fourier transform, by a matrix or by a fast transform. The makers
// add the scratch that a stage needs to the plan.
#pragma once

#include "kernels/fourier/fourier.hpp"

#include <memory>

namespace tenon {

struct FourierStageShape {
  FourierDim dim;
  bool isReal; // the last dimension: elements to pairs, of nonnegative modes alone
  Index outer; // the most outer indices of a call
  Index inner; // pairs for each index of the dimension; 1 in the last

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

template <class T>
std::unique_ptr<FourierStage<T>> makeDenseFourierStage(KernelContext& context, Backend backend,
                                                       const FourierStageShape& shape,
                                                       ScratchPlan& plan);
// TENON_ERR_SUPPORT in a build without FFTW.
template <class T>
std::unique_ptr<FourierStage<T>> makeFftwStage(KernelContext& context,
                                               const FourierStageShape& shape, ScratchPlan& plan);
// For a context of the device, and for boxes that have elements.
template <class T>
std::unique_ptr<FourierStage<T>> makeCufftStage(KernelContext& context,
                                                const FourierStageShape& shape, ScratchPlan& plan);

} // namespace tenon
