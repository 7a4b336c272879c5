// SPDX-License-Identifier: BSD-2-Clause
// Normalisation of rows of an array by means and variances of groups of rows:
//     y[r,l] = (x[r,l] - mean[g]) / sqrt(variance[g] + epsilon) * weight + bias,    g the group of row r,
// with one weight for a row, one for each place in a row, or none. Means and second moments (sums
// of squared distances from the mean) are computed by rows and combined as Chan, Golub and LeVeque
// do, in double and in the order of the rows, so that neither number of rows nor threads costs
// digits.
#pragma once

#include "kernels/base/context.hpp"

#include <limits>
#include <vector>

namespace tenon {

enum class RowWeights { None, OfRow, OfPlace };

struct RowGroups {
  Index rows = 0, length = 0, groups = 0;
  std::vector<Index> groupOf;  // the group of each row
  std::vector<Index> weightOf; // the weight of each row, with RowWeights::OfRow
  RowWeights weights = RowWeights::None;

  // How many elements a group has.
  std::vector<double> counts() const;
};

// Two numbers of each group: its mean and second moment, or mean and variance; or derivatives of
// these.
template <class T>
struct Moments {
  T *mean, *second;
};

// The point at which a derivative is taken, or an application made.
template <class T>
struct NormalisePoint {
  const T* x;
  Moments<const T> moments; // mean and variance
  double epsilon;
  const T* weight; // null without
};

// The cotangents that an adjoint writes; each may be null. Those of x and the moments are
// overwritten, those of the parameters are added to.
template <class T>
struct NormaliseCotangents {
  T* x = nullptr;
  Moments<T> moments = {nullptr, nullptr};
  T *weight = nullptr, *bias = nullptr;
};

class DeviceRows; // normalisation_device.hpp

// The kernels for one list of groups. They use a few doubles of scratch for each row. A group
// without elements has the moments 0.
class RowKernels {
public:
  RowKernels(RowGroups groups, KernelContextPtr context);
  ~RowKernels();
  const RowGroups& groups() const noexcept { return groups_; }

  template <class T>
  void moments(const T* x, Moments<T> of);
  // The derivative of the moments at x, whose mean is given.
  template <class T>
  void momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> of);
  // dx is overwritten, or added to with `adds`.
  template <class T>
  void momentsAdjoint(const T* x, const T* mean, Moments<const T> of, bool adds, T* dx);

  // bias may be null. What is less than `least` becomes that: 0 for a rectifier.
  template <class T>
  void normalise(const NormalisePoint<T>& at, const T* bias, T* y,
                 T least = -std::numeric_limits<T>::infinity());
  // Each direction may be null; those of the moments are both null or neither.
  template <class T>
  void normaliseTangent(const NormalisePoint<T>& at, const T* dx, Moments<const T> moments,
                        const T* weight, const T* bias, T* dy);
  template <class T>
  void normaliseAdjoint(const NormalisePoint<T>& at, const T* dy,
                        const NormaliseCotangents<T>& cotangents);

private:
  template <class Factor, class Put>
  void putByGroup(const Factor& factor, const Put& put);
  template <class T>
  void addPlaces(const NormalisePoint<T>& at, const T* dy, T* weight, T* bias);

  RowGroups groups_;
  std::vector<double> counts_;
  KernelContextPtr context_;
  Index scratch_ = 0;
  std::unique_ptr<DeviceRows> device_; // null on the host
};

// A part of groups whose moments are combined with those of other parts, on other ranks: `counts`
// has how many elements of each group the part has, and then how many all parts have. The
// combination sums twice over the parts: their means, and then, counted from the sum as a
// reference, means and variances. Neither costs digits where means are large, and what comes of it
// is the same whatever the reference, which therefore has no derivative.
struct PartMoments {
  Index groups = 0;
  ReadList<double> counts;
};
// The part's contribution to the mean of all.
template <class T>
void shareOfMean(KernelContext& context, const PartMoments& of, const T* mean, T* contribution);
// The part's contributions to what combineMoments() takes.
template <class T>
void shareOfMoments(KernelContext& context, const PartMoments& of, Moments<const T> part,
                    const T* reference, Moments<T> contributions);
template <class T>
void shareOfMomentsTangent(KernelContext& context, const PartMoments& of, const T* mean,
                           const T* reference, Moments<const T> dPart, Moments<T> dContributions);
// dPart is overwritten.
template <class T>
void shareOfMomentsAdjoint(KernelContext& context, const PartMoments& of, const T* mean,
                           const T* reference, Moments<const T> dContributions, Moments<T> dPart);
// Mean and variance from the sums of the contributions; where the reference is null, from the
// moments of the only part.
template <class T>
void combineMoments(KernelContext& context, const PartMoments& of, const T* reference,
                    Moments<const T> sums, Moments<T> all);
// `first` is the first of the sums; null without a reference.
template <class T>
void combineMomentsTangent(KernelContext& context, const PartMoments& of, const T* first,
                           Moments<const T> dSums, Moments<T> all);
// dSums is overwritten.
template <class T>
void combineMomentsAdjoint(KernelContext& context, const PartMoments& of, const T* first,
                           Moments<const T> all, Moments<T> dSums);

// running <- (1 - momentum) running + momentum (mean, unbiased variance), where a group has
// elements.
template <class T>
void followMoments(KernelContext& context, const PartMoments& of, double momentum,
                   Moments<const T> all, Moments<T> running);

} // namespace tenon
