// SPDX-License-Identifier: BSD-2-Clause
// A direct sum over arrays, band by band, on several threads: forward and the adjoint in the data.
#pragma once

#include "kernels/context.hpp"
#include "kernels/convolution_direct_bands.hpp"

namespace tenon {

template <class T>
class DirectOutputs {
public:
  DirectOutputs(const DirectSum& sum, const DirectKernels<T>& kernels, KernelContext& context);
  // b may be null.
  void run(KernelContext& context, const T* in, const T* w, const T* b, T* out,
           bool accumulate) const;

private:
  Index columns() const { return static_cast<Index>(bands_.offsets().size()); }
  void pack(KernelContext& context, const T* w, T* packed) const;
  void runBand(const Bands::Band& band, const T* padded, const T* packed, const T* b, T* out,
               bool accumulate) const;

  DirectSum sum_;
  const DirectKernels<T>* kernels_;
  Bands bands_;
  ThreadScratch padded_;
  Index packed_; // in the scratch
};

} // namespace tenon
