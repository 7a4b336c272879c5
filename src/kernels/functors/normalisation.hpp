// SPDX-License-Identifier: BSD-2-Clause
// The steps of rows/normalisation.hpp, by element, by group, and by term of the sums of groups.
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "sys/types.hpp"

#include <cmath>

namespace tenon::functors {

// A number of elements, their mean, and the sum of their squared distances from it.
struct Partial {
  double count, mean, second;

  TENON_DEVICE void add(const Partial& other) {
    if (other.count == 0)
      return;
    const double all = count + other.count, share = other.count / all, apart = other.mean - mean;
    mean += apart * share;
    second += other.second + apart * apart * (count * share);
    count = all;
  }
};
struct TwoSums {
  double first, second;
};

// The operations by which two of them are reduced to one.
struct AddMoments {
  TENON_DEVICE Partial operator()(Partial all, const Partial& more) const {
    all.add(more);
    return all;
  }
};
struct AddSums {
  TENON_DEVICE TwoSums operator()(const TwoSums& a, const TwoSums& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// Rows of a length, in lists: those of list l are rows[begin[l]] to rows[begin[l + 1] - 1]. Their elements are
// counted together; beyond the last one there is none.
struct RowLists {
  const Index *begin, *rows;
  Divisor length;
  Index lengthOfRow;

  struct Place {
    Index row, at; // row is -1 where there is none
  };
  TENON_DEVICE Place operator()(Index list, Index i) const {
    auto number = static_cast<std::uint32_t>(i);
    const Index inRow = length.divide(number), first = begin[list];
    if (first + number >= begin[list + 1])
      return {-1, 0};
    const Index row = rows[first + number];
    return {row, row * lengthOfRow + inRow};
  }
};

template <class T>
struct GroupMoments {
  using Wide = Partial;
  RowLists lists;
  const T* x;
  TENON_DEVICE Partial operator()(Index group, Index i) const {
    const auto place = lists(group, i);
    return place.row < 0 ? Partial{} : Partial{1, double(x[place.at]), 0};
  }
};
template <class T>
struct StoreMoments {
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const Partial& of) const {
    mean[group] = T(of.mean);
    second[group] = T(of.second);
  }
};

template <class T>
struct GroupMomentsTangent {
  using Wide = TwoSums;
  RowLists lists;
  const T *x, *mean, *dx;
  TENON_DEVICE TwoSums operator()(Index group, Index i) const {
    const auto place = lists(group, i);
    if (place.row < 0)
      return {};
    const double d = dx[place.at];
    return {d, (double(x[place.at]) - double(mean[group])) * d};
  }
};
template <class T>
struct StoreMomentsTangent {
  const double* inverseCounts; // 0 where there is no element
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const TwoSums& sums) const {
    mean[group] = T(inverseCounts[group] * sums.first);
    second[group] = T(2 * sums.second);
  }
};

// The adjoint of moments, by element and row: write(at, read(at, row)).
template <class T>
struct MomentsAdjoint {
  const Index* groupOf;
  const double* inverseCounts;
  const T *x, *mean, *dMean, *dSecond;
  Index adds;
  T* dx;
  TENON_DEVICE T read(Index at, Index row) const {
    const Index g = groupOf[row];
    const T level = T(inverseCounts[g] * double(dMean[g])), slope = 2 * dSecond[g];
    const T value = level + slope * (x[at] - mean[g]);
    return adds ? dx[at] + value : value;
  }
  TENON_DEVICE void write(Index at, T value) const { dx[at] = value; }
};

// 1 / sqrt(variance + epsilon) of a group.
template <class T>
struct GroupScale {
  const T* variance;
  double epsilon;
  T* scale;
  TENON_DEVICE void operator()(Index group) const {
    scale[group] = T(1 / std::sqrt(double(variance[group]) + epsilon));
  }
};

// A normalisation, and the point at which derivatives are taken. If weightOf is null, the weights belong to
// places and not to rows; null weights stand for ones.
template <class T>
struct RowPoint {
  const Index *groupOf, *weightOf;
  const T *x, *mean, *scale, *weight;
  Index length;

  TENON_DEVICE T apart(Index at, Index row) const { return x[at] - mean[groupOf[row]]; }
  TENON_DEVICE Index weightAt(Index at, Index row) const {
    return weightOf ? weightOf[row] : at - row * length;
  }
  TENON_DEVICE T weightOr(const T* values, T otherwise, Index at, Index row) const {
    return values ? values[weightAt(at, row)] : otherwise;
  }
};

template <class T>
struct Normalise {
  RowPoint<T> of;
  const T* bias;
  T* y;
  TENON_DEVICE T read(Index at, Index row) const {
    const T scale = of.scale[of.groupOf[row]] * of.weightOr(of.weight, T(1), at, row);
    return of.apart(at, row) * scale + of.weightOr(bias, T(0), at, row);
  }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};

template <class T>
struct NormaliseTangent {
  RowPoint<T> of;
  const T *dx, *dMean, *dSecond, *dWeight, *dBias; // each may be null
  T* dy;
  TENON_DEVICE T read(Index at, Index row) const {
    const Index g = of.groupOf[row];
    const T scale = of.scale[g], apart = of.apart(at, row);
    const double cube = double(scale) * double(scale) * double(scale);
    const T slope = dSecond ? T(-0.5 * cube * double(dSecond[g])) : T(0);
    const T moved = (dx ? dx[at] : T(0)) - (dMean ? dMean[g] : T(0));
    return of.weightOr(of.weight, T(1), at, row) * (scale * moved + apart * slope) +
           of.weightOr(dWeight, T(0), at, row) * scale * apart + of.weightOr(dBias, T(0), at, row);
  }
  TENON_DEVICE void write(Index at, T value) const { dy[at] = value; }
};

template <class T>
struct NormaliseAdjoint {
  RowPoint<T> of;
  const T* dy;
  T* dx;
  TENON_DEVICE T read(Index at, Index row) const {
    return of.weightOr(of.weight, T(1), at, row) * of.scale[of.groupOf[row]] * dy[at];
  }
  TENON_DEVICE void write(Index at, T value) const { dx[at] = value; }
};

// The sums of a group from which the cotangents of its moments follow.
template <class T>
struct GroupSlopes {
  using Wide = TwoSums;
  RowPoint<T> of;
  RowLists lists;
  const T* dy;
  TENON_DEVICE TwoSums operator()(Index group, Index i) const {
    const auto [row, at] = lists(group, i);
    if (row < 0)
      return {};
    const double product = double(of.weightOr(of.weight, T(1), at, row)) * double(dy[at]);
    return {product, product * (double(of.x[at]) - double(of.mean[group]))};
  }
};
template <class T>
struct StoreGroupSlopes {
  const T* scale;
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const TwoSums& sums) const {
    const double s = scale[group];
    mean[group] = T(-s * sums.first);
    second[group] = T(-0.5 * s * s * s * sums.second);
  }
};

// The sums from which the cotangents of weights and biases follow, for rows in lists or for places.
template <class T>
struct WeightSlopes {
  using Wide = TwoSums;
  RowPoint<T> of;
  RowLists lists; // if begin is null, each place is a list of all rows
  const T* dy;
  bool groupsAreCloser() const { return !lists.begin; }
  TENON_DEVICE TwoSums operator()(Index list, Index i) const {
    const auto [row, at] = lists.begin ? lists(list, i) : RowLists::Place{i, i * of.length + list};
    if (row < 0)
      return {};
    const Index g = of.groupOf[row];
    const double d = dy[at];
    return {d, d * (double(of.x[at]) - double(of.mean[g])) * double(of.scale[g])};
  }
};
template <class T>
struct AddWeightSlopes {
  T *weight, *bias; // each may be null
  TENON_DEVICE void operator()(Index w, const TwoSums& sums) const {
    if (weight)
      weight[w] += T(sums.second);
    if (bias)
      bias[w] += T(sums.first);
  }
};

// Moments of parts, [parts, 2, groups], by group.
struct PartCounts {
  const double* counts; // [parts, groups]
  Index parts, groups;

  // visit(count of the part, where its mean is, where its second moment is)
  template <class Visit>
  TENON_DEVICE void forEach(Index group, const Visit& visit) const {
    for (Index p = 0; p < parts; ++p)
      visit(counts[p * groups + group], 2 * p * groups + group, (2 * p + 1) * groups + group);
  }
  template <class T>
  TENON_DEVICE Partial combined(Index group, const T* values) const {
    Partial all{};
    forEach(group, [&](double count, Index mean, Index second) {
      all.add({count, double(values[mean]), double(values[second])});
    });
    return all;
  }
};

template <class T>
struct CombineMoments {
  PartCounts of;
  const T* parts;
  T *mean, *second;
  TENON_DEVICE void operator()(Index g) const {
    const Partial sum = of.combined(g, parts);
    mean[g] = T(sum.mean);
    second[g] = T(sum.count > 0 ? sum.second / sum.count : 0);
  }
};

template <class T>
struct CombineMomentsTangent {
  PartCounts of;
  const T *parts, *dParts;
  T *mean, *second;
  TENON_DEVICE void operator()(Index g) const {
    const Partial sum = of.combined(g, parts);
    double dMean = 0, dSecond = 0;
    of.forEach(g, [&](double count, Index at, Index secondAt) {
      dMean += count * double(dParts[at]);
      dSecond += double(dParts[secondAt]) +
                 2 * count * (double(parts[at]) - sum.mean) * double(dParts[at]);
    });
    mean[g] = T(sum.count > 0 ? dMean / sum.count : 0);
    second[g] = T(sum.count > 0 ? dSecond / sum.count : 0);
  }
};

template <class T>
struct CombineMomentsAdjoint {
  PartCounts of;
  const T *parts, *dMeans, *dSeconds;
  T* dParts;
  TENON_DEVICE void operator()(Index g) const {
    const Partial sum = of.combined(g, parts);
    const double per = sum.count > 0 ? 1 / sum.count : 0;
    const double dMean = per * double(dMeans[g]), dSecond = per * double(dSeconds[g]);
    of.forEach(g, [&](double count, Index mean, Index second) {
      dParts[mean] = T(count * (dMean + 2 * (double(parts[mean]) - sum.mean) * dSecond));
      dParts[second] = T(count > 0 ? dSecond : 0);
    });
  }
};

// running <- (1 - momentum) running + momentum (mean, unbiased variance), where a group has elements.
template <class T>
struct FollowMoments {
  PartCounts of;
  double momentum;
  const T *mean, *second;
  T *runningMean, *runningSecond;
  TENON_DEVICE void operator()(Index g) const {
    double count = 0;
    of.forEach(g, [&](double each, Index, Index) { count += each; });
    if (count == 0)
      return;
    const double unbiased = double(second[g]) * (count > 1 ? count / (count - 1) : 0);
    runningMean[g] += T(momentum * (double(mean[g]) - double(runningMean[g])));
    runningSecond[g] += T(momentum * (unbiased - double(runningSecond[g])));
  }
};

} // namespace tenon::functors
