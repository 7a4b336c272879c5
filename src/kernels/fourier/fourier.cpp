// SPDX-License-Identifier: BSD-2-Clause
// Truncated Fourier transforms of real fields in several dimensions (definitions in fourier.hpp).
// For each dimension, the faster of a product with a dense matrix and a fast transform is selected,
// by estimated times; the dimensions are then transformed one after the other, each by a
// FourierStage. Analysis computes the modes from the elements. Synthesis is its adjoint, applied to
// modes that are multiplied by a diagonal matrix D of weights.
#include "kernels/fourier/fourier.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/fourier/stage.hpp"
#include "kernels/functors/fourier.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/slices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tenon {

namespace {

// Constants of the cost model, in ns, from measurements by tests/bench/fourier on a processor with
// AVX-512. A matrix takes `product` per multiplication and `calls` per index of the dimensions
// before the transformed one. A fast transform takes `lastElement` (last dimension) or `element`
// per element, and more for each prime factor for which FFTW has no special code, in proportion to
// the prime. Times are not measured at run time, so every run selects the same arithmetic.
struct FourierTimes {
  double product, calls, lastElement, element;
};
template <class T>
constexpr FourierTimes kTimes = {0.09, 140, 1.55, 1.6};
template <>
constexpr FourierTimes kTimes<float> = {0.04, 1100, 1.55, 0.8};
// Additional ns per element and unit of such a prime, in the last dimension and in the others.
constexpr double kLastPrime = 0.085, kPrime = 0.17;
constexpr Index kLargestCode = 13;     // largest prime for which FFTW has special code
constexpr Index kNearestCache = 32768; // bytes of the first-level cache
constexpr double kBeyondCache = 2.5;   // factor on the time of arrays that do not fit it

// The sum of the prime factors of the extent that are above kLargestCode.
Index sumOfLargePrimes(Index extent) {
  Index sum = 0;
  for (Index factor = 2; factor * factor <= extent; ++factor)
    for (; extent % factor == 0; extent /= factor)
      sum += factor > kLargestCode ? factor : 0;
  return sum + (extent > kLargestCode ? extent : 0);
}

// Estimated ns of a dimension on the host, per index of the dimensions before it.
template <class T>
double matrixTime(const FourierStageShape& shape) {
  const double products = double(shape.kept() * shape.dim.count * shape.inner);
  return shape.isReal ? kTimes<T>.product * products
                      : 2 * kTimes<T>.product * products + kTimes<T>.calls;
}

template <class T>
double fftTime(const FourierStageShape& shape) {
  const Index elements = shape.dim.extent * shape.inner;
  const double primes = double(sumOfLargePrimes(shape.dim.extent));
  if (shape.isReal)
    return double(elements) * (kTimes<T>.lastElement + kLastPrime * primes);
  // The lines before and after the transform, of pairs each.
  const Index bytes = 2 * 2 * elements * static_cast<Index>(sizeof(T));
  const bool isNear = bytes <= kNearestCache;
  return double(elements) * (kTimes<T>.element * (isNear ? 1 : kBeyondCache) + kPrime * primes);
}

// Costs on a device are measured in bytes moved: bytes read and written, or the arithmetic
// expressed in bytes if that takes longer.
constexpr double kFlopsForAByte = 10; // approximate flops of A100 and H200 per byte moved

template <class T>
double onDevice(double elements, double flops) {
  return std::max(elements * sizeof(T), flops / kFlopsForAByte);
}

// Bytes of the product with a matrix (dense.cpp). For real elements: they are read, and pairs are
// written. For pairs: i x is made (reads and writes 2 numbers per pair), the two products read x
// and i x, and write the result, the second one after reading it.
template <class T>
double matrixBytes(const FourierStageShape& shape) {
  const double elements = double(shape.dim.count * shape.inner),
               stored = double(shape.kept() * shape.inner),
               products = double(shape.kept()) * elements;
  return shape.isReal ? onDevice<T>(elements + 2 * stored, 4 * products)
                      : onDevice<T>(8 * elements + 6 * stored, 8 * products);
}

// Bytes for packing the lines, the transform, and unpacking: each reads and writes its array. A
// transform of N pairs takes 5 N log2(N) operations, and half of them for real elements.
template <class T>
double fftBytes(const FourierStageShape& shape) {
  const double elements = double(shape.dim.count * shape.inner),
               all = double(shape.dim.extent * shape.inner),
               stored = double(shape.kept() * shape.inner), steps = std::log2(shape.dim.extent);
  return shape.isReal ? onDevice<T>(elements + 3 * all + 4 * stored, 2.5 * all * steps)
                      : onDevice<T>(2 * elements + 6 * all + 4 * stored, 5 * all * steps);
}

// Whether the dimension is transformed by FFTW or cuFFT instead of a matrix.
template <class T>
bool isFastTransform(Backend backend, Space space, const FourierStageShape& shape) {
  // A box without elements needs no transform.
  if (shape.dim.count == 0)
    return false;
  if (space == Space::Device)
    return backend == Backend::Cufft ||
           (backend == Backend::Auto && fftBytes<T>(shape) < matrixBytes<T>(shape));
  return backend == Backend::Fftw ||
         (backend == Backend::Auto && hasFftw() && fftTime<T>(shape) < matrixTime<T>(shape));
}

template <class T>
std::unique_ptr<FourierStage<T>> makeFastStage(KernelContext& context,
                                               const FourierStageShape& shape, ScratchPlan& plan) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return makeCufftStage<T>(context, shape, plan);
  return makeFftwStage<T>(context, shape, plan);
}

} // namespace

template <class T>
std::unique_ptr<FourierStage<T>> makeFourierStage(KernelContext& context, Backend backend,
                                                  const FourierStageShape& shape,
                                                  ScratchPlan& plan) {
  return isFastTransform<T>(backend, context.space(), shape)
             ? makeFastStage<T>(context, shape, plan)
             : makeDenseFourierStage<T>(context, resolveBackend<T>(backend, context.space()), shape,
                                        plan);
}

template <class T>
TruncatedFourier<T>::TruncatedFourier(KernelContextPtr context, Backend backend,
                                      const std::vector<FourierDim>& dims, Index rows)
    : context_(std::move(context)) {
  double totalElements = 1;
  for (const FourierDim& dim : dims) {
    totalElements *= static_cast<double>(dim.extent);
    isEmpty_ = isEmpty_ || dim.count == 0;
  }
  const FourierDim& last = dims.back();
  // D: a mode k of the last dimension counts twice, also for its mirror image -k, which is its
  // conjugate and is not stored. Modes 0 and N/2 are their own mirror images.
  std::vector<T> weights;
  for (Index k = 0; k < last.modes; ++k)
    weights.push_back(T((k == 0 || 2 * k == last.extent ? 1 : 2) / totalElements));
  modesOfLast_ = last.modes;
  weights_ = {*context_, std::move(weights)};
  ScratchPlan plan;
  addStages(backend, dims, rows, plan);
  context_->reserve(plan);
}

template <class T>
TruncatedFourier<T>::~TruncatedFourier() = default;

template <class T>
void TruncatedFourier<T>::addStages(Backend backend, const std::vector<FourierDim>& dims,
                                    Index rows, ScratchPlan& plan) {
  if (isOnDevice(*context_))
    prepareGemm(*context_);
  // Analysis begins with the last dimension, whose real elements become a few complex pairs, and
  // ends with the first: each stage reduces the array for the next stage. Results alternate between
  // two areas of scratch memory.
  Index maxPairs = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    Index lines = 1;
    for (std::size_t outer = 0; outer < d; ++outer)
      lines *= dims[outer].count;
    // The later dimensions, transformed already, are the coefficients_ pairs of each index.
    const FourierStageShape shape{.dim = dims[d],
                                  .isReal = d + 1 == dims.size(),
                                  .outer = rows * lines,
                                  .inner = coefficients_};
    stages_.push_back(makeFourierStage<T>(*context_, backend, shape, plan));
    lines_.push_back(lines);
    coefficients_ *= shape.kept();
    maxPairs = std::max(maxPairs, shape.outer * shape.inner * shape.kept());
  }
  first_ = plan.add<T>(2 * maxPairs);
  second_ = plan.add<T>(2 * maxPairs);
}

// Multiplies by D. The modes are the last dimension of the arrays.
template <class T>
void TruncatedFourier<T>::scale(Index rows, const T* from, T* to) const {
  const Index modes = modesOfLast_, lines = rows * coefficients_ / modes;
  const functors::WeightedModes<T> weighted{weights_.data(), from, to, modes};
  if constexpr (kHasDevice)
    if (isOnDevice(*context_))
      return device::eachAlongAxis(*context_, {lines, modes, 1}, weighted);
  for (Index line = 0; line < lines; ++line)
    for (Index k = 0; k < modes; ++k)
      weighted.write(line * modes + k, weighted.read(line * modes + k, line));
}

template <class T>
void TruncatedFourier<T>::analyse(Index rows, const T* x, T* coefficients) {
  if (isEmpty_) { // this rank contributes nothing to the sums over the ranks
    const Index count = 2 * rows * coefficients_, one = 1;
    return fillBlock(*context_, 1, &count, T(0), coefficients, &one);
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    T* next = s + 1 == stages_.size() ? coefficients : scratch(s);
    stages_[s]->analyse(rows * lines_[s], x, next);
    x = next;
  }
}

template <class T>
void TruncatedFourier<T>::analyseAdjoint(Index rows, const T* coefficients, T* x) {
  if (isEmpty_)
    return;
  for (std::size_t s = stages_.size(); s-- > 0;) {
    T* next = s == 0 ? x : scratch(s);
    stages_[s]->adjoint(rows * lines_[s], coefficients, next);
    coefficients = next;
  }
}

template <class T>
void TruncatedFourier<T>::synthesise(Index rows, const T* coefficients, T* x) {
  T* scaled = scratch(stages_.size());
  scale(rows, coefficients, scaled);
  analyseAdjoint(rows, scaled, x);
}

template <class T>
void TruncatedFourier<T>::synthesiseAdjoint(Index rows, const T* x, T* coefficients) {
  analyse(rows, x, coefficients);
  scale(rows, coefficients, coefficients);
}

template <class T>
std::string TruncatedFourier<T>::methods() const {
  std::string text;
  for (std::size_t s = stages_.size(); s-- > 0;)
    text += std::string(text.empty() ? "" : ", ") + stages_[s]->method();
  return text;
}

namespace {

template <class T, class Pair>
void multiplyPairs(KernelContext& context, const ModeProducts& products, T sign, const T* a,
                   const T* b, T* c) {
  const Index m = products.modes, extent[] = {products.extent[0], products.extent[1], m};
  const Index as[] = {products.a[0] * m, products.a[1] * m, 1},
              bs[] = {products.b[0] * m, products.b[1] * m, 1},
              cs[] = {products.c[0] * m, products.c[1] * m, 1};
  if constexpr (kHasDevice)
    forEachBoxSlice<3>(3, extent, {as, bs, cs}, [&](const BoxSlice<3>& slice) {
      const functors::ComplexSums<T, Pair> sums{{3, slice.extent, {as, bs, cs}},
                                                products.extent[2],
                                                products.a[2] * m,
                                                products.b[2] * m,
                                                sign,
                                                reinterpret_cast<const Pair*>(a) + slice.offset[0],
                                                reinterpret_cast<const Pair*>(b) + slice.offset[1],
                                                reinterpret_cast<Pair*>(c) + slice.offset[2]};
      device::eachElement(context.stream(), sums.offsets.count(), sums);
    });
}

template <class T>
void multiplyOnDevice(KernelContext& context, const ModeProducts& products, T sign, const T* a,
                      const T* b, T* c) {
  using Whole = functors::WholePair<T>;
  const bool areAligned = std::ranges::all_of(std::array<const T*, 3>{a, b, c}, [](const T* x) {
    return reinterpret_cast<std::uintptr_t>(x) % alignof(Whole) == 0;
  });
  if (areAligned)
    multiplyPairs<T, Whole>(context, products, sign, a, b, c);
  else
    multiplyPairs<T, functors::LoosePair<T>>(context, products, sign, a, b, c);
}

} // namespace

template <class T>
void multiplyModes(KernelContext& context, const ModeProducts& products, bool conjugates,
                   const T* a, const T* b, T* c) {
  const T sign = conjugates ? T(-1) : T(1);
  if (isOnDevice(context))
    return multiplyOnDevice(context, products, sign, a, b, c);
  const Index m = 2 * products.modes;
  for (Index p = 0; p < products.extent[0]; ++p)
    for (Index q = 0; q < products.extent[1]; ++q)
      for (Index r = 0; r < products.extent[2]; ++r)
        eachElementOfHost(context, products.modes, 4,
                          functors::ComplexMultiplyAdd<T>{
                              sign,
                              a + (p * products.a[0] + q * products.a[1] + r * products.a[2]) * m,
                              b + (p * products.b[0] + q * products.b[1] + r * products.b[2]) * m,
                              c + (p * products.c[0] + q * products.c[1]) * m});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template class TruncatedFourier<T>;                                                              \
  template std::unique_ptr<FourierStage<T>> makeFourierStage(                                      \
      KernelContext&, Backend, const FourierStageShape&, ScratchPlan&);                            \
  template void multiplyModes<T>(KernelContext&, const ModeProducts&, bool, const T*, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
