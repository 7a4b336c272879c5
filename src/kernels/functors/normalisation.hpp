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

// How many elements of a group a part has, and all parts together. The moments of a part are its mean and
// its second moment.
struct PartShare {
  const double *part, *all; // by group
  TENON_DEVICE double of(Index g) const { return all[g] > 0 ? part[g] / all[g] : 0; }
  TENON_DEVICE double per(Index g) const { return all[g] > 0 ? 1 / all[g] : 0; }
};

// The addend of a part to the mean of all.
template <class T>
struct ShareOfMean {
  PartShare share;
  const T* mean;
  T* addend;
  TENON_DEVICE void operator()(Index g) const { addend[g] = T(share.of(g) * double(mean[g])); }
};

// The addends of a part to the mean and the variance of all, both counted from a reference.
template <class T>
struct ShareOfMoments {
  PartShare share;
  const T *mean, *second, *reference;
  T *dMean, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double apart = double(mean[g]) - double(reference[g]);
    dMean[g] = T(share.of(g) * apart);
    dSecond[g] = T(share.per(g) * double(second[g]) + share.of(g) * apart * apart);
  }
};
template <class T>
struct ShareOfMomentsTangent {
  PartShare share;
  const T *mean, *reference, *dMean, *dSecond;
  T *first, *second;
  TENON_DEVICE void operator()(Index g) const {
    const double apart = double(mean[g]) - double(reference[g]), d = share.of(g) * double(dMean[g]);
    first[g] = T(d);
    second[g] = T(share.per(g) * double(dSecond[g]) + 2 * apart * d);
  }
};
template <class T>
struct ShareOfMomentsAdjoint {
  PartShare share;
  const T *mean, *reference, *first, *second;
  T *dMean, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double apart = double(mean[g]) - double(reference[g]);
    dMean[g] = T(share.of(g) * (double(first[g]) + 2 * apart * double(second[g])));
    dSecond[g] = T(share.per(g) * double(second[g]));
  }
};

// Mean and variance from the sums of these addends; without a reference from the moments of the one part
// that there is.
template <class T>
struct CombineMoments {
  PartShare share;
  const T *reference, *first, *second;
  T *mean, *variance;
  TENON_DEVICE void operator()(Index g) const {
    const double apart = first[g];
    mean[g] = T(reference ? double(reference[g]) + apart : apart);
    const double square =
        reference ? double(second[g]) - apart * apart : share.per(g) * double(second[g]);
    variance[g] = T(square > 0 ? square : 0);
  }
};
template <class T>
struct CombineMomentsTangent {
  PartShare share;
  const T* first; // null without a reference
  const T *dFirst, *dSecond;
  T *mean, *variance;
  TENON_DEVICE void operator()(Index g) const {
    mean[g] = dFirst[g];
    variance[g] = T(first ? double(dSecond[g]) - 2 * double(first[g]) * double(dFirst[g])
                          : share.per(g) * double(dSecond[g]));
  }
};
template <class T>
struct CombineMomentsAdjoint {
  PartShare share;
  const T* first; // null without a reference
  const T *dMean, *dVariance;
  T *dFirst, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double d = dVariance[g];
    dFirst[g] = T(double(dMean[g]) - (first ? 2 * double(first[g]) * d : 0));
    dSecond[g] = T(first ? d : share.per(g) * d);
  }
};

// running <- (1 - momentum) running + momentum (mean, unbiased variance), where a group has elements.
template <class T>
struct FollowMoments {
  PartShare share;
  double momentum;
  const T *mean, *variance;
  T *runningMean, *runningVariance;
  TENON_DEVICE void operator()(Index g) const {
    const double count = share.all[g];
    if (count == 0)
      return;
    const double unbiased = double(variance[g]) * (count > 1 ? count / (count - 1) : 0);
    runningMean[g] += T(momentum * (double(mean[g]) - double(runningMean[g])));
    runningVariance[g] += T(momentum * (unbiased - double(runningVariance[g])));
  }
};

} // namespace tenon::functors
