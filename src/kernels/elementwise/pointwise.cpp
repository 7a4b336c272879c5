// SPDX-License-Identifier: BSD-2-Clause
// Applies pointwise functions and vector operations to arrays. The formulas are functors
// (functors/pointwise.hpp) that the device compiles too, so both spaces compute the same values; on
// the host each is a loop without branches, which the compiler vectorises. The sine and the cosine
// have such a form for limited arguments only. An array is therefore processed in groups of
// elements: a group with an argument beyond the limit uses a second functor, which tests each
// element.
#include "kernels/elementwise/pointwise.hpp"

#include "kernels/functors/pointwise.hpp"
#include "kernels/functors/vector.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

using pointwise::Derivative;
using pointwise::Value;
using pointwise::withFunction;

namespace {

// Cost of one element of a function beyond a comparison or a product, in elements moved.
constexpr Index kTranscendentalCost = 8;

constexpr Index costOf(Pointwise function) {
  switch (function) {
  case Pointwise::Relu:
  case Pointwise::LeakyRelu:
  case Pointwise::Clamp:
  case Pointwise::Abs:
  case Pointwise::HardSwish:
  case Pointwise::NegativePart:
  case Pointwise::Scale:
  case Pointwise::Identity:
    return 1;
  default:
    return kTranscendentalCost;
  }
}

// Number of elements that are checked together for an argument outside the range of the branch-free
// form.
constexpr Index kGroup = 256;

// Some functions have a branch-free form for limited arguments only (the sine up to kMax).
template <class F>
constexpr bool hasLargeArguments = requires {
  F::kMax;
  typename F::Anywhere;
};

// Applies the functor makeFunctor(f) to the elements [begin, end) on one thread, where arguments[i]
// is the argument of f for element i. A group of kGroup elements with an argument that is too large
// for f uses a functor that selects the form per element. Thus the result of an element does not
// depend on its neighbours.
template <class F, class T, class MakeFunctor>
void applyToRange(Index begin, Index end, const F& f, const T* arguments, MakeFunctor makeFunctor) {
  if constexpr (hasLargeArguments<F>) {
    for (Index i = begin; i < end; i += kGroup) {
      const Index last = std::min(end, i + kGroup);
      T largest = 0;
      for (Index j = i; j < last; ++j)
        largest = std::max(largest, std::abs(arguments[j]));
      if (largest <= T(F::kMax))
        walkElements(i, last, makeFunctor(f));
      else
        walkElements(i, last, makeFunctor(pointwise::Everywhere<F>{}));
    }
  } else {
    walkElements(begin, end, makeFunctor(f));
  }
}

// Applies makeFunctor(f) to n elements in the space of the context. On the device each thread
// selects the form for its own element.
template <class F, class T, class MakeFunctor>
void applyToAll(KernelContext& context, Index n, const F& f, Index cost, const T* arguments,
                MakeFunctor makeFunctor) {
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      if constexpr (hasLargeArguments<F>)
        return eachElement(context, n, cost, makeFunctor(pointwise::Everywhere<F>{}));
      else
        return eachElement(context, n, cost, makeFunctor(f));
    }
  parallelRanges(context.threads(), n, cost, [=](Index begin, Index end) {
    applyToRange(begin, end, f, arguments, makeFunctor);
  });
}

// Number of adjacent columns that one thread sums together: a cache line of doubles, or more.
constexpr Index kColumnsOfGroup = 16;

} // namespace

template <class T>
void pointwiseForward(KernelContext& context, const PointwiseFunction& function, Index n,
                      const T* x, T* y) {
  withFunction(function, [=, &context, cost = costOf(function.kind)](auto f) {
    applyToAll(context, n, f, cost, x, [=](auto functor) {
      return Value<decltype(functor), T>{functor, x, y};
    });
  });
}

template <class T>
void blockPointwise(KernelContext& context, const PointwiseFunction& function, int rank,
                    const Index* extent, T* y, const Index* ys) {
  const Block block = normaliseBlock(rank, extent, ys, ys);
  if (block.empty)
    return;
  if (block.rank == 2 && block.extent[0] == 1 && (block.extent[1] == 1 || block.b[1] == 1))
    return pointwiseForward<T>(context, function, block.extent[1], y, y);
  if (isOnDevice(context))
    throw Error(TENON_ERR_INTERNAL, "a function of a part of an array on the device");
  withFunction(function, [=, &context, &block](auto f) {
    // y <- f(y) for the elements from this address on.
    const auto inPlace = [](T* element) {
      return [element](auto functor) {
        return Value<decltype(functor), T>{functor, element, element};
      };
    };
    forEachRowInParts(context, block, [=](Index n, Index, Index, Index at, Index step) {
      if (step == 1)
        return applyToRange<decltype(f), T>(0, n, f, y + at, inPlace(y + at));
      for (Index i = 0; i < n; ++i)
        applyToRange<decltype(f), T>(0, 1, f, y + at + i * step, inPlace(y + at + i * step));
    });
  });
}

template <class T>
void pointwiseDerivative(KernelContext& context, const PointwiseFunction& function, Index n,
                         const T* x, const T* y, const T* v, T* r) {
  withFunction(function, [=, &context, cost = costOf(function.kind)](auto f) {
    // The array from which the derivative is computed, indexed by pointwise::Reads; v stands for no
    // array.
    const T* points[] = {v, x, y};
    const T* point = points[int(f.kReads)];
    applyToAll(context, n, f, cost, point, [=](auto functor) {
      return Derivative<decltype(functor), T>{functor, point, v, r};
    });
  });
}

template <class T>
void axpby(KernelContext& context, Index n, T alpha, const T* x, T beta, T* y) {
  if (beta == T(0))
    eachElement(context, n, 1, functors::Scaled<T>{alpha, x, y});
  else
    eachElement(context, n, 1, functors::Axpby<T>{alpha, x, beta, y});
}

template <class T>
void product(KernelContext& context, Index n, const T* a, const T* b, bool adds, T* y) {
  if (adds)
    eachElement(context, n, 1, functors::AddedProduct<T>{a, b, y});
  else
    eachElement(context, n, 1, functors::Product<T>{a, b, y});
}

template <class T>
void addBias(KernelContext& context, Index rows, Index cols, const T* b, T* y) {
  if (isOnDevice(context)) {
    const Index extent[] = {rows, cols}, bs[] = {0, 1}, ys[] = {cols, 1};
    return blockCombine(context, Combine::Add, 2, extent, b, bs, y, ys);
  }
  parallelRanges(context.threads(), rows, cols, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < cols; ++c)
        y[r * cols + c] += b[c];
  });
}

template <class T>
void sumRows(KernelContext& context, Index rows, Index cols, const T* x, T* b) {
  if (isOnDevice(context)) {
    const Index extent[] = {rows, cols}, xs[] = {cols, 1}, bs[] = {0, 1};
    return blockMultiplyAdd<T>(context, 2, extent, 1, nullptr, nullptr, x, xs, b, bs);
  }
  const Index groups = (cols + kColumnsOfGroup - 1) / kColumnsOfGroup;
  parallelRanges(context.threads(), groups, rows * kColumnsOfGroup, [=](Index begin, Index end) {
    const Index last = std::min(cols, end * kColumnsOfGroup);
    for (Index r = 0; r < rows; ++r)
      for (Index c = begin * kColumnsOfGroup; c < last; ++c)
        b[c] += x[r * cols + c];
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void pointwiseForward<T>(KernelContext&, const PointwiseFunction&, Index, const T*,     \
                                    T*);                                                           \
  template void blockPointwise<T>(KernelContext&, const PointwiseFunction&, int, const Index*, T*, \
                                  const Index*);                                                   \
  template void pointwiseDerivative<T>(KernelContext&, const PointwiseFunction&, Index, const T*,  \
                                       const T*, const T*, T*);                                    \
  template void axpby<T>(KernelContext&, Index, T, const T*, T, T*);                               \
  template void product<T>(KernelContext&, Index, const T*, const T*, bool, T*);                   \
  template void addBias<T>(KernelContext&, Index, Index, const T*, T*);                            \
  template void sumRows<T>(KernelContext&, Index, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
