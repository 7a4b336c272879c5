// SPDX-License-Identifier: BSD-2-Clause
// One dimension of a truncated Fourier transform (fourier.hpp), by a matrix (dense.cpp) or by a
// fast transform (fftw.cpp, cuda/fourier_cufft.cpp). TruncatedFourier applies one stage after the
// other to arrays [outer, count, inner] -> [outer, modes, inner]. The factories add the scratch of
// their stage to the plan, and the caller reserves it.
#pragma once

#include "kernels/fourier/fourier.hpp"

#include <memory>

namespace tenon {

struct FourierStageShape {
  FourierDim dim;
  bool isReal; // the last dimension: real elements to pairs of modes k >= 0
  Index outer; // maximum number of outer indices per call
  Index inner; // pairs per index of the dimension; 1 in the last dimension

  // Number of modes that are stored: k >= 0 of real elements, or both signs.
  Index kept() const { return isReal ? dim.modes : 2 * dim.modes; }
};

template <class T>
class FourierStage {
public:
  virtual ~FourierStage() = default;
  // y [modes, inner] = F x [count, inner], for each outer index. The modes are 0 .. m-1 in the last
  // dimension, otherwise 0 .. m-1, then -m .. -1.
  virtual void analyse(Index outer, const T* x, T* y) = 0;
  // x = F' y, where F' is the conjugate transpose; in the last dimension the real part of it.
  virtual void adjoint(Index outer, const T* y, T* x) = 0;
  virtual const char* method() const noexcept = 0;
};

// The faster of the stages below for the backend, by estimated times.
template <class T>
std::unique_ptr<FourierStage<T>> makeFourierStage(KernelContext& context, Backend backend,
                                                  const FourierStageShape& shape,
                                                  ScratchPlan& plan);
template <class T>
std::unique_ptr<FourierStage<T>> makeDenseFourierStage(KernelContext& context, Backend backend,
                                                       const FourierStageShape& shape,
                                                       ScratchPlan& plan);
// Throws TENON_ERR_SUPPORT in a build without FFTW.
template <class T>
std::unique_ptr<FourierStage<T>> makeFftwStage(KernelContext& context,
                                               const FourierStageShape& shape, ScratchPlan& plan);
// Requires a context of the device, and a box with elements.
template <class T>
std::unique_ptr<FourierStage<T>> makeCufftStage(KernelContext& context,
                                                const FourierStageShape& shape, ScratchPlan& plan);

} // namespace tenon
