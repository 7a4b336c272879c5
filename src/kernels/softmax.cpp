// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/softmax.hpp"

#include "kernels/maximum.hpp"
#include "kernels/parallel.hpp"

#include <cmath>
#include <limits>

namespace tenon {

namespace {

constexpr Index kExponentialCost = 8; // work of an exponential, in elements moved

// body(row) for each row, of cols elements of that cost.
template <class Body>
void forEachRow(Index rows, Index cols, Index cost, Body body) {
  parallelRanges(kernelThreads(), rows, cols * cost, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      body(r);
  });
}

} // namespace

template <class T>
void rowMax(Index rows, Index cols, const T* z, T* m) {
  forEachRow(rows, cols, 1, [=](Index r) {
    T best = -std::numeric_limits<T>::infinity();
    for (Index c = 0; c < cols; ++c)
      if (beats(z[r * cols + c], best))
        best = z[r * cols + c];
    m[r] = best;
  });
}

template <class T>
void sumExpShifted(Index rows, Index cols, const T* z, const T* m, T* s) {
  forEachRow(rows, cols, kExponentialCost, [=](Index r) {
    double sum = 0;
    for (Index c = 0; c < cols; ++c)
      sum += double(std::exp(z[r * cols + c] - m[r]));
    s[r] = T(sum);
  });
}

template <class T>
void pickLabel(Index rows, Index cols, const T* z, const std::int64_t* label, Index firstClass,
               T* p) {
  for (Index r = 0; r < rows; ++r) {
    const Index c = label[r] - firstClass;
    p[r] = c >= 0 && c < cols ? z[r * cols + c] : T(0);
  }
}

template <class T>
void softmaxFromParts(Index rows, Index cols, const T* z, const T* m, const T* s, T* p) {
  forEachRow(rows, cols, kExponentialCost, [=](Index r) {
    for (Index c = 0; c < cols; ++c)
      p[r * cols + c] = std::exp(z[r * cols + c] - m[r]) / s[r];
  });
}

template <class T>
void crossEntropyAdjoint(Index rows, Index cols, const T* z, const T* m, const T* s,
                         const std::int64_t* label, Index firstClass, const T* dloss, T* dz) {
  forEachRow(rows, cols, kExponentialCost, [=](Index r) {
    for (Index c = 0; c < cols; ++c) {
      const T softmax = std::exp(z[r * cols + c] - m[r]) / s[r];
      dz[r * cols + c] = dloss[r] * (firstClass + c == label[r] ? softmax - T(1) : softmax);
    }
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void rowMax<T>(Index, Index, const T*, T*);                                             \
  template void sumExpShifted<T>(Index, Index, const T*, const T*, T*);                            \
  template void pickLabel<T>(Index, Index, const T*, const std::int64_t*, Index, T*);              \
  template void softmaxFromParts<T>(Index, Index, const T*, const T*, const T*, T*);               \
  template void crossEntropyAdjoint<T>(Index, Index, const T*, const T*, const T*,                 \
                                       const std::int64_t*, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
