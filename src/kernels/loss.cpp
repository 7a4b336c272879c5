// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/loss.hpp"

#include "kernels/block.hpp"
#include "kernels/pairwise_sum.hpp"

#include <array>
#include <cmath>

namespace tenon {

namespace {

constexpr int kLanes = 8;

// The sum of term(i) over a run, in lanes that are added at the end.
template <class Term>
double sumOfRun(Index at, Index count, const Term& term) {
  double lane[kLanes] = {};
  for (Index i = 0; i < count; ++i)
    lane[i % kLanes] += term(at + i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

struct ValueAndSlope {
  double value, slope;
};

struct SquaredTerm {
  ValueAndSlope operator()(double d) const { return {d * d, 2 * d}; }
};
struct AbsoluteTerm {
  ValueAndSlope operator()(double d) const {
    return {std::abs(d), d > 0 ? 1.0 : d < 0 ? -1.0 : d - d}; // NaN stays
  }
};
struct HuberTerm {
  double delta;
  ValueAndSlope operator()(double d) const {
    if (std::abs(d) <= delta)
      return {d * d / 2, d};
    return {delta * (std::abs(d) - delta / 2), d > 0 ? delta : d < 0 ? -delta : d};
  }
};

template <class Visit>
double withTerm(ErrorTerm term, double delta, const Visit& visit) {
  switch (term) {
  case ErrorTerm::Squared:
    return visit(SquaredTerm{});
  case ErrorTerm::Absolute:
    return visit(AbsoluteTerm{});
  default:
    return visit(HuberTerm{delta});
  }
}

// body(r) for each row, of cols cells.
template <class Body>
void forEachSample(KernelContext& context, Index rows, Index cols, const Body& body) {
  parallelRanges(context.threads(), rows, 2 * cols, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      body(r);
  });
}

} // namespace

template <class T, class U>
double errorTerms(KernelContext& context, ErrorTerm term, double delta, Index n, const T* x,
                  const U* t, const CellWeights<T>& weights, double scale, T* g) {
  return scale * withTerm(term, delta, [&](auto of) {
           return sumOfRuns(context, n, [=](Index at, Index count) {
             return sumOfRun(at, count, [=](Index i) {
               const double w = weights.of(i);
               const ValueAndSlope l = of(double(x[i]) - double(t[i]));
               if (g)
                 g[i] = T(scale * w * l.slope);
               return w * l.value;
             });
           });
         });
}

template <class T, class U>
void relativeSums(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                  const T* weights, T* e, T* s) {
  forEachSample(context, rows, cols, [=](Index r) {
    const auto sumOf = [=](auto square) {
      return sumOfRuns(r * cols, (r + 1) * cols, [=](Index at, Index count) {
        return sumOfRun(at, count,
                        [=](Index i) { return (weights ? double(weights[i]) : 1.0) * square(i); });
      });
    };
    e[r] = T(sumOf([=](Index i) {
      const double d = double(x[i]) - double(t[i]);
      return d * d;
    }));
    s[r] = T(sumOf([=](Index i) { return double(t[i]) * double(t[i]); }));
  });
}

template <class T, class U>
double relativeTerms(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                     const T* cellWeights, const T* rowWeights, const T* e, const T* s,
                     const RelativeScale& scale, T* g) {
  const auto factor = [=](Index r) {
    return scale.scale * (rowWeights ? double(rowWeights[r]) : 1.0) /
           (std::sqrt(double(s[r])) + scale.epsilon);
  };
  if (g)
    forEachSample(context, rows, cols, [=](Index r) {
      const double error = std::sqrt(double(e[r])), by = error == 0 ? 0 : factor(r) / error;
      for (Index i = r * cols; i < (r + 1) * cols; ++i)
        g[i] = T(by * (cellWeights ? double(cellWeights[i]) : 1.0) * (double(x[i]) - double(t[i])));
    });
  return sumOfRuns(context, rows, [=](Index at, Index count) {
    return sumOfRun(at, count, [=](Index r) { return factor(r) * std::sqrt(double(e[r])); });
  });
}

namespace {

using Extents = std::array<Index, kMaxBlockRank>;

// Cells of a box of two arrays, row by row: visit(offset in the array of `outer` extents, offset in
// that of `inner` ones) for the begin of each row of `count` cells.
template <class Visit>
void forEachLowRow(int rank, const Extents& count, const Index* outer, const Index* inner,
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

} // namespace

template <class T, class U>
double differenceTerms(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                       const CellWeights<T>& weights, double scale, T* g) {
  Index all = 1;
  for (int d = 0; d < box.rank; ++d)
    all *= box.extent[d];
  if (g)
    parallelFill(context.threads(), all, T(0), g);
  const auto error = [=](Index i) { return double(x[i]) - (t ? double(t[i]) : 0.0); };
  PairwiseSum sum;
  for (int d = box.first; d < box.rank; ++d) {
    Index step = 1;
    for (int later = d + 1; later < box.rank; ++later)
      step *= box.extent[later];
    Extents count;
    std::copy_n(box.owned, box.rank, count.begin());
    count[d] = std::min(box.owned[d], box.extent[d] - 1);
    const double inverse = 1 / box.spacing[d - box.first];
    forEachLowRow(box.rank, count, box.extent, box.owned, [&](Index row, Index ownedRow) {
      sum.add(sumOfRuns(Index(0), count[box.rank - 1], [&](Index begin, Index length) {
        return sumOfRun(begin, length, [&](Index c) {
          const Index low = row + c, high = low + step;
          const double w = weights.of(ownedRow + c), slope = (error(high) - error(low)) * inverse;
          if (g) {
            const T each = T(2 * scale * w * slope * inverse);
            g[low] -= each;
            g[high] += each;
          }
          return w * slope * slope;
        });
      }));
    });
  }
  return scale * sum.total();
}

#define TENON_INSTANTIATE(T, U)                                                                    \
  template double errorTerms<T, U>(KernelContext&, ErrorTerm, double, Index, const T*, const U*,   \
                                   const CellWeights<T>&, double, T*);                             \
  template void relativeSums<T, U>(KernelContext&, Index, Index, const T*, const U*, const T*, T*, \
                                   T*);                                                            \
  template double relativeTerms<T, U>(KernelContext&, Index, Index, const T*, const U*, const T*,  \
                                      const T*, const T*, const T*, const RelativeScale&, T*);     \
  template double differenceTerms<T, U>(KernelContext&, const DifferenceBox&, const T*, const U*,  \
                                        const CellWeights<T>&, double, T*);
TENON_INSTANTIATE(float, float)
TENON_INSTANTIATE(float, double)
TENON_INSTANTIATE(double, float)
TENON_INSTANTIATE(double, double)
#undef TENON_INSTANTIATE

} // namespace tenon
