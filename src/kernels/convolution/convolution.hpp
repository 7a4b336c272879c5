// SPDX-License-Identifier: BSD-2-Clause
// Convolution (the correlation of machine learning) of arrays in the memory of one process, with
// its two adjoints, which backpropagation applies. Nothing here uses MPI: the layer that calls it
// has received the halo of x before. With n an image of the batch, k and c an output and an input
// channel, t a tap (an element of the kernel), o an output position and i an input position,
//     y[n,k,o]   = b[k] + sum over c, t of  w[k,c,t] x[n,c, o stride - padLow + t dilation],
//     dx[n,c,i]  = sum over k and all (o, t) that read i of  w[k,c,t] dy[n,k,o],
//     dw[k,c,t] += sum over n, o of  dy[n,k,o] x[n,c, o stride - padLow + t dilation],
//     db[k]     += sum over n, o of  dy[n,k,o].
// Input outside the stored extents counts as zero. With g groups, the channels are divided into g
// parts that are convolved independently: the sums over c and k cover one group.
//
// A layer creates one object per shape by makeConvolution(), and calls it in each time step. The
// object uses the scratch memory and the threads or the device stream of a KernelContext.
#pragma once

#include "kernels/base/autotuner.hpp"
#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/convolution/window.hpp"

#include <memory>
#include <optional>

namespace tenon {

struct PointwiseFunction;

// Strides, in elements, of an array [batch, channel, spatial...].
struct ImageStrides {
  Index batch = 0, channel = 0;
  std::array<Index, kMaxSpatial> space{};

  bool operator==(const ImageStrides&) const = default;
};

// Strides of a contiguous row-major array.
ImageStrides denseStrides(Index channels, const std::array<Index, kMaxSpatial>& space, int rank);

// The local problem of a convolution kernel.
struct ConvolutionShape {
  Index batch, inChannels, outChannels;
  WindowShape window; // spatial extents of x, y and the kernel; stride, dilation and padding
  Index groups = 1;   // divides both numbers of channels
  std::optional<ImageStrides> y = {}; // strides of y and dy, if they are a box of a larger array
  bool hasBias = false;               // forward() usually has a bias; measurements then include it
};

// Arrays are contiguous and row-major unless the shape has strides: x [batch, inChannels, in...], y
// [batch, outChannels, out...], w [outChannels, inChannels / groups, kernel...], b [outChannels].
// One call at a time runs in a context.
template <class T>
class Convolution {
public:
  virtual ~Convolution() = default;
  // y = w * x + b, or y += w * x + b if `accumulate`. b can be null.
  virtual void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) = 0;
  // y = f(w * x + b) in one kernel, where f is an activation. Returns false and does nothing if
  // that is not faster than forward() followed by f, which the caller then calls. On the device y
  // must be contiguous, and the kernel exists only if expect(f) was called before
  // autotuner()->measure().
  virtual bool forwardThen(const T* /*x*/, const T* /*w*/, const T* /*b*/,
                           const PointwiseFunction& /*f*/, T* /*y*/) {
    return false;
  }
  // Announces the f of later calls of forwardThen(), which the measurement then includes.
  virtual void expect(const PointwiseFunction& /*f*/) {}
  // dx = the adjoint in the data; inputs that no output reads become zero.
  virtual void adjointData(const T* w, const T* dy, T* dx) = 0;
  // dw += the adjoint in the weights, db += the adjoint in the bias; db can be null.
  virtual void adjointWeights(const T* x, const T* dy, T* dw, T* db) = 0;
  // The backend in use: never Auto, and Blas if oneDNN was requested for an empty shape.
  virtual Backend backend() const = 0;
  // Name of the implementation, for the text that describes a layer: "im2col+gemm", the instruction
  // set of the direct convolution, or oneDNN's names of its implementations.
  virtual const char* implementation() const = 0;
  // The measurement that selects among several implementations (cuDNN), or NULL if there is only
  // one. choose() also reserves their memory: if there is a tuner, it is called before any pass.
  virtual Autotuner* autotuner() { return nullptr; }
};

// Without a context the object creates its own, on the host. Any extent can be 0: then forward()
// returns the bias or an empty array, and the adjoints return zeros. Throws TENON_ERR_ARG for a
// malformed shape. Throws TENON_ERR_SUPPORT if Direct is requested with a stride above 1 in the
// last dimension or on a processor without AVX2 and FMA, or NEON; for a backend of the other space;
// and if cuDNN has no engine.
template <class T>
std::unique_ptr<Convolution<T>> makeConvolution(const ConvolutionShape& shape, Backend backend,
                                                KernelContextPtr context = nullptr);

} // namespace tenon
