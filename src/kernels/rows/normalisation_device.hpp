// SPDX-License-Identifier: BSD-2-Clause
// The kernels of rows/normalisation.hpp on the device: RowKernels passes its calls to a DeviceRows,
// whose functions have the same arguments. A sum of a group runs over the elements of all its rows,
// which are listed because they need not be adjacent.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/normalisation.hpp"
#include "kernels/rows/normalisation.hpp"

namespace tenon {

class DeviceRows {
public:
  // The context must have planned scratch for one double per group at the offset `scratch`.
  DeviceRows(const RowGroups& groups, KernelContext& context, Index scratch);

  template <class T>
  void moments(const T* x, Moments<T> result);
  template <class T>
  void momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> dMoments);
  template <class T>
  void momentsAdjoint(const T* x, const T* mean, Moments<const T> dMoments, bool adds, T* dx);
  template <class T>
  void normalise(const NormalisePoint<T>& point, const T* bias, T least, T* y);
  template <class T>
  void normaliseTangent(const NormalisePoint<T>& point, const T* dx, Moments<const T> moments,
                        const T* weight, const T* bias, T* dy);
  template <class T>
  void normaliseAdjoint(const NormalisePoint<T>& point, const T* dy,
                        const NormaliseCotangents<T>& cotangents);

private:
  // Lists of rows; `longest` is the number of elements of the longest list.
  struct Lists {
    ReadList<Index> begin, rows;
    Index count = 0, longest = 0;
  };
  // The rows of each list, where listOfRow[r] is the list of row r.
  Lists listsOf(const std::vector<Index>& listOfRow, Index lists) const;
  functors::RowLists in(const Lists& lists) const; // as an argument of functors
  template <class T>
  functors::RowPoint<T> pointOf(const NormalisePoint<T>& point);
  template <class F>
  void eachElementOfRows(const F& f);
  template <class T>
  void addWeightSlopes(const functors::RowPoint<T>& point, const T* dy,
                       const functors::AddWeightSlopes<T>& use);

  KernelContext& context_;
  Index rows_, length_, scratch_;
  RowWeights weights_;
  bool hasWeightsOfGroups_; // whether the rows of weight w are the rows of group w
  ReadList<Index> groupOf_, weightOf_;
  ReadList<double> inverseCounts_; // 1 / number of elements of each group, or 0
  Lists groups_, weighted_;        // the rows of each group, and those of each weight
};

} // namespace tenon
