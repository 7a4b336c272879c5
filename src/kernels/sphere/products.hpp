// SPDX-License-Identifier: BSD-2-Clause
// Products of spherical harmonic coefficients with weights of each degree, over channels: with
// complex numbers,
//
//   d[n,o,m,l] = sum over i of x[n,i,m,l] W[i,o,l],   l >= m
//
// and the two adjoints. Coefficients with l < m are not read, and are written as 0. For each degree
// this is a matrix product whose rows are the samples and orders.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"

namespace tenon {

// Channels are divided into `groups`, each with `inputs` and `outputs` channels. The block has
// `places` places of the folded orders from `place` on, and `degrees` degrees from `degree` on.
struct DegreeProductShape {
  Index batch = 0, inputs = 0, outputs = 0, groups = 1, orders = 0, place = 0, places = 0,
        degree = 0, degrees = 0;

  double flops() const;
};

// The product of coefficients and weights, with its adjoints.
template <class T>
class DegreeProducts {
public:
  DegreeProducts(KernelContextPtr context, Backend backend, const DegreeProductShape& shape);

  // x is [batch, groups inputs, places, degrees, 2], d the same with outputs, w [inputs, groups
  // outputs, degrees, 2].
  void multiply(const T* x, const T* w, bool adds, T* d);
  void adjointX(const T* w, const T* dd, T* dx); // dx = product with the conjugate of w
  void adjointW(const T* x, const T* dd, T* dw); // adds to dw

private:
  // The scratch of a thread, for a few degrees: planes of real and imaginary parts.
  struct Work {
    T *x, *d, *w, *sums;
  };
  struct Channels {
    Index all, first, count;
  };
  template <class Body>
  void eachGroup(const Body& body);
  Index rows() const noexcept { return shape_.batch * shape_.places; }
  Channels inputsOf(Index group) const;
  Channels outputsOf(Index group) const;
  void pack(const T* from, const Channels& channels, Index first, Index count, T* to) const;
  void unpack(const T* from, const Channels& channels, Index first, Index count, bool adds,
              T* to) const;
  void copyWeights(Index group, Index first, Index count, T* packed, const T* from, T* to) const;
  void combine(const Work& work, bool conjugates, const T* left, Index from, const T* w, Index to,
               T* result);
  void product(bool conjugates, const T* from, const T* w, bool adds, T* to);
  void onDevice(bool conjugates, const T* from, const T* w, T* to);

  KernelContextPtr context_;
  Backend backend_;
  DegreeProductShape shape_;
  ThreadScratch x_, d_, w_, sums_;
};

} // namespace tenon
