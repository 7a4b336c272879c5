// SPDX-License-Identifier: BSD-2-Clause
// Passes over the elements of an input x and a target t for losses (definitions in losses.hpp). A
// term, such as w (x - t)^2, is the contribution of one element or sample. In one pass, the value
// of each term is added to a sum and its derivative is written to the gradient array, so each array
// is read once. The sum is stored in the memory space of the kernels; the host does not wait for
// it.
#include "kernels/rows/losses.hpp"

#include "kernels/elementwise/first_bad.hpp"
#include "kernels/functors/losses.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/pairwise_sum.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

using functors::AbsoluteTerm;
using functors::HuberTerm;
using functors::SquaredTerm;

// Calls visit with the functor of the term: each kind of term has its own loop.
template <class Visit>
void withTerm(ErrorTerm term, double delta, const Visit& visit) {
  switch (term) {
  case ErrorTerm::Squared:
    return visit(SquaredTerm{});
  case ErrorTerm::Absolute:
    return visit(AbsoluteTerm{});
  default:
    return visit(HuberTerm{delta});
  }
}

// Calls body(r) for each row of cols elements, on several threads.
template <class Body>
void forEachSample(KernelContext& context, Index rows, Index cols, const Body& body) {
  parallelRanges(context.threads(), rows, 2 * cols, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      body(r);
  });
}

// to[r] = sum of term(r, c) over c < cols.
template <class T, class Term>
void sumRowTerms(KernelContext& context, Index rows, Index cols, const Term& term, T* to) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceEach<functors::AddTo>(context, rows, cols, term, 0.0,
                                                 functors::StoreGroup<T, double>{to});
  forEachSample(context, rows, cols, [=](Index r) {
    to[r] = T(sumOfRuns(Index(0), cols, [=](Index at, Index count) {
      return sumOfRun(at, count, [=](Index c) { return term(r, c); });
    }));
  });
}

} // namespace

template <class T, class U>
void errorTerms(KernelContext& context, ErrorTerm term, double delta, Index n, const T* x,
                const U* t, const ElementWeights<T>& weights, double scale, T* g, T* sum) {
  withTerm(term, delta, [&]<class LossTerm>(LossTerm lossTerm) {
    sumTerms(context, n, functors::WeightedError<LossTerm, T, U>{lossTerm, x, t, weights, scale, g},
             scale, sum);
  });
}

template <class T, class U>
void ensembleTerms(KernelContext& context, const Ensemble& ensemble, Index n, const T* x,
                   const U* t, const ElementWeights<T>& weights, double scale, T* g, T* sum) {
  sumTerms(context, n, functors::EnsembleTerm<T, U>{ensemble, x, t, weights, scale, g}, scale, sum);
}

template <class T, class U>
void relativeSums(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                  const ElementWeights<T>& weights, T* e, T* s) {
  // The caller reduces these sums over the ranks that share a sample, so roots and quotients are
  // computed later, in relativeTerms().
  sumRowTerms(context, rows, cols, functors::RowError<T, U>{x, t, weights, cols}, e);
  sumRowTerms(context, rows, cols, functors::RowTarget<T, U>{t, weights, cols}, s);
}

template <class T, class U>
void relativeTerms(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                   const ElementWeights<T>& elementWeights, const T* rowWeights, const T* e,
                   const T* s, const RelativeScale& scale, T* g, T* sum) {
  const functors::RelativeError<T> error{rowWeights, e, s, scale.scale, scale.epsilon};
  sumTerms(context, rows, error, scale.isCounted ? 1 : 0, sum);
  if (!g)
    return;
  functors::RelativeGradient<T, U> gradient{nullptr, x, t, elementWeights, rowWeights, g};
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      // A separate kernel computes the values that the elements of a sample share.
      double* const slopes = context.parts<double>(rows);
      device::eachElement(context.stream(), rows, functors::RelativeSlopes<T>{error, slopes});
      gradient.slopes = slopes;
      return device::eachAlongAxis(context, {rows, cols, 1}, gradient);
    }
  forEachSample(context, rows, cols, [=](Index r) {
    const double slope = error.slope(r);
    for (Index i = r * cols; i < (r + 1) * cols; ++i)
      g[i] = gradient.at(i, r, slope);
  });
}

namespace {

using Extents = std::array<Index, kMaxBlockRank>;

// Calls visit(offset in an array of `outer` extents, offset in an array of `inner` extents) for the
// first element of each row of the box of `count` elements, which begins at index 0 of both arrays.
template <class Visit>
void forEachRowOfBox(int rank, const Extents& count, const Index* outer, const Index* inner,
                     Visit visit) {
  Extents at{};
  for (int d = 0; d < rank; ++d)
    if (count[d] <= 0)
      return;
  for (;;) {
    Index a = 0, b = 0;
    for (int d = 0; d < rank; ++d) {
      a = a * outer[d] + at[d];
      b = b * inner[d] + at[d];
    }
    visit(a, b);
    int d = rank - 2;
    while (d >= 0 && ++at[d] == count[d])
      at[d--] = 0;
    if (d < 0)
      return;
  }
}

// The sum of the weighted squared differences, without the scale, and its derivative g.
template <class T, class U>
double differencesOfHost(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                         const ElementWeights<T>& weights, double scale, T* g) {
  Index elements = 1;
  for (int d = 0; d < box.rank; ++d)
    elements *= box.extent[d];
  if (g)
    parallelFill(context.threads(), elements, T(0), g);
  const auto error = [=](Index i) { return double(x[i]) - (t ? double(t[i]) : 0.0); };
  // Single-threaded, since neighbouring differences add to the same element of g.
  PairwiseSum sum;
  for (int d = box.first; d < box.rank; ++d) {
    Index step = 1;
    for (int inner = d + 1; inner < box.rank; ++inner)
      step *= box.extent[inner];
    Extents count;
    std::copy_n(box.owned, box.rank, count.begin());
    // The last owned element has a difference only if a halo element follows it.
    count[d] = std::min(box.owned[d], box.extent[d] - 1);
    const double inverse = 1 / box.spacing[d - box.first];
    forEachRowOfBox(box.rank, count, box.extent, box.owned, [&](Index row, Index ownedRow) {
      sum.add(sumOfRuns(Index(0), count[box.rank - 1], [&](Index begin, Index length) {
        return sumOfRun(begin, length, [&](Index c) {
          const Index low = row + c, high = low + step;
          const double w = weights.of(ownedRow + c);
          const double slope = w == 0 ? 0 : (error(high) - error(low)) * inverse;
          if (g) {
            const T contribution = T(2 * scale * w * slope * inverse);
            g[low] -= contribution;
            g[high] += contribution;
          }
          return w * slope * slope;
        });
      }));
    });
  }
  return sum.total();
}

// The same sum as one term per element, for the device, where each element gathers.
template <class T, class U>
functors::DifferenceTerm<T, U> differenceTerm(const DifferenceBox& box, const T* x, const U* t,
                                              const ElementWeights<T>& weights, double scale,
                                              T* g) {
  functors::DifferenceTerm<T, U> term{};
  term.ndim = box.rank;
  term.firstDim = box.first;
  Index step = 1, ownedStep = 1;
  for (int d = box.rank - 1; d >= 0; --d) {
    term.perExtent[d] = divisorOf(box.extent[d]);
    term.extent[d] = box.extent[d];
    term.owned[d] = box.owned[d];
    term.step[d] = std::exchange(step, step * box.extent[d]);
    term.ownedStep[d] = std::exchange(ownedStep, ownedStep * box.owned[d]);
    term.inverse[d] = d < box.first ? 0 : 1 / box.spacing[d - box.first];
  }
  term.x = x;
  term.t = t;
  term.weights = weights;
  term.scale = scale;
  term.g = g;
  return term;
}

} // namespace

template <class T, class U>
void differenceTerms(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                     const ElementWeights<T>& weights, double scale, T* g, T* sum) {
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      const Index elements =
          std::accumulate(box.extent, box.extent + box.rank, Index(1), std::multiplies<>());
      checkElementCount(elements, "a gradient penalty");
      return sumTerms(context, elements, differenceTerm(box, x, t, weights, scale, g), scale, sum);
    }
  functors::StoreScaled<T>{scale, sum}(0, differencesOfHost(context, box, x, t, weights, scale, g));
}

template <class T>
Index firstBadWeight(KernelContext& context, Index n, const T* weights) {
  return firstBad(context, n, functors::BadWeight<T>{weights, n});
}

template <class T>
void storeSlopeDot(KernelContext& context, Index n, const T* slope, const T* dx, T* sum) {
  sumTerms(context, n, functors::SlopeDot<T>{slope, dx}, 1, sum);
}

template <class T>
void scaleByNumber(KernelContext& context, Index n, const T* factor, const T* x, T* y) {
  eachElement(context, n, 1, functors::ScaledByNumber<T>{factor, x, y});
}

#define TENON_INSTANTIATE(T, U)                                                                    \
  template void errorTerms<T, U>(KernelContext&, ErrorTerm, double, Index, const T*, const U*,     \
                                 const ElementWeights<T>&, double, T*, T*);                        \
  template void ensembleTerms<T, U>(KernelContext&, const Ensemble&, Index, const T*, const U*,    \
                                    const ElementWeights<T>&, double, T*, T*);                     \
  template void relativeSums<T, U>(KernelContext&, Index, Index, const T*, const U*,               \
                                   const ElementWeights<T>&, T*, T*);                              \
  template void relativeTerms<T, U>(KernelContext&, Index, Index, const T*, const U*,              \
                                    const ElementWeights<T>&, const T*, const T*, const T*,        \
                                    const RelativeScale&, T*, T*);                                 \
  template void differenceTerms<T, U>(KernelContext&, const DifferenceBox&, const T*, const U*,    \
                                      const ElementWeights<T>&, double, T*, T*);
TENON_INSTANTIATE(float, float)
TENON_INSTANTIATE(float, double)
TENON_INSTANTIATE(double, float)
TENON_INSTANTIATE(double, double)
#undef TENON_INSTANTIATE
#define TENON_INSTANTIATE(T)                                                                       \
  template Index firstBadWeight<T>(KernelContext&, Index, const T*);                               \
  template void storeSlopeDot<T>(KernelContext&, Index, const T*, const T*, T*);                   \
  template void scaleByNumber<T>(KernelContext&, Index, const T*, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
