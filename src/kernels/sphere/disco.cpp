// SPDX-License-Identifier: BSD-2-Clause
// Discrete-continuous convolutions (disco.hpp). The rows of the fine grid that a row of the coarse
// grid reads are copied to scratch memory in an order in which each entry reads consecutive
// numbers: by phase p % s of the columns, and each phase twice, as longitudes are periodic. An
// entry then adds its value times a vector with an element for each longitude, and sums over
// channels and basis functions are matrix products. Threads divide the rows of the coarse grid, or
// the channels of the fine grid where several rows add to one.
#include "kernels/sphere/disco.hpp"

#include "kernels/base/independent.hpp"
#include "kernels/base/instruction_set.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

namespace {

constexpr Index kSumsTogether = Index(1) << 16; // numbers of sums in scratch memory

// y += sum over four entries of value times x. Four at once save loads and stores of y.
template <class T>
void addFour(Index n, const T* values, const T* const* x, T* y) {
  const T a = values[0], b = values[1], c = values[2], d = values[3];
  const T *p = x[0], *q = x[1], *r = x[2], *s = x[3];
  vectorised([=] {
    TENON_INDEPENDENT_ITERATIONS
    for (Index i = 0; i < n; ++i)
      y[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
  });
}
template <class T>
void addOne(Index n, T value, const T* x, T* y) {
  vectorised([=] {
    TENON_INDEPENDENT_ITERATIONS
    for (Index i = 0; i < n; ++i)
      y[i] += value * x[i];
  });
}

} // namespace

double DiscoShape::flops() const {
  const double points = double(batch * groups * grids->shape().coarse.columns),
               products = double(coarse.size() * coarseChannels * fineChannels) *
                          double(grids->basis().size());
  return 2 * points * (grids->entries(fine, coarse) * double(fineChannels) + products);
}

template <class T>
DiscoProducts<T>::DiscoProducts(KernelContextPtr context, Backend backend, const DiscoShape& shape)
    : context_(std::move(context)), backend_(resolveBackend<T>(backend, context_->space())),
      shape_(shape), functions_(shape.grids->basis().size()),
      columns_(shape.grids->shape().coarse.columns), step_(shape.grids->shape().step()) {
  TurnedFilter filter(*shape.grids, shape.fine, shape.coarse);
  if (isOnDevice(*context_)) {
    makeLists(filter);
    return;
  }
  first_ = std::move(filter.first);
  Index mostRows = 0;
  for (CircleRange rows : filter.fineRows) {
    mostRows = std::max(mostRows, rows.size());
    fineRows_.push_back({rows.begin - shape.fine.begin, rows.end - shape.fine.begin});
  }
  for (const FilterEntry& e : filter.entries)
    entries_.push_back({2 * columns_ * (e.row * step_ + e.column % step_) + e.column / step_,
                        static_cast<T>(e.value)});
  together_ = std::clamp<Index>(kSumsTogether / std::max<Index>(functions_ * columns_, 1), 1,
                                std::max<Index>(shape.fineChannels, 1));
  const int threads = context_->threads();
  ScratchPlan plan;
  rows_ = plan.addForThreads<T>(threads, mostRows * 2 * columns_ * step_);
  sums_ = plan.addForThreads<T>(threads, together_ * functions_ * columns_);
  context_->reserve(plan);
}

template <class T>
Index DiscoProducts<T>::bytes() const {
  const auto listed = static_cast<std::size_t>(lists_.entries() + transposed_.entries());
  return static_cast<Index>(entries_.size() * sizeof(Entry) + first_.size() * sizeof(Index) +
                            listed * (sizeof(Index) + sizeof(double)));
}

template <class T>
typename DiscoProducts<T>::Work DiscoProducts<T>::workOf(int thread) {
  return {context_->scratch<T>(rows_, thread), context_->scratch<T>(sums_, thread)};
}

template <class T>
Index DiscoProducts<T>::fineAt(const Channels& at, Index channel) const {
  const Index number = (at.sample * shape_.groups + at.group) * shape_.fineChannels + channel;
  return number * shape_.fine.size() * columns_ * step_;
}
template <class T>
Index DiscoProducts<T>::coarseAt(const Channels& at, Index row) const {
  const Index channel = (at.sample * shape_.groups + at.group) * shape_.coarseChannels;
  return (channel * shape_.coarse.size() + row) * columns_;
}

// The rows of one field that a row of the coarse grid reads.
template <class T>
void DiscoProducts<T>::copyRows(const T* u, Index row, T* rows) const {
  for (Index f = fineRows_[row].begin; f < fineRows_[row].end; ++f) {
    const T* from = u + f * columns_ * step_;
    for (Index phase = 0; phase < step_; ++phase, rows += 2 * columns_)
      for (Index x = 0; x < columns_; ++x)
        rows[x] = rows[columns_ + x] = from[x * step_ + phase];
  }
}
// Its transpose.
template <class T>
void DiscoProducts<T>::addRows(const T* rows, Index row, T* u) const {
  for (Index f = fineRows_[row].begin; f < fineRows_[row].end; ++f) {
    T* to = u + f * columns_ * step_;
    for (Index phase = 0; phase < step_; ++phase, rows += 2 * columns_)
      for (Index x = 0; x < columns_; ++x)
        to[x * step_ + phase] += rows[x] + rows[columns_ + x];
  }
}

// sums[k, x] = the sums by the entries of a row of the coarse grid.
template <class T>
void DiscoProducts<T>::gather(const T* rows, Index row, T* sums) const {
  for (Index k = 0; k < functions_; ++k, sums += columns_) {
    std::fill(sums, sums + columns_, T(0));
    Index e = first_[row * functions_ + k];
    const Index end = first_[row * functions_ + k + 1];
    for (; e + 4 <= end; e += 4) {
      const Entry* entry = &entries_[e];
      const T values[] = {entry[0].value, entry[1].value, entry[2].value, entry[3].value};
      const T* const x[] = {rows + entry[0].at, rows + entry[1].at, rows + entry[2].at,
                            rows + entry[3].at};
      addFour(columns_, values, x, sums);
    }
    for (; e < end; ++e)
      addOne(columns_, entries_[e].value, rows + entries_[e].at, sums);
  }
}
// Its transpose.
template <class T>
void DiscoProducts<T>::scatter(const T* sums, Index row, T* rows) const {
  std::fill(rows, rows + fineRows_[row].size() * 2 * columns_ * step_, T(0));
  for (Index k = 0; k < functions_; ++k, sums += columns_)
    for (Index e = first_[row * functions_ + k]; e < first_[row * functions_ + k + 1]; ++e)
      addOne(columns_, entries_[e].value, sums, rows + entries_[e].at);
}

// The sums of consecutive channels, [channel, k, x].
template <class T>
void DiscoProducts<T>::sumsOf(const T* u, const Channels& channels, Index row,
                              const Work& work) const {
  for (Index i = 0; i < channels.count; ++i) {
    copyRows(u + fineAt(channels, channels.first + i), row, work.rows);
    gather(work.rows, row, work.sums + i * functions_ * columns_);
  }
}

// Calls body(work, channels) on all threads, which divide the fine channels of all groups, and of
// `samples` samples.
template <class T>
template <class Body>
void DiscoProducts<T>::eachChannels(Index samples, const Body& body) {
  const Index count = samples * shape_.groups * shape_.fineChannels,
              cost = static_cast<Index>(entries_.size() + 1) * columns_ * shape_.batch;
  parallelPieces(
      context_->threads(sums_), count, cost, [&body, this](int thread, Index begin, Index end) {
        const Work work = workOf(thread);
        while (begin < end) {
          const Index channel = begin % shape_.fineChannels, group = begin / shape_.fineChannels,
                      these = std::min({end - begin, together_, shape_.fineChannels - channel});
          body(work, Channels{group / shape_.groups, group % shape_.groups, channel, these});
          begin += these;
        }
      });
}

template <class T>
void DiscoProducts<T>::toCoarse(const T* u, const T* w, T* y) {
  if (isOnDevice(*context_))
    return toCoarseOnDevice(u, w, y);
  const Index rows = shape_.coarse.size(), products = shape_.fineChannels * functions_,
              cost = static_cast<Index>(entries_.size() + 1) * columns_ * shape_.fineChannels /
                     std::max<Index>(rows, 1);
  const auto ofRow = [=, this](const Work& work, Channels channels, Index row) {
    for (channels.first = 0; channels.first < shape_.fineChannels; channels.first += together_) {
      channels.count = std::min(together_, shape_.fineChannels - channels.first);
      sumsOf(u, channels, row, work);
      gemm<T>(*context_, backend_, false, false, shape_.coarseChannels, columns_,
              channels.count * functions_, T(1),
              w + channels.group * shape_.coarseChannels * products + channels.first * functions_,
              products, work.sums, columns_, T(1), y + coarseAt(channels, row), rows * columns_);
    }
  };
  parallelPieces(context_->threads(sums_), shape_.batch * rows, cost * shape_.groups,
                 [&ofRow, rows, this](int thread, Index begin, Index end) {
                   const Work work = workOf(thread);
                   for (Index i = begin; i < end; ++i)
                     for (Index group = 0; group < shape_.groups; ++group)
                       ofRow(work, {i / rows, group, 0, 0}, i % rows);
                 });
}

template <class T>
void DiscoProducts<T>::toFine(const T* y, const T* w, T* u) {
  if (isOnDevice(*context_))
    return toFineOnDevice(y, w, u);
  const Index rows = shape_.coarse.size(), products = shape_.fineChannels * functions_;
  eachChannels(shape_.batch, [=, this](const Work& work, const Channels& channels) {
    for (Index row = 0; row < rows; ++row) {
      gemm<T>(*context_, backend_, true, false, channels.count * functions_, columns_,
              shape_.coarseChannels, T(1),
              w + channels.group * shape_.coarseChannels * products + channels.first * functions_,
              products, y + coarseAt(channels, row), rows * columns_, T(0), work.sums, columns_);
      for (Index i = 0; i < channels.count; ++i) {
        scatter(work.sums + i * functions_ * columns_, row, work.rows);
        addRows(work.rows, row, u + fineAt(channels, channels.first + i));
      }
    }
  });
}

template <class T>
void DiscoProducts<T>::addWeights(const T* u, const T* y, T* dw) {
  if (isOnDevice(*context_))
    return addWeightsOnDevice(u, y, dw);
  const Index rows = shape_.coarse.size(), products = shape_.fineChannels * functions_;
  eachChannels(1, [=, this](const Work& work, Channels channels) {
    T* gradient =
        dw + channels.group * shape_.coarseChannels * products + channels.first * functions_;
    for (channels.sample = 0; channels.sample < shape_.batch; ++channels.sample)
      for (Index row = 0; row < rows; ++row) {
        sumsOf(u, channels, row, work);
        gemm<T>(*context_, backend_, false, true, shape_.coarseChannels,
                channels.count * functions_, columns_, T(1), y + coarseAt(channels, row),
                rows * columns_, work.sums, columns_, T(1), gradient, products);
      }
  });
}

template class DiscoProducts<float>;
template class DiscoProducts<double>;

} // namespace tenon
