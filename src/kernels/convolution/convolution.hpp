// SPDX-License-Identifier: BSD-2-Clause
// Convolution (the correlation of machine learning) on one rank's arrays, with its two adjoints:
//     y[n,k,o]   = b[k] + sum over c, t of  w[k,c,t] x[n,c, o stride - padLow + t dilation],
//     dx[n,c,i]  = sum over k and all (o, t) that read i of  w[k,c,t] dy[n,k,o],
//     dw[k,c,t] += sum over n, o of  dy[n,k,o] x[n,c, o stride - padLow + t dilation],
//     db[k]     += sum over n, o of  dy[n,k,o].
// Input outside the held extents counts as zero. With groups the channels are divided into that
// many parts, each convolved independently: the sums over c, k run over the channels of one group.
#pragma once

#include "kernels/base/autotuner.hpp"
#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"

#include <memory>
#include <optional>

namespace tenon {

struct PointwiseFunction;

// Steps in memory, in elements, of an array [batch, channel, spatial...].
struct ImageStrides {
  Index batch = 0, channel = 0;
  std::array<Index, kMaxSpatial> space{};

  bool operator==(const ImageStrides&) const = default;
};

// The strides of a contiguous row-major array.
ImageStrides denseStrides(Index channels, const std::array<Index, kMaxSpatial>& space, int rank);

struct ConvolutionShape {
  Index batch, inChannels, outChannels;
  WindowShape window;
  Index groups = 1;                   // divides both numbers of channels
  std::optional<ImageStrides> y = {}; // strides of y and dy where they are a box of a larger array
  bool hasBias = false;               // forward() is mostly given a bias, with which it is measured
};

// All arrays are contiguous and row-major unless the shape says otherwise: x [batch, inChannels,
// in...], y [batch, outChannels, out...], w [outChannels, inChannels / groups, kernel...],
// b [outChannels]. One call at a time runs in a context.
template <class T>
class Convolution {
public:
  virtual ~Convolution() = default;
  // y = w * x + b, added to y where `accumulate` is set. b may be null.
  virtual void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) = 0;
  // y = f(w * x + b). Returns false, and does nothing, where that is no faster than one after the
  // other. On the device y is contiguous, and expect() is called first, before a measurement.
  virtual bool forwardThen(const T* /*x*/, const T* /*w*/, const T* /*b*/,
                           const PointwiseFunction& /*f*/, T* /*y*/) {
    return false;
  }
  virtual void expect(const PointwiseFunction& /*f*/) {}
  // dx is overwritten, with zeros where no output reads.
  virtual void adjointData(const T* w, const T* dy, T* dx) = 0;
  // Adds to dw and db. db may be null.
  virtual void adjointWeights(const T* x, const T* dy, T* dw, T* db) = 0;
  // The backend that computes: never Auto, and Blas where oneDNN was requested but the shape is
  // empty.
  virtual Backend backend() const = 0;
  // The implementation, for a view: "im2col+gemm", the vector instructions of the direct
  // convolution, or oneDNN's names of its implementations.
  virtual const char* implementation() const = 0;
  // The ways among which a measurement may choose; NULL: there is one way.
  virtual Autotuner* autotuner() { return nullptr; }
};

// Without a context the object has its own, of the host. Any extent may be 0: then forward gives
// the bias or nothing, and the adjoints give zeros or add nothing. TENON_ERR_ARG for a malformed
// shape; TENON_ERR_SUPPORT where Direct is requested with a stride above 1 in the last dimension,
// or on a processor without AVX2 and FMA, or NEON; for a backend of the other space; and where
// cuDNN has no engine.
template <class T>
std::unique_ptr<Convolution<T>> makeConvolution(const ConvolutionShape& shape, Backend backend,
                                                KernelContextPtr context = nullptr);

} // namespace tenon
