// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/normalise.hpp"

#include "kernels/vectorised.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kBlock = 512; // elements that stay in the nearest cache between two looks
constexpr Index kLanes = 16;

// The sum of term(i) for begin <= i < end, in lanes.
template <class T, class Term>
double laneSum(Index begin, Index end, const Term& term) {
  T lane[kLanes] = {};
  Index i = begin;
  for (; i + kLanes <= end; i += kLanes)
    for (Index j = 0; j < kLanes; ++j)
      lane[j] += term(i + j);
  double sum = 0;
  for (; i < end; ++i)
    sum += double(term(i));
  for (const T value : lane)
    sum += double(value);
  return sum;
}

// Of two sums at once: f(i, a, b) adds to both.
struct TwoSums {
  double first = 0, second = 0;
};
template <class T, class First, class Second>
TwoSums laneSums(Index length, const First& first, const Second& second) {
  TwoSums sums;
  for (Index begin = 0; begin < length; begin += kBlock) {
    const Index end = std::min(length, begin + kBlock);
    sums.first += laneSum<T>(begin, end, first);
    sums.second += laneSum<T>(begin, end, second);
  }
  return sums;
}

// A number of elements, their mean, and the sum of their squared distances from it.
struct Partial {
  double count = 0, mean = 0, second = 0;

  void add(const Partial& other) {
    if (other.count == 0)
      return;
    const double all = count + other.count, apart = other.mean - mean;
    mean += apart * (other.count / all);
    second += other.second + apart * apart * (count * other.count / all);
    count = all;
  }
};

template <class T>
Partial momentsOfRow(Index length, const T* x) {
  Partial sum;
  for (Index begin = 0; begin < length; begin += kBlock) {
    const Index end = std::min(length, begin + kBlock);
    const double count = double(end - begin);
    const T mean = static_cast<T>(laneSum<T>(begin, end, [=](Index i) { return x[i]; }) / count);
    const double rest = laneSum<T>(begin, end, [=](Index i) { return x[i] - mean; }) / count;
    const double second = laneSum<T>(begin, end, [=](Index i) {
      const T apart = x[i] - mean;
      return apart * apart;
    });
    sum.add({count, double(mean) + rest, second - rest * rest * count});
  }
  return sum;
}

double scaleOf(double variance, double epsilon) {
  return 1 / std::sqrt(variance + epsilon);
}

// Weights of the places of row r as one number or one each: weight(i).
template <class T, class Body>
void withWeights(const RowGroups& groups, Index row, const T* weight, const Body& body) {
  switch (weight ? groups.weights : RowWeights::None) {
  case RowWeights::OfPlace:
    return body([=](Index i) { return weight[i]; });
  case RowWeights::OfRow:
    return body([value = weight[groups.weightOf[row]]](Index) { return value; });
  case RowWeights::None:
    return body([](Index) { return T(1); });
  }
}

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
  ScratchPlan plan;
  scratch_ = plan.add<Partial>(groups_.rows + groups_.groups);
  context_->reserve(plan);
}

// put(group, sums of its rows, which sumsOfRow(row) gives).
template <class Sums, class Put>
void RowKernels::sumByGroup(const Sums& sumsOfRow, const Put& put) {
  TwoSums* ofRow = context_->scratch<TwoSums>(scratch_);
  TwoSums* ofGroup = ofRow + groups_.rows;
  forEachRow(*context_, groups_, [&](Index r) { ofRow[r] = sumsOfRow(r); });
  std::fill_n(ofGroup, groups_.groups, TwoSums());
  for (Index r = 0; r < groups_.rows; ++r) {
    TwoSums& sums = ofGroup[groups_.groupOf[r]];
    sums.first += ofRow[r].first;
    sums.second += ofRow[r].second;
  }
  for (Index g = 0; g < groups_.groups; ++g)
    put(g, ofGroup[g]);
}

template <class T>
void RowKernels::moments(const T* x, Moments<T> of) {
  Partial* ofRow = context_->scratch<Partial>(scratch_);
  Partial* ofGroup = ofRow + groups_.rows;
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) { ofRow[r] = momentsOfRow(length, x + r * length); });
  std::fill_n(ofGroup, groups_.groups, Partial());
  for (Index r = 0; r < groups_.rows; ++r)
    ofGroup[groups_.groupOf[r]].add(ofRow[r]);
  for (Index g = 0; g < groups_.groups; ++g) {
    of.mean[g] = static_cast<T>(ofGroup[g].mean);
    of.second[g] = static_cast<T>(ofGroup[g].second);
  }
}

template <class T>
void RowKernels::momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> of) {
  const Index length = groups_.length;
  sumByGroup(
      [&](Index r) {
        const T *in = x + r * length, *din = dx + r * length, m = mean[groups_.groupOf[r]];
        return laneSums<T>(
            length, [=](Index i) { return din[i]; }, [=](Index i) { return (in[i] - m) * din[i]; });
      },
      [&](Index g, const TwoSums& sums) {
        of.mean[g] = static_cast<T>(counts_[g] > 0 ? sums.first / counts_[g] : 0);
        of.second[g] = static_cast<T>(2 * sums.second);
      });
}

template <class T>
void RowKernels::momentsAdjoint(const T* x, const T* mean, Moments<const T> of, T* dx) {
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const T m = mean[g], slope = 2 * of.second[g];
    const T level = static_cast<T>(double(of.mean[g]) / counts_[g]);
    const T* in = x + r * length;
    T* out = dx + r * length;
#pragma GCC ivdep
    for (Index i = 0; i < length; ++i)
      out[i] = level + slope * (in[i] - m);
  });
}

template <class T>
void RowKernels::normalise(const NormalisePoint<T>& at, const T* bias, T* y) {
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const T scale = static_cast<T>(scaleOf(at.moments.second[g], at.epsilon));
    const T mean = at.moments.mean[g];
    const T* in = at.x + r * length;
    T* out = y + r * length;
    withWeights(groups_, r, at.weight, [&](auto weight) {
      withWeights(groups_, r, bias, [&](auto shift) {
#pragma GCC ivdep
        for (Index i = 0; i < length; ++i)
          out[i] = (in[i] - mean) * (scale * weight(i)) + (bias ? shift(i) : T(0));
      });
    });
  });
}

template <class T>
void RowKernels::normaliseTangent(const NormalisePoint<T>& at, const T* dx,
                                  Moments<const T> moments, const T* weight, const T* bias, T* dy) {
  const Index length = groups_.length;
  forEachRow(*context_, groups_, [&](Index r) {
    const Index g = groups_.groupOf[r];
    const double scale = scaleOf(at.moments.second[g], at.epsilon);
    const double slope = moments.second ? -0.5 * scale * scale * scale * moments.second[g] : 0;
    const T s = static_cast<T>(scale), ds = static_cast<T>(slope), mean = at.moments.mean[g];
    const T dMean = moments.mean ? moments.mean[g] : T(0);
    const T *in = at.x + r * length, *din = dx ? dx + r * length : nullptr;
    T* out = dy + r * length;
    const auto each = [&](const T* values, auto add) {
      withWeights(groups_, r, values, [&](auto value) {
        for (Index i = 0; i < length; ++i)
          add(i, value(i));
      });
    };
    each(at.weight, [=](Index i, T w) {
      out[i] = w * (s * ((din ? din[i] : T(0)) - dMean) + (in[i] - mean) * ds);
    });
    if (weight)
      each(weight, [=](Index i, T dw) { out[i] += dw * s * (in[i] - mean); });
    if (bias)
      each(bias, [=](Index i, T db) { out[i] += db; });
  });
}

template <class T>
void RowKernels::normaliseAdjoint(const NormalisePoint<T>& at, const T* dy, T* dx,
                                  Moments<T> moments) {
  const Index length = groups_.length;
  const auto scaleOfGroup = [&](Index g) { return scaleOf(at.moments.second[g], at.epsilon); };
  const auto spread = [&](Index r, Index begin, Index end) {
    const T scale = static_cast<T>(scaleOfGroup(groups_.groupOf[r]));
    const T* dOut = dy + r * length;
    T* dIn = dx + r * length;
    withWeights(groups_, r, at.weight, [&](auto weight) {
#pragma GCC ivdep
      for (Index i = begin; i < end; ++i)
        dIn[i] = weight(i) * scale * dOut[i];
    });
  };
  if (!moments.mean)
    return forEachRow(*context_, groups_, [&](Index r) { spread(r, 0, length); });
  sumByGroup(
      [&](Index r) {
        const T *in = at.x + r * length, *dOut = dy + r * length;
        const T mean = at.moments.mean[groups_.groupOf[r]];
        TwoSums sums;
        withWeights(groups_, r, at.weight, [&](auto weight) {
          sums = laneSums<T>(
              length, [=](Index i) { return weight(i) * dOut[i]; },
              [=](Index i) { return weight(i) * dOut[i] * (in[i] - mean); });
        });
        if (dx)
          spread(r, 0, length);
        return sums;
      },
      [&](Index g, const TwoSums& sums) {
        const double scale = scaleOfGroup(g);
        moments.mean[g] = static_cast<T>(-scale * sums.first);
        moments.second[g] = static_cast<T>(-0.5 * scale * scale * scale * sums.second);
      });
}

template <class T>
void RowKernels::normaliseParameters(const NormalisePoint<T>& at, const T* dy, T* weight, T* bias) {
  const Index length = groups_.length;
  const auto apart = [&](Index r) {
    const Index g = groups_.groupOf[r];
    return [scale = static_cast<T>(scaleOf(at.moments.second[g], at.epsilon)),
            mean = at.moments.mean[g],
            in = at.x + r * length](Index i) { return (in[i] - mean) * scale; };
  };
  if (groups_.weights == RowWeights::OfPlace) {
    parallelRanges(context_->threads(), length, 2 * groups_.rows, [&](Index begin, Index end) {
      for (Index r = 0; r < groups_.rows; ++r) {
        const auto normal = apart(r);
        const T* dOut = dy + r * length;
        for (Index i = begin; weight && i < end; ++i)
          weight[i] += dOut[i] * normal(i);
        for (Index i = begin; bias && i < end; ++i)
          bias[i] += dOut[i];
      }
    });
    return;
  }
  TwoSums* ofRow = context_->scratch<TwoSums>(scratch_);
  forEachRow(*context_, groups_, [&](Index r) {
    const T* dOut = dy + r * length;
    const auto normal = apart(r);
    ofRow[r] = laneSums<T>(
        length, [=](Index i) { return dOut[i] * normal(i); }, [=](Index i) { return dOut[i]; });
  });
  for (Index r = 0; r < groups_.rows; ++r) {
    const Index w = groups_.weightOf[r];
    if (weight)
      weight[w] += static_cast<T>(ofRow[r].first);
    if (bias)
      bias[w] += static_cast<T>(ofRow[r].second);
  }
}

namespace {

// visit(count of the part, where its mean is, where its second moment is) for the parts of a group.
template <class Visit>
void forEachPart(const PartMoments& of, Index group, const Visit& visit) {
  for (Index p = 0; p < of.parts; ++p)
    visit(of.counts[p * of.groups + group], 2 * p * of.groups + group,
          (2 * p + 1) * of.groups + group);
}

template <class T>
Partial combined(const PartMoments& of, Index group, const T* parts) {
  Partial all;
  forEachPart(of, group, [&](double count, Index mean, Index second) {
    all.add({count, double(parts[mean]), double(parts[second])});
  });
  return all;
}

} // namespace

template <class T>
void combineMoments(KernelContext&, const PartMoments& of, const T* parts, Moments<T> all) {
  for (Index g = 0; g < of.groups; ++g) {
    const Partial sum = combined(of, g, parts);
    all.mean[g] = static_cast<T>(sum.mean);
    all.second[g] = static_cast<T>(sum.count > 0 ? sum.second / sum.count : 0);
  }
}

template <class T>
void combineMomentsTangent(KernelContext&, const PartMoments& of, const T* parts, const T* dParts,
                           Moments<T> all) {
  for (Index g = 0; g < of.groups; ++g) {
    const Partial sum = combined(of, g, parts);
    double dMean = 0, dSecond = 0;
    forEachPart(of, g, [&](double count, Index mean, Index second) {
      dMean += count * double(dParts[mean]);
      dSecond += double(dParts[second]) +
                 2 * count * (double(parts[mean]) - sum.mean) * double(dParts[mean]);
    });
    all.mean[g] = static_cast<T>(sum.count > 0 ? dMean / sum.count : 0);
    all.second[g] = static_cast<T>(sum.count > 0 ? dSecond / sum.count : 0);
  }
}

template <class T>
void combineMomentsAdjoint(KernelContext&, const PartMoments& of, const T* parts,
                           Moments<const T> all, T* dParts) {
  for (Index g = 0; g < of.groups; ++g) {
    const Partial sum = combined(of, g, parts);
    const double per = sum.count > 0 ? 1 / sum.count : 0;
    const double dMean = per * double(all.mean[g]), dSecond = per * double(all.second[g]);
    forEachPart(of, g, [&](double count, Index mean, Index second) {
      dParts[mean] =
          static_cast<T>(count * (dMean + 2 * (double(parts[mean]) - sum.mean) * dSecond));
      dParts[second] = static_cast<T>(count > 0 ? dSecond : 0);
    });
  }
}

template <class T>
void followMoments(KernelContext&, const PartMoments& of, double momentum, Moments<const T> all,
                   Moments<T> running) {
  for (Index g = 0; g < of.groups; ++g) {
    double count = 0;
    for (Index p = 0; p < of.parts; ++p)
      count += of.counts[p * of.groups + g];
    if (count == 0)
      continue;
    const double unbiased = double(all.second[g]) * (count > 1 ? count / (count - 1) : 0);
    running.mean[g] += static_cast<T>(momentum * (double(all.mean[g]) - double(running.mean[g])));
    running.second[g] += static_cast<T>(momentum * (unbiased - double(running.second[g])));
  }
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void RowKernels::moments<T>(const T*, Moments<T>);                                      \
  template void RowKernels::momentsTangent<T>(const T*, const T*, const T*, Moments<T>);           \
  template void RowKernels::momentsAdjoint<T>(const T*, const T*, Moments<const T>, T*);           \
  template void RowKernels::normalise<T>(const NormalisePoint<T>&, const T*, T*);                  \
  template void RowKernels::normaliseTangent<T>(const NormalisePoint<T>&, const T*,                \
                                                Moments<const T>, const T*, const T*, T*);         \
  template void RowKernels::normaliseAdjoint<T>(const NormalisePoint<T>&, const T*, T*,            \
                                                Moments<T>);                                       \
  template void RowKernels::normaliseParameters<T>(const NormalisePoint<T>&, const T*, T*, T*);    \
  template void combineMoments<T>(KernelContext&, const PartMoments&, const T*, Moments<T>);       \
  template void combineMomentsTangent<T>(KernelContext&, const PartMoments&, const T*, const T*,   \
                                         Moments<T>);                                              \
  template void combineMomentsAdjoint<T>(KernelContext&, const PartMoments&, const T*,             \
                                         Moments<const T>, T*);                                    \
  template void followMoments<T>(KernelContext&, const PartMoments&, double, Moments<const T>,     \
                                 Moments<T>);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
