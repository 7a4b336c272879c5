// SPDX-License-Identifier: BSD-2-Clause
// Products of coefficients with weights of each degree (products.hpp). A few degrees at a time,
// those of a cache line, coefficients and weights are packed to planes of real and imaginary parts
// [degree, part, row, channel]; then each degree needs real matrix products only. With R + iI =
// (a + ib)(u + iv), the products of both parts of the left side with u, and with v, are two calls.
// On a device each order is a sum of products of arrays, as in a spectral convolution.
#include "kernels/sphere/products.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/fourier/fourier.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/sphere/rows.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Degrees that are packed together: the pairs of a cache line.
template <class T>
constexpr Index kDegreesOfLine = 64 / (2 * static_cast<Index>(sizeof(T)));

} // namespace

double DegreeProductShape::flops() const {
  double coefficients = 0;
  for (Index p = place; p < place + places; ++p)
    coefficients +=
        double(std::max<Index>(degree + degrees - std::max(degree, orderAtPlace(p, orders)), 0));
  return 8 * coefficients * double(batch * groups * inputs * outputs);
}

template <class T>
DegreeProducts<T>::DegreeProducts(KernelContextPtr context, Backend backend,
                                  const DegreeProductShape& shape)
    : context_(std::move(context)), backend_(resolveBackend<T>(backend, context_->space())),
      shape_(shape) {
  if (isOnDevice(*context_))
    return;
  constexpr Index kCount = 2 * kDegreesOfLine<T>;
  const int threads = context_->threads();
  ScratchPlan plan;
  x_ = plan.addForThreads<T>(threads, kCount * rows() * shape_.inputs);
  d_ = plan.addForThreads<T>(threads, kCount * rows() * shape_.outputs);
  w_ = plan.addForThreads<T>(threads, kCount * shape_.inputs * shape_.outputs);
  sums_ = plan.addForThreads<T>(threads, 2 * rows() * std::max(shape_.inputs, shape_.outputs));
  context_->reserve(plan);
}

// Calls body(work, group, first degree, number of degrees) on all threads, which divide the
// degrees.
template <class T>
template <class Body>
void DegreeProducts<T>::eachGroup(const Body& body) {
  const Index lines = (shape_.degrees + kDegreesOfLine<T> - 1) / kDegreesOfLine<T>,
              cost = kDegreesOfLine<T> * rows() * shape_.groups * (shape_.inputs + 1) *
                     (shape_.outputs + 1);
  parallelPieces(
      context_->threads(x_), lines, cost, [&body, this](int thread, Index begin, Index end) {
        const Work work{context_->scratch<T>(x_, thread), context_->scratch<T>(d_, thread),
                        context_->scratch<T>(w_, thread), context_->scratch<T>(sums_, thread)};
        for (Index line = begin; line < end; ++line)
          for (Index group = 0; group < shape_.groups; ++group)
            body(work, group, line * kDegreesOfLine<T>,
                 std::min(kDegreesOfLine<T>, shape_.degrees - line * kDegreesOfLine<T>));
      });
}

template <class T>
typename DegreeProducts<T>::Channels DegreeProducts<T>::inputsOf(Index group) const {
  return {shape_.groups * shape_.inputs, group * shape_.inputs, shape_.inputs};
}
template <class T>
typename DegreeProducts<T>::Channels DegreeProducts<T>::outputsOf(Index group) const {
  return {shape_.groups * shape_.outputs, group * shape_.outputs, shape_.outputs};
}

// to[degree, part, (sample, place), channel], with zeros for l < m.
template <class T>
void DegreeProducts<T>::pack(const T* from, const Channels& channels, Index first, Index count,
                             T* to) const {
  const Index plane = rows() * channels.count;
  for (Index n = 0; n < shape_.batch; ++n)
    for (Index p = 0; p < shape_.places; ++p) {
      const Index m = orderAtPlace(shape_.place + p, shape_.orders);
      T* row = to + (n * shape_.places + p) * channels.count;
      for (Index c = 0; c < channels.count; ++c) {
        const T* pair =
            from + (((n * channels.all + channels.first + c) * shape_.places + p) * shape_.degrees +
                    first) *
                       2;
        for (Index l = 0; l < count; ++l) {
          const bool isZero = shape_.degree + first + l < m;
          row[2 * l * plane + c] = isZero ? T(0) : pair[2 * l];
          row[(2 * l + 1) * plane + c] = isZero ? T(0) : pair[2 * l + 1];
        }
      }
    }
}

template <class T>
void DegreeProducts<T>::unpack(const T* from, const Channels& channels, Index first, Index count,
                               bool adds, T* to) const {
  const Index plane = rows() * channels.count;
  for (Index n = 0; n < shape_.batch; ++n)
    for (Index c = 0; c < channels.count; ++c)
      for (Index p = 0; p < shape_.places; ++p) {
        const T* row = from + (n * shape_.places + p) * channels.count + c;
        T* pair =
            to + (((n * channels.all + channels.first + c) * shape_.places + p) * shape_.degrees +
                  first) *
                     2;
        for (Index i = 0; i < 2 * count; ++i)
          pair[i] = (adds ? pair[i] : T(0)) + row[i * plane];
      }
}

// packed[degree, part, input, output] from the weights, or added to them if `to` is not null.
template <class T>
void DegreeProducts<T>::copyWeights(Index group, Index first, Index count, T* packed, const T* from,
                                    T* to) const {
  const Index plane = shape_.inputs * shape_.outputs;
  for (Index i = 0; i < shape_.inputs; ++i)
    for (Index o = 0; o < shape_.outputs; ++o) {
      const Index at = ((i * shape_.groups + group) * shape_.outputs + o) * shape_.degrees + first;
      T* row = packed + i * shape_.outputs + o;
      for (Index k = 0; k < 2 * count; ++k)
        if (to)
          to[2 * at + k] += row[k * plane];
        else
          row[k * plane] = from[2 * at + k];
    }
}

// result = left w for the planes of one degree, [part, row, to] = [part, row, from] [part, from,
// to]; with the conjugate transpose of w if `conjugates`, where w is [part, to, from].
template <class T>
void DegreeProducts<T>::combine(const Work& work, bool conjugates, const T* left, Index from,
                                const T* w, Index to, T* result) {
  const Index plane = rows() * to, ld = conjugates ? from : to;
  gemm<T>(*context_, backend_, false, conjugates, 2 * rows(), to, from, T(1), left, from, w, ld,
          T(0), result, to);
  gemm<T>(*context_, backend_, false, conjugates, 2 * rows(), to, from, T(1), left, from,
          w + from * to, ld, T(0), work.sums, to);
  const T sign = conjugates ? T(1) : T(-1);
  for (Index k = 0; k < plane; ++k) {
    result[k] += sign * work.sums[plane + k];
    result[plane + k] -= sign * work.sums[k];
  }
}

template <class T>
void DegreeProducts<T>::multiply(const T* x, const T* w, bool adds, T* d) {
  product(false, x, w, adds, d);
}

template <class T>
void DegreeProducts<T>::adjointX(const T* w, const T* dd, T* dx) {
  product(true, dd, w, false, dx);
}

// to = from w, from inputs to outputs; or with the conjugate transpose of w, from outputs to
// inputs.
template <class T>
void DegreeProducts<T>::product(bool conjugates, const T* from, const T* w, bool adds, T* to) {
  const Index inputs = shape_.inputs, outputs = shape_.outputs,
              read = conjugates ? outputs : inputs, written = conjugates ? inputs : outputs;
  if (isOnDevice(*context_)) {
    const Index numbers = 2 * rows() * shape_.groups * written * shape_.degrees, one = 1;
    if (!adds)
      fillBlock(*context_, 1, &numbers, T(0), to, &one);
    return onDevice(conjugates, from, w, to);
  }
  eachGroup([=, this](const Work& work, Index group, Index first, Index count) {
    T *left = conjugates ? work.d : work.x, *result = conjugates ? work.x : work.d;
    pack(from, conjugates ? outputsOf(group) : inputsOf(group), first, count, left);
    copyWeights(group, first, count, work.w, w, nullptr);
    for (Index l = 0; l < count; ++l)
      combine(work, conjugates, left + 2 * l * rows() * read, read,
              work.w + 2 * l * inputs * outputs, written, result + 2 * l * rows() * written);
    unpack(result, conjugates ? inputsOf(group) : outputsOf(group), first, count, adds, to);
  });
}

// dw = conj(x)' dd: the real part is the product of both planes of x with those of dd, one below
// the other.
template <class T>
void DegreeProducts<T>::adjointW(const T* x, const T* dd, T* dw) {
  const Index inputs = shape_.inputs, outputs = shape_.outputs;
  if (isOnDevice(*context_)) {
    const Index group = outputs * shape_.degrees * 2;
    for (Index g = 0; g < shape_.groups; ++g)
      for (Index n = 0; n < shape_.batch; ++n)
        for (Index p = 0; p < shape_.places; ++p) {
          const Index xRow = (n * shape_.groups + g) * inputs * shape_.places + p,
                      dRow = (n * shape_.groups + g) * outputs * shape_.places + p;
          multiplyModes<T>(*context_,
                           {.extent = {inputs, outputs, 1},
                            .a = {shape_.places, 0, 0},
                            .b = {0, shape_.places, 0},
                            .c = {shape_.groups * outputs, 1},
                            .modes = shape_.degrees},
                           /*conjugates=*/true, x + 2 * xRow * shape_.degrees,
                           dd + 2 * dRow * shape_.degrees, dw + g * group);
        }
    return;
  }
  eachGroup([=, this](const Work& work, Index group, Index first, Index count) {
    pack(x, inputsOf(group), first, count, work.x);
    pack(dd, outputsOf(group), first, count, work.d);
    for (Index l = 0; l < count; ++l) {
      const T *a = work.x + 2 * l * rows() * inputs, *imaginary = a + rows() * inputs,
              *u = work.d + 2 * l * rows() * outputs, *v = u + rows() * outputs;
      T* re = work.w + 2 * l * inputs * outputs;
      T* im = re + inputs * outputs;
      gemm<T>(*context_, backend_, true, false, inputs, outputs, 2 * rows(), T(1), a, inputs, u,
              outputs, T(0), re, outputs);
      gemm<T>(*context_, backend_, true, false, inputs, outputs, rows(), T(1), a, inputs, v,
              outputs, T(0), im, outputs);
      gemm<T>(*context_, backend_, true, false, inputs, outputs, rows(), T(-1), imaginary, inputs,
              u, outputs, T(1), im, outputs);
    }
    copyWeights(group, first, count, work.w, nullptr, dw);
  });
}

// to += from w, order by order; coefficients with l < m are 0 already.
template <class T>
void DegreeProducts<T>::onDevice(bool conjugates, const T* from, const T* w, T* to) {
  const Index places = shape_.places, degrees = shape_.degrees, groups = shape_.groups;
  const Index read = conjugates ? shape_.outputs : shape_.inputs,
              written = conjugates ? shape_.inputs : shape_.outputs;
  for (Index g = 0; g < groups; ++g)
    for (Index p = 0; p < places; ++p) {
      const Index ofInput = groups * shape_.outputs, fromAt = g * read * places + p,
                  toAt = g * written * places + p;
      multiplyModes<T>(*context_,
                       {.extent = {shape_.batch, written, read},
                        .a = {0, conjugates ? ofInput : 1, conjugates ? 1 : ofInput},
                        .b = {groups * read * places, 0, places},
                        .c = {groups * written * places, places},
                        .modes = degrees},
                       conjugates, w + 2 * g * shape_.outputs * degrees,
                       from + 2 * fromAt * degrees, to + 2 * toAt * degrees);
    }
}

template class DegreeProducts<float>;
template class DegreeProducts<double>;

} // namespace tenon
