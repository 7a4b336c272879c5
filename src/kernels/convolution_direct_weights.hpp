// SPDX-License-Identifier: BSD-2-Clause
// The adjoint of a direct sum in its weights and biases. The images' bands fall into a number of parts
// that does not depend on the threads; each part has sums of its own, which are added in order.
#pragma once

#include "kernels/context.hpp"
#include "kernels/convolution_direct_bands.hpp"

namespace tenon {

template <class T>
class DirectWeights {
public:
  DirectWeights(const DirectSum& forward, const DirectKernels<T>& kernels, KernelContext& context);
  // Added to dw and db; db may be null.
  void run(KernelContext& context, const T* x, const T* dy, T* dw, T* db) const;

private:
  Index columns() const { return static_cast<Index>(bands_.offsets().size()); }
  Index allOutputs() const { return sum_.groups * sum_.outChannels; }
  // Of a part: the weights as dw has them, and the biases.
  Index sumsOfPart() const { return allOutputs() * (columns() + 1); }
  // `padded` holds the band's input.
  void runBand(const Bands::Band& band, const T* padded, const T* dy, T* gathered, T* sums) const;
  void gather(const Bands::Band& band, const T* dy, T* gathered) const;

  DirectSum sum_;
  const DirectKernels<T>* kernels_;
  Bands bands_;
  bool gathers_; // unless dy can be read where it is, its rows being whole vectors
  std::array<std::vector<OutputVector>, Bands::kShapes> gatheredVectors_;
  Index parts_;
  Index sums_; // in the scratch
  ThreadScratch padded_, gathered_;
};

} // namespace tenon
