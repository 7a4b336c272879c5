// SPDX-License-Identifier: BSD-2-Clause
// Functors for the moments of groups whose elements are divided among several ranks, per group
// (rows/normalisation.hpp). A part is the elements of a group on one rank, with n of the N elements
// of the group, its own mean m, and the sum s of squared deviations from m. Relative to a reference
// mean r, which is the same on all ranks, each part contributes (ShareOfMoments)
//
//     first = n / N (m - r),    second = s / N + n / N (m - r)^2.
//
// From their sums over the ranks, CombineMoments computes the mean r + first and the variance
// second - first^2. Deviations from r instead of 0 avoid the cancellation of large numbers.
#pragma once

#include "kernels/functors/normalisation.hpp"

namespace tenon::functors {

// The number n of elements of this part, relative to that of all parts, N.
struct PartShare {
  const double *part, *all; // elements of each group in this part, and in all parts
  TENON_DEVICE double ratio(Index g) const { return perCount(part[g], all[g]); } // part / all
  TENON_DEVICE double per(Index g) const { return perCount(1, all[g]); }         // 1 / all
};

// Contribution of a part to the mean of all parts.
template <class T>
struct ShareOfMean {
  PartShare share;
  const T* mean;
  T* contribution;
  TENON_DEVICE void operator()(Index g) const {
    contribution[g] = T(share.ratio(g) * double(mean[g]));
  }
};

// Contributions of a part to the mean and the variance of all parts, relative to a reference mean.
template <class T>
struct ShareOfMoments {
  PartShare share;
  const T *mean, *second, *reference;
  T *dMean, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double distance = double(mean[g]) - double(reference[g]);
    dMean[g] = T(share.ratio(g) * distance);
    dSecond[g] = T(share.per(g) * double(second[g]) + share.ratio(g) * distance * distance);
  }
};
template <class T>
struct ShareOfMomentsTangent { // for a fixed reference, as in the adjoint
  PartShare share;
  const T *mean, *reference, *dMean, *dSecond;
  T *first, *second;
  TENON_DEVICE void operator()(Index g) const {
    const double shift = double(mean[g]) - double(reference[g]),
                 d = share.ratio(g) * double(dMean[g]);
    first[g] = T(d);
    second[g] = T(share.per(g) * double(dSecond[g]) + 2 * shift * d);
  }
};
// The adjoint of ShareOfMoments, at a point with these means.
template <class T>
struct ShareOfMomentsAdjoint {
  PartShare share;
  const T *mean, *reference, *first, *second;
  T *dMean, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double distance = double(mean[g]) - double(reference[g]);
    dMean[g] = T(share.ratio(g) * (double(first[g]) + 2 * distance * double(second[g])));
    dSecond[g] = T(share.per(g) * double(second[g]));
  }
};

// Mean and variance from the sums of these contributions over all parts; or, if there is only one
// part and hence no reference mean, from the moments of this part.
template <class T>
struct CombineMoments {
  PartShare share;
  const T *reference, *first, *second;
  T *mean, *variance;
  TENON_DEVICE void operator()(Index g) const {
    const double distance = first[g];
    mean[g] = T(reference ? double(reference[g]) + distance : distance);
    const double square =
        reference ? double(second[g]) - distance * distance : share.per(g) * double(second[g]);
    variance[g] = T(square > 0 ? square : 0);
  }
};
// The tangent of CombineMoments.
template <class T>
struct CombineMomentsTangent {
  PartShare share;
  const T* first; // null if there is no reference
  const T *dFirst, *dSecond;
  T *mean, *variance;
  TENON_DEVICE void operator()(Index g) const {
    mean[g] = dFirst[g];
    variance[g] = T(first ? double(dSecond[g]) - 2 * double(first[g]) * double(dFirst[g])
                          : share.per(g) * double(dSecond[g]));
  }
};
// The adjoint of CombineMoments.
template <class T>
struct CombineMomentsAdjoint {
  PartShare share;
  const T* first; // null if there is no reference
  const T *dMean, *dVariance;
  T *dFirst, *dSecond;
  TENON_DEVICE void operator()(Index g) const {
    const double d = dVariance[g];
    dFirst[g] = T(double(dMean[g]) - (first ? 2 * double(first[g]) * d : 0));
    dSecond[g] = T(first ? d : share.per(g) * d);
  }
};

// running <- (1 - momentum) running + momentum (mean, unbiased variance), for groups with elements.
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
    // For one element, which has no unbiased variance, perCount() is 0.
    const double unbiased = double(variance[g]) * perCount(count, count - 1);
    runningMean[g] += T(momentum * (double(mean[g]) - double(runningMean[g])));
    runningVariance[g] += T(momentum * (unbiased - double(runningVariance[g])));
  }
};

} // namespace tenon::functors
