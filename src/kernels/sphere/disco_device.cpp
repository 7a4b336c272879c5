// SPDX-License-Identifier: BSD-2-Clause
// Discrete-continuous convolutions on a device (disco.hpp): the entries of a filter at all
// longitudes are lists of rows of one element (rows/row_lists.hpp), and the sums of a group of
// channels are one matrix product. The lists are longitudes times as long as those of the host.
#include "kernels/products/gemm.hpp"
#include "kernels/sphere/disco.hpp"

namespace tenon {

template <class T>
void DiscoProducts<T>::makeLists(const TurnedFilter& filter) {
  prepareGemm(*context_);
  const Index rows = shape_.coarse.size(), fineColumns = columns_ * step_;
  std::vector<Index> to, from;
  std::vector<double> values;
  for (Index row = 0; row < rows; ++row)
    for (Index k = 0; k < functions_; ++k)
      for (Index e = filter.first[row * functions_ + k]; e < filter.first[row * functions_ + k + 1];
           ++e)
        for (Index x = 0; x < columns_; ++x) {
          const FilterEntry& entry = filter.entries[e];
          const Index fineRow = filter.fineRows[row].begin - shape_.fine.begin + entry.row;
          to.push_back((k * rows + row) * columns_ + x);
          from.push_back(fineRow * fineColumns + (entry.column + step_ * x) % fineColumns);
          values.push_back(entry.value);
        }
  const auto count = static_cast<Index>(to.size());
  lists_ = listRows(functions_ * rows * columns_, {count, to.data(), from.data(), values.data()});
  transposed_ =
      listRows(shape_.fine.size() * fineColumns, {count, from.data(), to.data(), values.data()});
  lists_.finish(*context_);
  transposed_.finish(*context_);
  ScratchPlan plan;
  deviceSums_ = plan.add<T>(shape_.fineChannels * functions_ * rows * columns_);
  context_->reserve(plan);
}

// Calls body(channels of a group, sums, weights of the group) for each sample and group.
template <class T>
template <class Body>
void DiscoProducts<T>::eachSumsOnDevice(const Body& body) {
  for (Index n = 0; n < shape_.batch; ++n)
    for (Index group = 0; group < shape_.groups; ++group)
      body(Channels{n, group, 0, shape_.fineChannels}, context_->template scratch<T>(deviceSums_),
           group * shape_.coarseChannels * shape_.fineChannels * functions_);
}

// sums[channel, k, point]
template <class T>
void DiscoProducts<T>::sumsOnDevice(const T* u, const Channels& channels, T* sums) {
  for (Index f = 0; f < channels.count; ++f)
    combineRows<T>(*context_, lists_, 1, u + fineAt(channels, f), 1, /*adds=*/false,
                   sums + f * lists_.rows, 1);
}

template <class T>
void DiscoProducts<T>::toCoarseOnDevice(const T* u, const T* w, T* y) {
  const Index points = shape_.coarse.size() * columns_, products = shape_.fineChannels * functions_;
  eachSumsOnDevice([&](const Channels& channels, T* sums, Index weight) {
    sumsOnDevice(u, channels, sums);
    gemm<T>(*context_, backend_, false, false, shape_.coarseChannels, points, products, T(1),
            w + weight, products, sums, points, T(1), y + coarseAt(channels, 0), points);
  });
}

template <class T>
void DiscoProducts<T>::toFineOnDevice(const T* y, const T* w, T* u) {
  const Index points = shape_.coarse.size() * columns_, products = shape_.fineChannels * functions_;
  eachSumsOnDevice([&](const Channels& channels, T* sums, Index weight) {
    gemm<T>(*context_, backend_, true, false, products, points, shape_.coarseChannels, T(1),
            w + weight, products, y + coarseAt(channels, 0), points, T(0), sums, points);
    for (Index f = 0; f < channels.count; ++f)
      combineRows<T>(*context_, transposed_, 1, sums + f * lists_.rows, 1, /*adds=*/true,
                     u + fineAt(channels, f), 1);
  });
}

template <class T>
void DiscoProducts<T>::addWeightsOnDevice(const T* u, const T* y, T* dw) {
  const Index points = shape_.coarse.size() * columns_, products = shape_.fineChannels * functions_;
  eachSumsOnDevice([&](const Channels& channels, T* sums, Index weight) {
    sumsOnDevice(u, channels, sums);
    gemm<T>(*context_, backend_, false, true, shape_.coarseChannels, products, points, T(1),
            y + coarseAt(channels, 0), points, sums, points, T(1), dw + weight, products);
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void DiscoProducts<T>::makeLists(const TurnedFilter&);                                  \
  template void DiscoProducts<T>::toCoarseOnDevice(const T*, const T*, T*);                        \
  template void DiscoProducts<T>::toFineOnDevice(const T*, const T*, T*);                          \
  template void DiscoProducts<T>::addWeightsOnDevice(const T*, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
