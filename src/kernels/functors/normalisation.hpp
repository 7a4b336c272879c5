// SPDX-License-Identifier: BSD-2-Clause
// The steps of rows/normalisation.hpp, by element, by group, and by term of the sums of groups.
#pragma once

#include "kernels/functors/elementary.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/types.hpp"

#include <cmath>

namespace tenon::functors {

// What elements of a row share is read once for so many.
inline constexpr int kRowStrip = 8;

// x / count of a whole number, and 0 where nothing was counted. Two choices by one condition would
// become one, whose arm divides by 0 in vectors.
TENON_DEVICE inline double perCount(double x, double count) {
  const double quotient = x / atLeast(bound(1.0), count);
  return count > 0 ? quotient : 0;
}

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

// Rows of a length, in lists: those of list l are rows[begin[l]] to rows[begin[l + 1] - 1], and
// their elements are counted together. If begin is null, each place is a list: its elements in all
// rows.
struct RowLists {
  const Index *begin, *rows;
  Divisor length;
  Index lengthOfRow, allRows;

  // The elements first, first + step, ... of a list, one after the other. It divides only where a
  // row ends.
  class Steps {
  public:
    TENON_DEVICE Steps(const RowLists& of, Index list, Index first, Index step)
        : of_(of), here_(static_cast<std::uint32_t>(of.begin ? of.begin[list] : first)),
          end_(static_cast<std::uint32_t>(of.begin ? of.begin[list + 1] : of.allRows)),
          count_(of.begin ? Index(end_ - here_) * of.lengthOfRow : end_),
          step_(static_cast<std::uint32_t>(step)) {
      if (of.begin)
        find(static_cast<std::uint32_t>(first));
      else
        take(list);
    }
    TENON_DEVICE Index endOf(Index most) const { return count_ < most ? count_ : most; }
    // True if the next element is of another row than this one.
    TENON_DEVICE bool step() {
      if (!of_.begin) {
        here_ += step_;
        take(inRow_);
        return true;
      }
      inRow_ += step_;
      at_ += step_;
      if (inRow_ < of_.length.divisor())
        return false;
      find(inRow_);
      return true;
    }
    // Whether the `count` elements behind this one are of its row; then where that is which is
    // `count` ahead, and going there.
    TENON_DEVICE bool stays(int count) const {
      return of_.begin && inRow_ + count * step_ < of_.length.divisor();
    }
    TENON_DEVICE Index ahead(int count) const { return at_ + count * Index(step_); }
    TENON_DEVICE void skip(int count) {
      inRow_ += count * step_;
      at_ += count * Index(step_);
    }
    TENON_DEVICE bool isPast() const { return here_ >= end_; }
    TENON_DEVICE Index row() const { return row_; }
    TENON_DEVICE Index at() const { return at_; }
    TENON_DEVICE Index inRow() const { return inRow_; }

  private:
    // The element with this number, counted from the first of the row that is here.
    TENON_DEVICE void find(std::uint32_t number) {
      const Index inRow = of_.length.divide(number);
      here_ += number;
      take(inRow);
    }
    TENON_DEVICE void take(Index inRow) {
      inRow_ = static_cast<std::uint32_t>(inRow);
      row_ = of_.begin && !isPast() ? of_.rows[here_] : here_;
      at_ = row_ * of_.lengthOfRow + inRow;
    }
    const RowLists& of_;
    std::uint32_t here_, end_; // in the list of all rows
    Index count_, row_ = 0, at_ = 0;
    std::uint32_t step_, inRow_ = 0;
  };
};

// A thread's elements, summed as distances from the first and their squares, so that none needs a
// division.
struct MomentsRun {
  double count = 0, origin = 0, first = 0, second = 0;
  TENON_DEVICE explicit MomentsRun(const Partial&) {}
  template <int kCount>
  TENON_DEVICE void add(const double (&x)[kCount]) {
    origin = count == 0 ? x[0] : origin;
    TENON_UNROLL
    for (int k = 0; k < kCount; ++k) {
      const double apart = x[k] - origin;
      first += apart;
      second += apart * apart;
    }
    count += kCount;
  }
  TENON_DEVICE Partial value() const {
    if (count == 0)
      return {};
    const double mean = first / count, square = second - first * mean;
    return {count, origin + mean, square < 0 ? 0 : square};
  }
};

template <class T>
struct GroupMoments {
  using Wide = Partial;
  using Run = MomentsRun;
  RowLists lists;
  const T* x;
  struct Terms {
    RowLists::Steps steps;
    const T* x;
    TENON_DEVICE Index endOf(Index most) const { return steps.endOf(most); }
    TENON_DEVICE Index next() {
      const Index now = steps.at();
      steps.step();
      return now;
    }
    TENON_DEVICE bool stays(int count) const { return steps.stays(count); }
    TENON_DEVICE Index ahead(int count) const { return steps.ahead(count); }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE double at(Index place) const { return x[place]; }
  };
  TENON_DEVICE Terms of(Index group, Index first, Index step) const {
    return {{lists, group, first, step}, x};
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
  struct Terms : GroupMoments<T>::Terms {
    const T* dx;
    double mean;
    TENON_DEVICE TwoSums at(Index place) const {
      const double d = dx[place];
      return {d, (double(this->x[place]) - mean) * d};
    }
  };
  TENON_DEVICE Terms of(Index group, Index first, Index step) const {
    return {{{lists, group, first, step}, x}, dx, mean[group]};
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

// The adjoint of moments, by element and row: write(at, line(row).read(at)).
template <class T>
struct MomentsAdjoint {
  static constexpr int kStrip = kRowStrip;
  const Index* groupOf;
  const double* inverseCounts;
  const T *x, *mean, *dMean, *dSecond;
  Index adds;
  T* dx;
  struct Line {
    const MomentsAdjoint& of;
    T level, slope, mean;
    TENON_DEVICE T read(Index at) const {
      const T value = level + slope * (of.x[at] - mean);
      return of.adds ? of.dx[at] + value : value;
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = groupOf[row];
    return {*this, T(inverseCounts[g] * double(dMean[g])), 2 * dSecond[g], mean[g]};
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

// A normalisation, and the point at which derivatives are taken. If weightOf is null, the weights
// belong to places and not to rows; null weights stand for ones.
template <class T>
struct RowPoint {
  const Index *groupOf, *weightOf;
  const T *x, *mean, *scale, *weight;
  Index length;

  // The weights of a row's elements: one, or one for each place from `begin` on.
  struct Weights {
    const T* values;
    bool isOfPlace;
    T ofRow;
    Index begin;
    TENON_DEVICE T at(Index place) const { return isOfPlace ? values[place - begin] : ofRow; }
  };
  // `which` is weightOfRow(row).
  TENON_DEVICE Weights weightsOf(const T* values, T otherwise, Index row, Index which) const {
    return {values, values && !weightOf, values && weightOf ? values[which] : otherwise,
            row * length};
  }
  TENON_DEVICE Index weightOfRow(Index row) const { return weightOf ? weightOf[row] : 0; }
};

template <class T>
struct Normalise {
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> of;
  const T* bias;
  T least; // of what is written
  T* y;
  struct Line {
    const T* x;
    T mean, scale;
    typename RowPoint<T>::Weights weights, biases;
    TENON_DEVICE T read(Index at) const {
      return (x[at] - mean) * (scale * weights.at(at)) + biases.at(at);
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = of.groupOf[row], w = of.weightOfRow(row);
    return {of.x, of.mean[g], of.scale[g], of.weightsOf(of.weight, T(1), row, w),
            of.weightsOf(bias, T(0), row, w)};
  }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value < least ? least : value; }
};

template <class T>
struct NormaliseTangent {
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> of;
  const T *dx, *dMean, *dSecond, *dWeight, *dBias; // each may be null
  T* dy;
  struct Line {
    const T *x, *dx;
    T mean, scale, slope, dMean;
    typename RowPoint<T>::Weights weights, dWeights, dBiases;
    TENON_DEVICE T read(Index at) const {
      const T apart = x[at] - mean, moved = (dx ? dx[at] : T(0)) - dMean;
      return weights.at(at) * (scale * moved + apart * slope) + dWeights.at(at) * scale * apart +
             dBiases.at(at);
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = of.groupOf[row], w = of.weightOfRow(row);
    const T scale = of.scale[g];
    const double cube = double(scale) * double(scale) * double(scale);
    return {of.x,
            dx,
            of.mean[g],
            scale,
            dSecond ? T(-0.5 * cube * double(dSecond[g])) : T(0),
            dMean ? dMean[g] : T(0),
            of.weightsOf(of.weight, T(1), row, w),
            of.weightsOf(dWeight, T(0), row, w),
            of.weightsOf(dBias, T(0), row, w)};
  }
  TENON_DEVICE void write(Index at, T value) const { dy[at] = value; }
};

template <class T>
struct NormaliseAdjoint {
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> of;
  const T* dy;
  T* dx;
  struct Line {
    const T* dy;
    T scale;
    typename RowPoint<T>::Weights weights;
    TENON_DEVICE T read(Index at) const { return weights.at(at) * scale * dy[at]; }
  };
  TENON_DEVICE Line line(Index row) const {
    return {dy, of.scale[of.groupOf[row]], of.weightsOf(of.weight, T(1), row, of.weightOfRow(row))};
  }
  TENON_DEVICE void write(Index at, T value) const { dx[at] = value; }
};

// The sums of a group from which the cotangents of its moments follow, and on the way what
// NormaliseAdjoint gives, from the same dy.
template <class T>
struct GroupSlopes {
  using Wide = TwoSums;
  RowPoint<T> point;
  RowLists lists;
  const T *dy, *ofGroups; // ofGroups: weights that the sums leave out, or null
  T* dx;                  // or null
  struct Place {
    Index at;
    T weight;
  };
  struct Terms {
    const RowPoint<T>& point;
    RowLists::Steps steps;
    const T* dy;
    T* dx;
    double mean, slope;
    T weight = 1; // of the row
    TENON_DEVICE Index endOf(Index most) const { return steps.endOf(most); }
    TENON_DEVICE void enterRow() {
      if (point.weight && point.weightOf && !steps.isPast())
        weight = point.weight[point.weightOf[steps.row()]];
    }
    TENON_DEVICE Place next() {
      const bool isOfPlace = point.weight && !point.weightOf;
      const Place now{steps.at(), isOfPlace ? point.weight[steps.inRow()] : weight};
      if (steps.step())
        enterRow();
      return now;
    }
    TENON_DEVICE bool stays(int count) const {
      return (!point.weight || point.weightOf) && steps.stays(count);
    }
    TENON_DEVICE Place ahead(int count) const { return {steps.ahead(count), weight}; }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE TwoSums at(const Place& p) const {
      const double product = double(p.weight) * double(dy[p.at]);
      return {product, product * (double(point.x[p.at]) - mean)};
    }
    TENON_DEVICE void write(const Place& p, const TwoSums& of) const {
      if (dx)
        dx[p.at] = T(slope * of.first);
    }
  };
  TENON_DEVICE Terms of(Index group, Index first, Index step) const {
    const double scale = point.scale[group];
    Terms terms{
        point, {lists, group, first, step}, dy,
        dx,    point.mean[group],           ofGroups ? scale * double(ofGroups[group]) : scale};
    terms.enterRow();
    return terms;
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
  RowPoint<T> point;
  RowLists lists;
  const T* dy;
  bool groupsAreCloser() const { return !lists.begin; }
  struct Place {
    Index at;
    double mean, scale;
  };
  struct Terms {
    const RowPoint<T>& point;
    RowLists::Steps steps;
    const T* dy;
    double mean = 0, scale = 0; // of the row
    TENON_DEVICE Index endOf(Index most) const { return steps.endOf(most); }
    TENON_DEVICE void enterRow() {
      if (steps.isPast())
        return;
      const Index g = point.groupOf[steps.row()];
      mean = point.mean[g];
      scale = point.scale[g];
    }
    TENON_DEVICE Place next() {
      const Place now{steps.at(), mean, scale};
      if (steps.step())
        enterRow();
      return now;
    }
    TENON_DEVICE bool stays(int count) const { return steps.stays(count); }
    TENON_DEVICE Place ahead(int count) const { return {steps.ahead(count), mean, scale}; }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE TwoSums at(const Place& p) const {
      const double d = dy[p.at];
      return {d, d * (double(point.x[p.at]) - p.mean) * p.scale};
    }
  };
  TENON_DEVICE Terms of(Index list, Index first, Index step) const {
    Terms terms{point, {lists, list, first, step}, dy};
    terms.enterRow();
    return terms;
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

// Both, where each weight has the rows of one group, from sums without the weights, which may be
// null.
template <class T>
struct StoreAllSlopes {
  StoreGroupSlopes<T> ofGroups;
  AddWeightSlopes<T> ofWeights;
  const T* weights;
  TENON_DEVICE void operator()(Index group, const TwoSums& sums) const {
    const double weight = weights ? double(weights[group]) : 1.0, scale = ofGroups.scale[group];
    ofGroups(group, {weight * sums.first, weight * sums.second});
    ofWeights(group, {sums.first, scale * sums.second});
  }
};

// How many elements of a group a part has, and all parts together. The moments of a part are its
// mean and its second moment.
struct PartShare {
  const double *part, *all; // by group
  TENON_DEVICE double of(Index g) const { return perCount(part[g], all[g]); }
  TENON_DEVICE double per(Index g) const { return perCount(1, all[g]); }
};

// The contribution of a part to the mean of all.
template <class T>
struct ShareOfMean {
  PartShare share;
  const T* mean;
  T* contribution;
  TENON_DEVICE void operator()(Index g) const {
    contribution[g] = T(share.of(g) * double(mean[g]));
  }
};

// The contributions of a part to the mean and the variance of all, both counted from a reference.
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

// Mean and variance from the sums of these contributions; without a reference from the moments of
// the one part that there is.
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

// running <- (1 - momentum) running + momentum (mean, unbiased variance), where a group has
// elements.
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
    const double unbiased = double(variance[g]) * perCount(count, count - 1);
    runningMean[g] += T(momentum * (double(mean[g]) - double(runningMean[g])));
    runningVariance[g] += T(momentum * (unbiased - double(runningVariance[g])));
  }
};

} // namespace tenon::functors
