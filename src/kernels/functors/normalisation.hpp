// SPDX-License-Identifier: BSD-2-Clause
// Functors (structs with a kernel's arrays, for host and device) of rows/normalisation.hpp, for one
// element of a row, a group of rows, or a term of a sum (functors/reduce.hpp):
//
//   Partial, RowLists      moments of some elements; iteration over the elements of a group
//   GroupMoments, ...      mean and sum of squared deviations of each group; tangent and adjoint
//   RowPoint, Normalise..  y = (x - mean) scale weight + bias, scale = 1 / sqrt(variance + epsilon)
//   GroupSlopes            "slopes" are sums with dy: the cotangents of mean and variance,
//   WeightSlopes           and those of weight and bias
//
// Two interfaces: the terms of a sum are enumerated by a struct Terms (next(), stays(), at(), ...;
// functors/reduce.hpp says what each returns). Functors of elements have line(row), which loads
// what the elements of a row have in common; line(row).read(i) computes element i of the array, and
// write(i, value) stores it.
//
// part_moments.hpp adds up the moments of groups that are divided among several ranks.
#pragma once

#include "kernels/functors/elementary.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/types.hpp"

#include <cmath>

namespace tenon::functors {

// Number of elements of a row that share one load of their common values.
inline constexpr int kRowStrip = 8;

// x / count for an integer count, or 0 if count is 0. The divisor is bounded separately: otherwise
// the compiler would merge the two choices into one whose arm divides by 0 in vectors.
TENON_DEVICE inline double perCount(double x, double count) {
  const double quotient = x / atLeast(bound(1.0), count);
  return count > 0 ? quotient : 0;
}

// Number of elements, their mean, and the sum of their squared deviations from the mean.
struct Partial {
  double count, mean, second;

  // The union of two disjoint sets (Chan, Golub and LeVeque): the means differ by `shift`, which
  // adds shift^2 count other.count / total to the deviations.
  TENON_DEVICE void add(const Partial& other) {
    if (other.count == 0)
      return;
    const double total = count + other.count, share = other.count / total,
                 shift = other.mean - mean;
    mean += shift * share;
    second += other.second + shift * shift * (count * share);
    count = total;
  }
};
struct TwoSums { // computed in one pass
  double first, second;
};

struct AddMoments { // a binary operation for reductions, as AddSums
  TENON_DEVICE Partial operator()(Partial all, const Partial& more) const {
    all.add(more);
    return all;
  }
};
// The operation that combines partial results of a reduction.
struct AddSums {
  TENON_DEVICE TwoSums operator()(const TwoSums& a, const TwoSums& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// Rows of one length in lists: list l has the rows rows[i], begin[l] <= i < begin[l+1], and their
// elements are numbered consecutively. If begin is null, list l has element l of every row. With
// rows of length 4, rows = {0, 2, 1, 3} and begin = {0, 2, 4}, list 0 has the rows 0 and 2, and its
// element 5 is element 1 of row 2, which has index 9 in the array.
struct RowLists {
  const Index *begin, *rows;
  Divisor length;
  Index lengthOfRow, allRows;

  // Iterates over the elements first, first + step, ... of a list. It divides only at row ends.
  class Steps {
  public:
    TENON_DEVICE Steps(const RowLists& lists, Index list, Index first, Index step)
        : lists_(lists),
          position_(static_cast<std::uint32_t>(lists.begin ? lists.begin[list] : first)),
          end_(static_cast<std::uint32_t>(lists.begin ? lists.begin[list + 1] : lists.allRows)),
          count_(lists.begin ? Index(end_ - position_) * lists.lengthOfRow : end_),
          step_(static_cast<std::uint32_t>(step)) {
      if (lists.begin)
        find(static_cast<std::uint32_t>(first));
      else
        take(list);
    }
    TENON_DEVICE Index endOf(Index n) const { return count_ < n ? count_ : n; }
    // Advances by one step. Returns true if the next element is in another row.
    TENON_DEVICE bool step() {
      if (!lists_.begin) {
        position_ += step_;
        take(inRow_);
        return true;
      }
      inRow_ += step_;
      element_ += step_;
      if (inRow_ < lists_.length.divisor())
        return false;
      find(inRow_);
      return true;
    }
    // stays(): whether the next `count` elements are in the current row. If so, ahead() returns the
    // index of the element `count` steps later, and skip() advances to it.
    TENON_DEVICE bool stays(int count) const {
      return lists_.begin && inRow_ + count * step_ < lists_.length.divisor();
    }
    TENON_DEVICE Index ahead(int count) const { return element_ + count * Index(step_); }
    TENON_DEVICE void skip(int count) {
      inRow_ += count * step_;
      element_ += count * Index(step_);
    }
    TENON_DEVICE bool isPast() const { return position_ >= end_; }
    TENON_DEVICE Index row() const { return row_; }
    TENON_DEVICE Index element() const { return element_; }
    TENON_DEVICE Index inRow() const { return inRow_; }

  private:
    // Moves to element `number`, counted from the first element of the current row.
    TENON_DEVICE void find(std::uint32_t number) {
      const Index inRow = lists_.length.divide(number);
      position_ += number;
      take(inRow);
    }
    TENON_DEVICE void take(Index inRow) {
      inRow_ = static_cast<std::uint32_t>(inRow);
      row_ = lists_.begin && !isPast() ? lists_.rows[position_] : position_;
      element_ = row_ * lists_.lengthOfRow + inRow;
    }
    const RowLists& lists_;
    std::uint32_t position_, end_; // indices in the list of all rows
    Index count_, row_ = 0, element_ = 0;
    std::uint32_t step_, inRow_ = 0;
  };
};

// Sums a thread's elements, and their squares, as distances from its first element: this needs no
// division per element.
struct MomentsRun {
  double count = 0, origin = 0, first = 0, second = 0;
  TENON_DEVICE explicit MomentsRun(const Partial&) {}
  template <int kCount>
  TENON_DEVICE void add(const double (&x)[kCount]) {
    origin = count == 0 ? x[0] : origin;
    TENON_UNROLL
    for (int k = 0; k < kCount; ++k) {
      const double distance = x[k] - origin;
      first += distance;
      second += distance * distance;
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
struct GroupMoments { // terms of the moments: the elements x of a group's rows
  using Wide = Partial;
  using Run = MomentsRun;
  RowLists lists;
  const T* x;
  struct Terms {
    RowLists::Steps steps;
    const T* x;
    TENON_DEVICE Index endOf(Index n) const { return steps.endOf(n); }
    TENON_DEVICE Index next() {
      const Index current = steps.element();
      steps.step();
      return current;
    }
    TENON_DEVICE bool stays(int count) const { return steps.stays(count); }
    TENON_DEVICE Index ahead(int count) const { return steps.ahead(count); }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE double at(Index i) const { return x[i]; }
  };
  TENON_DEVICE Terms of(Index group, Index first, Index step) const {
    return {{lists, group, first, step}, x};
  }
};
template <class T>
struct StoreMoments { // final stage of the sum
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const Partial& moments) const {
    mean[group] = T(moments.mean);
    second[group] = T(moments.second);
  }
};

template <class T>
struct GroupMomentsTangent { // terms of the derivative: dx, and (x - mean) dx
  using Wide = TwoSums;
  RowLists lists;
  const T *x, *mean, *dx;
  struct Terms : GroupMoments<T>::Terms {
    const T* dx;
    double mean;
    TENON_DEVICE TwoSums at(Index i) const {
      const double d = dx[i];
      return {d, (double(this->x[i]) - mean) * d};
    }
  };
  TENON_DEVICE Terms of(Index group, Index first, Index step) const {
    return {{{lists, group, first, step}, x}, dx, mean[group]};
  }
};
template <class T>
struct StoreMomentsTangent {   // d mean = sum / count, d second = 2 sum
  const double* inverseCounts; // 0 for a group without elements
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const TwoSums& sums) const {
    mean[group] = T(inverseCounts[group] * sums.first);
    second[group] = T(2 * sums.second);
  }
};

// The adjoint of moments, per element and row: write(index, line(row).read(index)).
template <class T>
struct MomentsAdjoint {
  static constexpr int kStrip = kRowStrip;
  const Index* groupOf;
  const double* inverseCounts;
  const T *x, *mean, *dMean, *dSecond;
  Index adds; // 1: dx is incremented, 0: overwritten
  T* dx;
  struct Line {
    const MomentsAdjoint& adjoint;
    T level, slope, mean;
    TENON_DEVICE T read(Index i) const {
      const T value = level + slope * (adjoint.x[i] - mean);
      return adjoint.adds ? adjoint.dx[i] + value : value;
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = groupOf[row];
    return {*this, T(inverseCounts[g] * double(dMean[g])), 2 * dSecond[g], mean[g]};
  }
  TENON_DEVICE void write(Index i, T value) const { dx[i] = value; }
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

// The point at which a normalisation or its derivative is evaluated. If weightOf is null, each
// weight belongs to a position in a row instead of a row; if `weight` is null, all weights are 1.
template <class T>
struct RowPoint {
  const Index *groupOf, *weightOf;
  const T *x, *mean, *scale, *weight;
  Index length;

  // The weights of a row's elements: one for the row, or one per position from `begin` on.
  struct Weights {
    const T* values;
    bool isOfPosition;
    T ofRow;
    Index begin;
    TENON_DEVICE T of(Index i) const { return isOfPosition ? values[i - begin] : ofRow; }
  };
  // `otherwise` replaces absent values; `index` is weightOfRow(row).
  TENON_DEVICE Weights weightsOf(const T* values, T otherwise, Index row, Index index) const {
    return {values, values && !weightOf, values && weightOf ? values[index] : otherwise,
            row * length};
  }
  TENON_DEVICE Index weightOfRow(Index row) const { return weightOf ? weightOf[row] : 0; }
};

template <class T>
struct Normalise { // y = max(least, (x - mean) scale weight + bias)
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> point;
  const T* bias;
  T least; // lower bound of y
  T* y;
  struct Line {
    const T* x;
    T mean, scale;
    typename RowPoint<T>::Weights weights, biases;
    TENON_DEVICE T read(Index i) const {
      return (x[i] - mean) * (scale * weights.of(i)) + biases.of(i);
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = point.groupOf[row], w = point.weightOfRow(row);
    return {point.x, point.mean[g], point.scale[g], point.weightsOf(point.weight, T(1), row, w),
            point.weightsOf(bias, T(0), row, w)};
  }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value < least ? least : value; }
};

template <class T>
struct NormaliseTangent { // `slope` is d scale = -scale^3 / 2 d variance
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> point;
  const T *dx, *dMean, *dSecond, *dWeight, *dBias; // each can be null
  T* dy;
  struct Line {
    const T *x, *dx;
    T mean, scale, slope, dMean;
    typename RowPoint<T>::Weights weights, dWeights, dBiases;
    TENON_DEVICE T read(Index i) const {
      const T distance = x[i] - mean, dDistance = (dx ? dx[i] : T(0)) - dMean;
      return weights.of(i) * (scale * dDistance + distance * slope) +
             dWeights.of(i) * scale * distance + dBiases.of(i);
    }
  };
  TENON_DEVICE Line line(Index row) const {
    const Index g = point.groupOf[row], w = point.weightOfRow(row);
    const T scale = point.scale[g];
    const double cube = double(scale) * double(scale) * double(scale);
    return {point.x,
            dx,
            point.mean[g],
            scale,
            dSecond ? T(-0.5 * cube * double(dSecond[g])) : T(0),
            dMean ? dMean[g] : T(0),
            point.weightsOf(point.weight, T(1), row, w),
            point.weightsOf(dWeight, T(0), row, w),
            point.weightsOf(dBias, T(0), row, w)};
  }
  TENON_DEVICE void write(Index i, T value) const { dy[i] = value; }
};

template <class T>
struct NormaliseAdjoint { // dx = weight scale dy, for fixed moments
  static constexpr int kStrip = kRowStrip;
  RowPoint<T> point;
  const T* dy;
  T* dx;
  struct Line {
    const T* dy;
    T scale;
    typename RowPoint<T>::Weights weights;
    TENON_DEVICE T read(Index i) const { return weights.of(i) * scale * dy[i]; }
  };
  TENON_DEVICE Line line(Index row) const {
    return {dy, point.scale[point.groupOf[row]],
            point.weightsOf(point.weight, T(1), row, point.weightOfRow(row))};
  }
  TENON_DEVICE void write(Index i, T value) const { dx[i] = value; }
};

// The two sums of a group from which the cotangents of its mean and variance are computed. The same
// pass over dy also writes dx as NormaliseAdjoint does.
template <class T>
struct GroupSlopes { // terms: weight dy, and weight dy (x - mean)
  using Wide = TwoSums;
  RowPoint<T> point;
  RowLists lists;
  const T *dy, *ofGroups; // ofGroups: null, or weights by group, which the sums do not contain
  T* dx;                  // can be null
  struct Element {        // and what its term needs of its row
    Index index;
    T weight;
  };
  struct Terms {
    const RowPoint<T>& point;
    RowLists::Steps steps;
    const T* dy;
    T* dx;
    double mean, slope;
    T weight = 1; // of the current row
    TENON_DEVICE Index endOf(Index n) const { return steps.endOf(n); }
    TENON_DEVICE void enterRow() {
      if (point.weight && point.weightOf && !steps.isPast())
        weight = point.weight[point.weightOf[steps.row()]];
    }
    TENON_DEVICE Element next() {
      const bool isOfPosition = point.weight && !point.weightOf;
      const Element current{steps.element(), isOfPosition ? point.weight[steps.inRow()] : weight};
      if (steps.step())
        enterRow();
      return current;
    }
    TENON_DEVICE bool stays(int count) const {
      return (!point.weight || point.weightOf) && steps.stays(count);
    }
    TENON_DEVICE Element ahead(int count) const { return {steps.ahead(count), weight}; }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE TwoSums at(const Element& e) const {
      const double product = double(e.weight) * double(dy[e.index]);
      return {product, product * (double(point.x[e.index]) - mean)};
    }
    TENON_DEVICE void write(const Element& e, const TwoSums& sums) const {
      if (dx)
        dx[e.index] = T(slope * sums.first);
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
struct StoreGroupSlopes { // the cotangents of a group's mean and variance
  const T* scale;
  T *mean, *second;
  TENON_DEVICE void operator()(Index group, const TwoSums& sums) const {
    const double s = scale[group];
    mean[group] = T(-s * sums.first);
    second[group] = T(-0.5 * s * s * s * sums.second);
  }
};

// The sums for the cotangents of weights and biases, for rows in lists or for positions in a row.
template <class T>
struct WeightSlopes { // terms: dy, and dy (x - mean) scale
  using Wide = TwoSums;
  RowPoint<T> point;
  RowLists lists;
  const T* dy;
  bool groupsAreCloser() const { return !lists.begin; }
  struct Element {
    Index index;
    double mean, scale;
  };
  struct Terms {
    const RowPoint<T>& point;
    RowLists::Steps steps;
    const T* dy;
    double mean = 0, scale = 0; // of the current row
    TENON_DEVICE Index endOf(Index n) const { return steps.endOf(n); }
    TENON_DEVICE void enterRow() {
      if (steps.isPast())
        return;
      const Index g = point.groupOf[steps.row()];
      mean = point.mean[g];
      scale = point.scale[g];
    }
    TENON_DEVICE Element next() {
      const Element current{steps.element(), mean, scale};
      if (steps.step())
        enterRow();
      return current;
    }
    TENON_DEVICE bool stays(int count) const { return steps.stays(count); }
    TENON_DEVICE Element ahead(int count) const { return {steps.ahead(count), mean, scale}; }
    TENON_DEVICE void skip(int count) { steps.skip(count); }
    TENON_DEVICE TwoSums at(const Element& e) const {
      const double d = dy[e.index];
      return {d, d * (double(point.x[e.index]) - e.mean) * e.scale};
    }
  };
  TENON_DEVICE Terms of(Index list, Index first, Index step) const {
    Terms terms{point, {lists, list, first, step}, dy};
    terms.enterRow();
    return terms;
  }
};
template <class T>
struct AddWeightSlopes { // adds to the cotangents of bias and weight number w
  T *weight, *bias;      // each can be null
  TENON_DEVICE void operator()(Index w, const TwoSums& sums) const {
    if (weight)
      weight[w] += T(sums.second);
    if (bias)
      bias[w] += T(sums.first);
  }
};

// Stores both kinds of sums at once, if each weight belongs to the rows of one group. The sums do
// not contain the weights, which can be null.
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

} // namespace tenon::functors
