// SPDX-License-Identifier: BSD-2-Clause
// Normalisation of the rows of an array by the mean and variance of groups of rows (formulas in
// normalisation.hpp), on the host; in a context of the device every call is passed to DeviceRows. A
// row is divided into blocks that fit the first-level cache. Sums within a block are computed in
// type T, in vector lanes (independent partial sums, one per element of several vectors); the sums
// of blocks, rows and groups are added in double and in a fixed order. A Partial is a number of
// elements, their mean and their second moment; TwoSums are two sums that one pass computes
// together.
#include "kernels/rows/normalisation.hpp"

#include "kernels/base/independent.hpp"
#include "kernels/base/instruction_set.hpp"
#include "kernels/functors/part_moments.hpp"
#include "kernels/rows/normalisation_device.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

using functors::Partial;
using functors::TwoSums;

// Elements of a block, which is read twice: few enough to stay in the first-level cache between the
// two passes, and enough to amortise the sums of the lanes.
template <class T>
constexpr Index kBlock = 4096 / static_cast<Index>(sizeof(T));
constexpr Index kLanes = 32; // several vectors, whose sums are independent

// The sum of the lanes, as a tree.
template <class T>
double sumOfLanes(T (&lane)[kLanes]) {
  for (Index half = kLanes / 2; half > 0; half /= 2)
    for (Index j = 0; j < half; ++j)
      lane[j] += lane[j + half];
  return double(lane[0]);
}

// The sums of both components of term(i) over begin <= i < end.
template <class T, class Term>
TwoSums blockSums(Index begin, Index end, const Term& term) {
  T first[kLanes] = {}, second[kLanes] = {};
  Index i = begin;
  for (; i + kLanes <= end; i += kLanes)
    for (Index j = 0; j < kLanes; ++j) {
      const auto [a, b] = term(i + j);
      first[j] += a;
      second[j] += b;
    }
  TwoSums sums{};
  for (; i < end; ++i) {
    const auto [a, b] = term(i);
    sums.first += double(a);
    sums.second += double(b);
  }
  sums.first += sumOfLanes(first);
  sums.second += sumOfLanes(second);
  return sums;
}

// The two terms of an element.
template <class T>
struct Pair {
  T first, second;
};

// The sums over a row, block by block; afterBlock(begin, end) is called after each block, while it
// is in the cache.
template <class T, class Term, class AfterBlock>
TwoSums rowSums(Index length, const Term& term, const AfterBlock& afterBlock) {
  TwoSums sums{};
  for (Index begin = 0; begin < length; begin += kBlock<T>) {
    const Index end = std::min(length, begin + kBlock<T>);
    const TwoSums block = blockSums<T>(begin, end, term);
    sums.first += block.first;
    sums.second += block.second;
    afterBlock(begin, end);
  }
  return sums;
}

// The sum of a block in lanes, for the mean of a first block.
template <class T>
double blockSum(Index begin, Index end, const T* x) {
  T lane[kLanes] = {};
  Index i = begin;
  for (; i + kLanes <= end; i += kLanes)
    for (Index j = 0; j < kLanes; ++j)
      lane[j] += x[i + j];
  double sum = 0;
  for (; i < end; ++i)
    sum += double(x[i]);
  return sum + sumOfLanes(lane);
}

// Mean and second moment (the sum of squared deviations from the mean) of a row, in one pass over
// memory. The squares of a block are summed about a reference: the mean of all previous blocks, or
// for the first block its own mean. They are then corrected to the mean of the block by subtracting
// count * offset^2 (written as offset times the sum of the deviations, which is count * offset). If
// a block's mean is far from the reference, this cancellation is harmless: adding the block to the
// previous ones adds a term in offset^2 again, and the subtracted sum is at most twice as large as
// this term.
template <class T>
Partial momentsOfRow(Index length, const T* x) {
  Partial sum{};
  for (Index begin = 0; begin < length; begin += kBlock<T>) {
    const Index end = std::min(length, begin + kBlock<T>);
    const double count = double(end - begin);
    const T mean = static_cast<T>(begin > 0 ? sum.mean : blockSum(begin, end, x) / count);
    const TwoSums sums = blockSums<T>(begin, end, [=](Index i) {
      const T d = x[i] - mean;
      return Pair<T>{d, d * d};
    });
    const double offset = sums.first / count;
    sum.add({count, double(mean) + offset, sums.second - offset * sums.first});
  }
  return sum;
}

double scaleOf(double variance, double epsilon) {
  return 1 / std::sqrt(variance + epsilon);
}

// Calls the body with weight(i), a function of the position in row r. The three kinds of weights
// are separate loops, without a test per element.
template <class T, class Body>
void withWeights(const RowGroups& groups, Index row, const T* weight, const Body& body) {
  switch (weight ? groups.weights : RowWeights::None) {
  case RowWeights::OfPosition:
    return body([=](Index i) { return weight[i]; });
  case RowWeights::OfRow:
    return body([value = weight[groups.weightOf[row]]](Index) { return value; });
  case RowWeights::None:
    return body([](Index) { return T(1); });
  }
}

// Calls body(r) for each row, vectorised and on several threads.
template <class Body>
void forEachRow(KernelContext& context, const RowGroups& groups, const Body& body) {
  parallelRanges(context.threads(), groups.rows, 2 * groups.length, [&](Index begin, Index end) {
    vectorised([&, begin, end] {
      for (Index r = begin; r < end; ++r)
        body(r);
    });
  });
}

} // namespace

std::vector<double> RowGroups::counts() const {
  std::vector<double> counts(groups, 0);
  for (Index group : groupOf)
    counts[group] += double(length);
  return counts;
}

RowKernels::RowKernels(RowGroups groups, KernelContextPtr context)
    : groups_(std::move(groups)), counts_(groups_.counts()), context_(std::move(context)) {
  // Scratch on the host: moments, or two sums, of rows and then of groups. On the device: a scale
  // for each group.
  const bool onDevice = isOnDevice(*context_);
  ScratchPlan plan;
  scratch_ = onDevice ? plan.add<double>(groups_.groups)
                      : plan.add<Partial>(groups_.rows + groups_.groups);
  context_->reserve(plan);
  if (onDevice)
    device_ = std::make_unique<DeviceRows>(groups_, *context_, scratch_);
}

RowKernels::~RowKernels() = default;

// Calls put(group, sum of factor(row) times the row sums in the scratch) for each group. Rows are
// added in order, by one thread.
template <class Factor, class Put>
void RowKernels::putByGroup(const Factor& factor, const Put& put) {
  const TwoSums* rowSums = context_->scratch<TwoSums>(scratch_);
  TwoSums* groupSums = context_->scratch<TwoSums>(scratch_) + groups_.rows;
  std::fill_n(groupSums, groups_.groups, TwoSums());
  for (Index r = 0; r < groups_.rows; ++r) {
    TwoSums& sums = groupSums[groups_.groupOf[r]];
    sums.first += factor(r) * rowSums[r].first;
    sums.second += factor(r) * rowSums[r].second;
  }
  for (Index g = 0; g < groups_.groups; ++g)
    put(g, groupSums[g]);
}

template <class T>
void RowKernels::moments(const T* x, Moments<T> result) {
  if (device_)
    return device_->moments(x, result);
  Partial* rowMoments = context_->scratch<Partial>(scratch_);
  Partial* groupMoments = rowMoments + groups_.rows;
  const Index length = groups_.length;
  forEachRow(*context_, groups_,
             [&](Index r) { rowMoments[r] = momentsOfRow(length, x + r * length); });
  std::fill_n(groupMoments, groups_.groups, Partial());
  for (Index r = 0; r < groups_.rows; ++r)
    groupMoments[groups_.groupOf[r]].add(rowMoments[r]);
  for (Index g = 0; g < groups_.groups; ++g) {
    result.mean[g] = static_cast<T>(groupMoments[g].mean);
    result.second[g] = static_cast<T>(groupMoments[g].second);
  }
}

template <class T>
void RowKernels::momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> dMoments) {
  if (device_)
    return device_->momentsTangent(x, mean, dx, dMoments);
  const Index length = groups_.length;
  TwoSums* sumsOfRows = context_->scratch<TwoSums>(scratch_);
  forEachRow(*context_, groups_, [&](Index r) {
    const T *in = x + r * length, *din = dx + r * length, m = mean[groups_.groupOf[r]];
    sumsOfRows[r] = rowSums<T>(
        length,
        [=](Index i) {
          return Pair<T>{din[i], (in[i] - m) * din[i]};
        },
        /*afterBlock=*/[](Index, Index) {});
  });
  putByGroup([](Index) { return 1.0; },
             [&](Index g, const TwoSums& sums) {
               dMoments.mean[g] = static_cast<T>(functors::perCount(sums.first, counts_[g]));
               dMoments.second[g] = static_cast<T>(2 * sums.second);
             });
}

template <class T>
void RowKernels::momentsAdjoint(const T* x, const T* mean, Moments<const T> dMoments, bool adds,
                                T* dx) {
  if (device_)
    return device_->momentsAdjoint(x, mean, dMoments, adds, dx);
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const T m = mean[g], slope = 2 * dMoments.second[g];
    // d mean / dx = 1 / count, and d second / dx = 2 (x - mean): the contribution through the mean
    // sums to 0.
    const T level = static_cast<T>(functors::perCount(double(dMoments.mean[g]), counts_[g]));
    const T* in = x + r * length;
    T* out = dx + r * length;
    if (adds) {
      TENON_INDEPENDENT_ITERATIONS
      for (Index i = 0; i < length; ++i)
        out[i] += level + slope * (in[i] - m);
    } else {
      TENON_INDEPENDENT_ITERATIONS
      for (Index i = 0; i < length; ++i)
        out[i] = level + slope * (in[i] - m);
    }
  });
}

template <class T>
void RowKernels::normalise(const NormalisePoint<T>& point, const T* bias, T* y, T least) {
  if (device_)
    return device_->normalise(point, bias, least, y);
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const T scale = static_cast<T>(scaleOf(point.moments.second[g], point.epsilon));
    const T mean = point.moments.mean[g];
    const T* in = point.x + r * length;
    T* out = y + r * length;
    withWeights(groups_, r, point.weight, [&](auto weight) {
      withWeights(groups_, r, bias, [&](auto shift) {
        TENON_INDEPENDENT_ITERATIONS
        for (Index i = 0; i < length; ++i) {
          const T value = (in[i] - mean) * (scale * weight(i)) + (bias ? shift(i) : T(0));
          out[i] = value < least ? least : value;
        }
      });
    });
  });
}

template <class T>
void RowKernels::normaliseTangent(const NormalisePoint<T>& point, const T* dx,
                                  Moments<const T> moments, const T* weight, const T* bias, T* dy) {
  if (device_)
    return device_->normaliseTangent(point, dx, moments, weight, bias, dy);
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const double scale = scaleOf(point.moments.second[g], point.epsilon);
    const double slope = moments.second ? -0.5 * scale * scale * scale * moments.second[g] : 0;
    const T s = static_cast<T>(scale), ds = static_cast<T>(slope), mean = point.moments.mean[g];
    const T dMean = moments.mean ? moments.mean[g] : T(0);
    const T *in = point.x + r * length, *din = dx ? dx + r * length : nullptr;
    T* out = dy + r * length;
    // Up to three short loops over the row, which is in the cache, instead of one loop per
    // combination of directions.
    const auto forEachElement = [&](const T* values, auto add) {
      withWeights(groups_, r, values, [&](auto value) {
        for (Index i = 0; i < length; ++i)
          add(i, value(i));
      });
    };
    forEachElement(point.weight, [=](Index i, T w) {
      out[i] = w * (s * ((din ? din[i] : T(0)) - dMean) + (in[i] - mean) * ds);
    });
    if (weight)
      forEachElement(weight, [=](Index i, T dw) { out[i] += dw * s * (in[i] - mean); });
    if (bias)
      forEachElement(bias, [=](Index i, T db) { out[i] += db; });
  });
}

// One pass writes dx and computes the sums for the cotangents of the moments. A weight per row
// multiplies the sums afterwards, since the cotangents of the parameters are the same sums without
// the weight.
template <class T>
void RowKernels::normaliseAdjoint(const NormalisePoint<T>& point, const T* dy,
                                  const NormaliseCotangents<T>& d) {
  if (device_)
    return device_->normaliseAdjoint(point, dy, d);
  const Index length = groups_.length;
  const bool isByPosition = groups_.weights == RowWeights::OfPosition;
  const T* variance = point.moments.second;
  const auto scaleOfGroup = [&](Index g) { return scaleOf(variance[g], point.epsilon); };
  const auto weightOfRow = [&](Index r) {
    return point.weight && groups_.weights == RowWeights::OfRow
               ? double(point.weight[groups_.weightOf[r]])
               : 1.0;
  };
  TwoSums* sumsOfRows = context_->scratch<TwoSums>(scratch_);
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const T mean = point.moments.mean[g], scale = static_cast<T>(scaleOfGroup(g));
    const T *in = point.x + r * length, *dOut = dy + r * length;
    T* dIn = d.x ? d.x + r * length : nullptr;
    withWeights(groups_, r, point.weight, [&](auto weight) {
      sumsOfRows[r] = rowSums<T>(
          length,
          [=](Index i) {
            const T product = isByPosition ? weight(i) * dOut[i] : dOut[i];
            return Pair<T>{product, product * (in[i] - mean)};
          },
          [=](Index begin, Index end) {
            if (dIn) {
              TENON_INDEPENDENT_ITERATIONS
              for (Index i = begin; i < end; ++i)
                dIn[i] = scale * (weight(i) * dOut[i]);
            }
          });
    });
  });
  if (d.moments.mean)
    putByGroup([&](Index r) { return weightOfRow(r); },
               [&](Index g, const TwoSums& sums) {
                 const double scale = static_cast<T>(scaleOfGroup(g)); // rounded as in dx
                 d.moments.mean[g] = static_cast<T>(-scale * sums.first);
                 d.moments.second[g] = static_cast<T>(-0.5 * scale * scale * scale * sums.second);
               });
  if (isByPosition)
    return addByPosition(point, dy, d.weight, d.bias);
  for (Index r = 0; groups_.weights == RowWeights::OfRow && r < groups_.rows; ++r) {
    const Index w = groups_.weightOf[r];
    if (d.weight)
      d.weight[w] += static_cast<T>(scaleOfGroup(groups_.groupOf[r]) * sumsOfRows[r].second);
    if (d.bias)
      d.bias[w] += static_cast<T>(sumsOfRows[r].first);
  }
}

// The cotangents of weights per position in a row. Threads divide the positions, not the rows, so
// each sum is added in the order of the rows.
template <class T>
void RowKernels::addByPosition(const NormalisePoint<T>& point, const T* dy, T* weight, T* bias) {
  const Index length = groups_.length;
  const auto addRow = [=, this](Index r, Index begin, Index end) {
    const Index g = groups_.groupOf[r];
    const T scale = static_cast<T>(scaleOf(point.moments.second[g], point.epsilon));
    const T mean = point.moments.mean[g];
    const T *in = point.x + r * length, *dOut = dy + r * length;
    TENON_INDEPENDENT_ITERATIONS
    for (Index i = begin; i < end; ++i) {
      if (weight)
        weight[i] += dOut[i] * ((in[i] - mean) * scale);
      if (bias)
        bias[i] += dOut[i];
    }
  };
  parallelRanges(context_->threads(), length, 2 * groups_.rows, [&](Index first, Index last) {
    vectorised([&, first, last] {
      for (Index begin = first; begin < last; begin += kBlock<T>)
        for (Index r = 0; r < groups_.rows; ++r)
          addRow(r, begin, std::min(last, begin + kBlock<T>));
    });
  });
}

namespace {

// The numbers of elements of each group in this part and in all parts, as an argument of functors.
functors::PartShare shareOf(const PartMoments& parts) {
  return {parts.counts.data(), parts.counts.data() + parts.groups};
}

} // namespace

template <class T>
void shareOfMean(KernelContext& context, const PartMoments& parts, const T* mean, T* contribution) {
  eachElement(context, parts.groups, 1,
              functors::ShareOfMean<T>{shareOf(parts), mean, contribution});
}

template <class T>
void shareOfMoments(KernelContext& context, const PartMoments& parts, Moments<const T> part,
                    const T* reference, Moments<T> contributions) {
  eachElement(context, parts.groups, 1,
              functors::ShareOfMoments<T>{shareOf(parts), part.mean, part.second, reference,
                                          contributions.mean, contributions.second});
}

template <class T>
void shareOfMomentsTangent(KernelContext& context, const PartMoments& parts, const T* mean,
                           const T* reference, Moments<const T> dPart, Moments<T> dContributions) {
  eachElement(context, parts.groups, 1,
              functors::ShareOfMomentsTangent<T>{shareOf(parts), mean, reference, dPart.mean,
                                                 dPart.second, dContributions.mean,
                                                 dContributions.second});
}

template <class T>
void shareOfMomentsAdjoint(KernelContext& context, const PartMoments& parts, const T* mean,
                           const T* reference, Moments<const T> dContributions, Moments<T> dPart) {
  eachElement(context, parts.groups, 1,
              functors::ShareOfMomentsAdjoint<T>{shareOf(parts), mean, reference,
                                                 dContributions.mean, dContributions.second,
                                                 dPart.mean, dPart.second});
}

template <class T>
void combineMoments(KernelContext& context, const PartMoments& parts, const T* reference,
                    Moments<const T> sums, Moments<T> combined) {
  eachElement(context, parts.groups, 1,
              functors::CombineMoments<T>{shareOf(parts), reference, sums.mean, sums.second,
                                          combined.mean, combined.second});
}

template <class T>
void combineMomentsTangent(KernelContext& context, const PartMoments& parts, const T* first,
                           Moments<const T> dSums, Moments<T> combined) {
  eachElement(context, parts.groups, 1,
              functors::CombineMomentsTangent<T>{shareOf(parts), first, dSums.mean, dSums.second,
                                                 combined.mean, combined.second});
}

template <class T>
void combineMomentsAdjoint(KernelContext& context, const PartMoments& parts, const T* first,
                           Moments<const T> combined, Moments<T> dSums) {
  eachElement(context, parts.groups, 1,
              functors::CombineMomentsAdjoint<T>{shareOf(parts), first, combined.mean,
                                                 combined.second, dSums.mean, dSums.second});
}

template <class T>
void followMoments(KernelContext& context, const PartMoments& parts, double momentum,
                   Moments<const T> combined, Moments<T> running) {
  eachElement(context, parts.groups, 1,
              functors::FollowMoments<T>{shareOf(parts), momentum, combined.mean, combined.second,
                                         running.mean, running.second});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void RowKernels::moments<T>(const T*, Moments<T>);                                      \
  template void RowKernels::momentsTangent<T>(const T*, const T*, const T*, Moments<T>);           \
  template void RowKernels::momentsAdjoint<T>(const T*, const T*, Moments<const T>, bool, T*);     \
  template void RowKernels::normalise<T>(const NormalisePoint<T>&, const T*, T*, T);               \
  template void RowKernels::normaliseTangent<T>(const NormalisePoint<T>&, const T*,                \
                                                Moments<const T>, const T*, const T*, T*);         \
  template void RowKernels::normaliseAdjoint<T>(const NormalisePoint<T>&, const T*,                \
                                                const NormaliseCotangents<T>&);                    \
  template void shareOfMean<T>(KernelContext&, const PartMoments&, const T*, T*);                  \
  template void shareOfMoments<T>(KernelContext&, const PartMoments&, Moments<const T>, const T*,  \
                                  Moments<T>);                                                     \
  template void shareOfMomentsTangent<T>(KernelContext&, const PartMoments&, const T*, const T*,   \
                                         Moments<const T>, Moments<T>);                            \
  template void shareOfMomentsAdjoint<T>(KernelContext&, const PartMoments&, const T*, const T*,   \
                                         Moments<const T>, Moments<T>);                            \
  template void combineMoments<T>(KernelContext&, const PartMoments&, const T*, Moments<const T>,  \
                                  Moments<T>);                                                     \
  template void combineMomentsTangent<T>(KernelContext&, const PartMoments&, const T*,             \
                                         Moments<const T>, Moments<T>);                            \
  template void combineMomentsAdjoint<T>(KernelContext&, const PartMoments&, const T*,             \
                                         Moments<const T>, Moments<T>);                            \
  template void followMoments<T>(KernelContext&, const PartMoments&, double, Moments<const T>,     \
                                 Moments<T>);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
