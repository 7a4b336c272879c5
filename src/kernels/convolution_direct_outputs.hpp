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
  struct Call {
    const T *packed, *b;
    T* out;
    bool accumulate;
  };
  Index columns() const { return static_cast<Index>(bands_.offsets().size()); }
  void pack(KernelContext& context, const T* w, T* packed) const;
  // Band i of all images and groups.
  Bands::Band bandAt(Index i) const {
    const Index perImage = bands_.perImage();
    return bands_.band(i / perImage / sum_.groups, i / perImage % sum_.groups, i % perImage);
  }
  // `padded` holds the band's input.
  void runBand(const Call& call, const Bands::Band& band, const T* padded) const;

  DirectSum sum_;
  const DirectKernels<T>* kernels_;
  Bands bands_;
  ThreadScratch padded_;
  Index packed_; // in the scratch
};

} // namespace tenon
