// SPDX-License-Identifier: BSD-2-Clause
// Normalisation on the device (formulas in normalisation.hpp): elementwise functors for x and dx,
// and reductions over groups of rows for moments and gradients. The rows of a group need not be
// adjacent, so they are listed; the terms of a reduction are the elements of all rows of the group.
// The functors are in functors/normalisation.hpp.
#include "kernels/rows/normalisation_device.hpp"

#include "kernels/walks/device_reduce.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr const char* kWhat = "a normalisation"; // for the text of an error

// Reciprocals, or 0 for an empty group, whose moments are then 0.
std::vector<double> inverse(std::vector<double> counts) {
  for (double& count : counts)
    count = functors::perCount(1, count);
  return counts;
}

// Reduces lists of rows. All lists have n terms, the number of the longest; terms beyond the end of
// a list are neutral.
template <class Op, class Term, class Use>
void reduceLists(KernelContext& context, Index lists, Index n, const Term& term, const Use& use) {
  checkElementCount(n, kWhat);
  if constexpr (kHasDevice)
    device::reduceEach<Op>(context, lists, n, term, typename Term::Wide{}, use);
}

} // namespace

DeviceRows::DeviceRows(const RowGroups& groups, KernelContext& context, Index scratch)
    : context_(context), rows_(groups.rows), length_(groups.length), scratch_(scratch),
      weights_(groups.weights),
      hasWeightsOfGroups_(groups.weights == RowWeights::OfRow && groups.weightOf == groups.groupOf),
      groupOf_(context, groups.groupOf), weightOf_(context, groups.weightOf),
      inverseCounts_(context, inverse(groups.counts())),
      groups_(listsOf(groups.groupOf, groups.groups)) {
  if (weights_ == RowWeights::OfRow && !groups.weightOf.empty())
    weighted_ = listsOf(groups.weightOf, 1 + *std::ranges::max_element(groups.weightOf));
}

// A counting sort, which preserves the order of rows within a list.
DeviceRows::Lists DeviceRows::listsOf(const std::vector<Index>& listOfRow, Index lists) const {
  std::vector<Index> begin(static_cast<std::size_t>(lists + 1), 0), rows(listOfRow.size());
  for (const Index list : listOfRow)
    ++begin[list + 1];
  const Index largestCount = *std::ranges::max_element(begin);
  for (Index list = 0; list < lists; ++list)
    begin[list + 1] += begin[list];
  std::vector<Index> next = begin;
  for (std::size_t row = 0; row < listOfRow.size(); ++row)
    rows[next[listOfRow[row]]++] = static_cast<Index>(row);
  return {{context_, std::move(begin)}, {context_, std::move(rows)}, lists, largestCount * length_};
}

functors::RowLists DeviceRows::in(const Lists& lists) const {
  return {.begin = lists.begin.data(),
          .rows = lists.rows.data(),
          .length = divisorOf(length_),
          .lengthOfRow = length_,
          .allRows = rows_};
}

template <class F>
void DeviceRows::eachElementOfRows(const F& f) {
  if constexpr (kHasDevice)
    device::eachAlongAxis(context_, {rows_, length_, 1}, f);
}

// The scales of groups are computed once per call, which saves a square root per element.
template <class T>
functors::RowPoint<T> DeviceRows::pointOf(const NormalisePoint<T>& point) {
  T* scale = context_.scratch<T>(scratch_);
  eachElement(context_, groups_.count, 1,
              functors::GroupScale<T>{point.moments.second, point.epsilon, scale});
  return {groupOf_.data(), weightOf_.data(), point.x, point.moments.mean,
          scale,           point.weight,     length_};
}

template <class T>
void DeviceRows::moments(const T* x, Moments<T> result) {
  reduceLists<functors::AddMoments>(context_, groups_.count, groups_.longest,
                                    functors::GroupMoments<T>{in(groups_), x},
                                    functors::StoreMoments<T>{result.mean, result.second});
}

template <class T>
void DeviceRows::momentsTangent(const T* x, const T* mean, const T* dx, Moments<T> dMoments) {
  reduceLists<functors::AddSums>(
      context_, groups_.count, groups_.longest,
      functors::GroupMomentsTangent<T>{in(groups_), x, mean, dx},
      functors::StoreMomentsTangent<T>{inverseCounts_.data(), dMoments.mean, dMoments.second});
}

template <class T>
void DeviceRows::momentsAdjoint(const T* x, const T* mean, Moments<const T> dMoments, bool adds,
                                T* dx) {
  eachElementOfRows(functors::MomentsAdjoint<T>{groupOf_.data(), inverseCounts_.data(), x, mean,
                                                dMoments.mean, dMoments.second, adds ? 1 : 0, dx});
}

template <class T>
void DeviceRows::normalise(const NormalisePoint<T>& point, const T* bias, T least, T* y) {
  eachElementOfRows(functors::Normalise<T>{pointOf(point), bias, least, y});
}

template <class T>
void DeviceRows::normaliseTangent(const NormalisePoint<T>& point, const T* dx,
                                  Moments<const T> moments, const T* weight, const T* bias, T* dy) {
  eachElementOfRows(functors::NormaliseTangent<T>{pointOf(point), dx, moments.mean, moments.second,
                                                  weight, bias, dy});
}

template <class T>
void DeviceRows::normaliseAdjoint(const NormalisePoint<T>& point, const T* dy,
                                  const NormaliseCotangents<T>& d) {
  const functors::RowPoint<T> rowPoint = pointOf(point);
  // Without the sums of groups dx needs a pass of its own. With them it does not: they read the
  // same dy, and write dx in the same pass.
  if (d.x && !d.moments.mean)
    eachElementOfRows(functors::NormaliseAdjoint<T>{rowPoint, dy, d.x});
  const functors::StoreGroupSlopes<T> groups{rowPoint.scale, d.moments.mean, d.moments.second};
  const functors::AddWeightSlopes<T> weights{d.weight, d.bias};
  // If the weights belong to the groups, one pass computes the sums of both. The gradients of the
  // weights are sums of dy without the weights, so the sums are computed without them, and
  // StoreAllSlopes multiplies those of a group by its weight afterwards.
  if (d.moments.mean && (d.weight || d.bias) && hasWeightsOfGroups_) {
    functors::RowPoint<T> withoutWeight = rowPoint;
    withoutWeight.weight = nullptr;
    return reduceLists<functors::AddSums>(
        context_, groups_.count, groups_.longest,
        functors::GroupSlopes<T>{withoutWeight, in(groups_), dy, rowPoint.weight, d.x},
        functors::StoreAllSlopes<T>{groups, weights, rowPoint.weight});
  }
  if (d.moments.mean)
    reduceLists<functors::AddSums>(
        context_, groups_.count, groups_.longest,
        functors::GroupSlopes<T>{rowPoint, in(groups_), dy, nullptr, d.x}, groups);
  if (d.weight || d.bias)
    addWeightSlopes(rowPoint, dy, weights);
}

template <class T>
void DeviceRows::addWeightSlopes(const functors::RowPoint<T>& point, const T* dy,
                                 const functors::AddWeightSlopes<T>& use) {
  // The sum for a weight per row runs over a list of rows; the sum for a weight per position runs
  // over that position in all rows.
  const bool isPerRow = weights_ == RowWeights::OfRow;
  reduceLists<functors::AddSums>(context_, isPerRow ? weighted_.count : length_,
                                 isPerRow ? weighted_.longest : rows_,
                                 functors::WeightSlopes<T>{point, in(weighted_), dy}, use);
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void DeviceRows::moments<T>(const T*, Moments<T>);                                      \
  template void DeviceRows::momentsTangent<T>(const T*, const T*, const T*, Moments<T>);           \
  template void DeviceRows::momentsAdjoint<T>(const T*, const T*, Moments<const T>, bool, T*);     \
  template void DeviceRows::normalise<T>(const NormalisePoint<T>&, const T*, T, T*);               \
  template void DeviceRows::normaliseTangent<T>(const NormalisePoint<T>&, const T*,                \
                                                Moments<const T>, const T*, const T*, T*);         \
  template void DeviceRows::normaliseAdjoint<T>(const NormalisePoint<T>&, const T*,                \
                                                const NormaliseCotangents<T>&);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
