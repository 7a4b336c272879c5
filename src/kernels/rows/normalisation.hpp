// SPDX-License-Identifier: BSD-2-Clause
// Normalisation of the rows of an array with the mean and variance of groups of rows:
//     y[r,l] = (x[r,l] - mean[g]) / sqrt(variance[g] + epsilon) * weight + bias,   g = groupOf[r],
// with a weight and bias per row, per position l in a row, or none. Examples for x [batch, channel,
// space...]: in batch normalisation a row is one channel of one image, and the group is the
// channel; in instance normalisation each row is its own group; in layer normalisation a row is the
// whole normalised part of a sample, with a weight per position.
//
// A layer calls moments() and normalise(), and for derivatives the functions with Tangent and
// Adjoint in their names. If ranks share a group, the functions at the end combine the moments of
// their parts.
//
// Means and second moments (sums of squared deviations from the mean) are computed per row and
// combined by the formula of Chan, Golub and LeVeque, in double and in the order of the rows:
// accurate for any number of rows, and independent of the number of threads.
#pragma once

#include "kernels/base/context.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tenon {

// No weights, one per row, or one per position in a row.
enum class RowWeights { None, OfRow, OfPosition };

// The rows of an array and the groups whose moments they share.
struct RowGroups {
  Index rows = 0, length = 0, groups = 0; // length: number of elements of a row
  std::vector<Index> groupOf;             // group of each row
  std::vector<Index> weightOf;            // weight of each row, for RowWeights::OfRow
  RowWeights weights = RowWeights::None;

  // Number of elements of each group.
  std::vector<double> counts() const;
};

// Two values per group: mean and second moment, or mean and variance, or derivatives of these.
template <class T>
struct Moments {
  T *mean, *second;
};

// The point at which a normalisation or its derivative is evaluated.
template <class T>
struct NormalisePoint {
  const T* x;
  Moments<const T> moments; // mean and variance
  double epsilon;
  const T* weight; // null: no weights
};

// For groups that are channels: a normalisation as a factor and a summand of each channel,
//     scale = weight / sqrt(variance + epsilon),   shift = bias - scale mean,
// on the host; bias can be null. x is not read.
template <class T>
void channelScaling(const NormalisePoint<T>& at, const T* bias, std::span<float> scale,
                    std::span<float> shift) {
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double weight = at.weight ? double(at.weight[c]) : 1,
                 factor = weight / std::sqrt(double(at.moments.second[c]) + at.epsilon);
    scale[c] = float(factor);
    shift[c] = float((bias ? double(bias[c]) : 0) - factor * double(at.moments.mean[c]));
  }
}

// Cotangents (gradients of the loss) that an adjoint writes; each can be null. The cotangents of x
// and of the moments are overwritten; the cotangents of weight and bias are incremented.
template <class T>
struct NormaliseCotangents {
  T* x = nullptr;
  Moments<T> moments = {nullptr, nullptr};
  T *weight = nullptr, *bias = nullptr;
};

class DeviceRows; // normalisation_device.hpp

// The kernels for one list of groups. They need a few doubles of scratch per row. The moments of an
// empty group are 0.
class RowKernels {
public:
  RowKernels(RowGroups groups, KernelContextPtr context);
  ~RowKernels();
  const RowGroups& groups() const noexcept { return groups_; }

  template <class T>
  void moments(const T* x, Moments<T> result);
  // The derivative of the moments at x; `mean` contains the mean of x.
  template <class T>
  void momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> dMoments);
  // The adjoint: dMoments are the cotangents of the moments. dx is overwritten, or incremented if
  // `adds`.
  template <class T>
  void momentsAdjoint(const T* x, const T* mean, Moments<const T> dMoments, bool adds, T* dx);

  // bias can be null. y is limited to at least `least`; 0 gives a rectifier.
  template <class T>
  void normalise(const NormalisePoint<T>& point, const T* bias, T* y,
                 T least = -std::numeric_limits<T>::infinity());
  // dx, moments, weight and bias are directions; each can be null. The moments are both null or
  // both set.
  template <class T>
  void normaliseTangent(const NormalisePoint<T>& point, const T* dx, Moments<const T> moments,
                        const T* weight, const T* bias, T* dy);
  template <class T>
  void normaliseAdjoint(const NormalisePoint<T>& point, const T* dy,
                        const NormaliseCotangents<T>& cotangents);

private:
  template <class Factor, class Put>
  void putByGroup(const Factor& factor, const Put& put);
  template <class T>
  void addByPosition(const NormalisePoint<T>& point, const T* dy, T* weight, T* bias);

  RowGroups groups_;
  std::vector<double> counts_; // elements of each group
  KernelContextPtr context_;
  Index scratch_ = 0;                  // offset in the context's scratch
  std::unique_ptr<DeviceRows> device_; // null on the host
};

// Combination of the moments of a group over parts of it on different ranks: each rank calls these
// local functions, and the caller reduces their results. The second moments of the parts
// cannot be added directly, since each of them is about the mean of its own part. `counts` lists
// the number of elements of each group in this rank's part, then the number in all parts. Two
// reductions are needed, both accurate for large means:
//     shareOfMean(mean, c);                  MPI_Allreduce c by MPI_SUM: the reference, the mean of
//                                            all parts up to rounding
//     shareOfMoments(part, reference, c);    MPI_Allreduce c by MPI_SUM
//     combineMoments(reference, c, all);
// The result does not depend on the reference, which therefore has no derivative.
struct PartMoments {
  Index groups = 0;
  ReadList<double> counts;
};
// Contribution of this part to the mean of all parts.
template <class T>
void shareOfMean(KernelContext& context, const PartMoments& parts, const T* mean, T* contribution);
// Contributions of this part to the arguments `sums` of combineMoments().
template <class T>
void shareOfMoments(KernelContext& context, const PartMoments& parts, Moments<const T> part,
                    const T* reference, Moments<T> contributions);
template <class T>
void shareOfMomentsTangent(KernelContext& context, const PartMoments& parts, const T* mean,
                           const T* reference, Moments<const T> dPart, Moments<T> dContributions);
// dPart is overwritten.
template <class T>
void shareOfMomentsAdjoint(KernelContext& context, const PartMoments& parts, const T* mean,
                           const T* reference, Moments<const T> dContributions, Moments<T> dPart);
// Mean and variance from the sums of the contributions or, if the reference is null, from the
// moments of the only part.
template <class T>
void combineMoments(KernelContext& context, const PartMoments& parts, const T* reference,
                    Moments<const T> sums, Moments<T> combined);
// `first` is the first of the sums; null if there is no reference.
template <class T>
void combineMomentsTangent(KernelContext& context, const PartMoments& parts, const T* first,
                           Moments<const T> dSums, Moments<T> combined);
// dSums is overwritten.
template <class T>
void combineMomentsAdjoint(KernelContext& context, const PartMoments& parts, const T* first,
                           Moments<const T> combined, Moments<T> dSums);

// running <- (1 - momentum) running + momentum (mean, unbiased variance), for groups with elements.
template <class T>
void followMoments(KernelContext& context, const PartMoments& parts, double momentum,
                   Moments<const T> combined, Moments<T> running);

} // namespace tenon
