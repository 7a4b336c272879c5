// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/fourier.hpp"

#include "kernels/each.hpp"
#include "kernels/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

// i times each pair.
template <class T>
struct Turned {
  const T* x;
  T* y;
  void operator()(Index i) const {
    y[2 * i] = -x[2 * i + 1];
    y[2 * i + 1] = x[2 * i];
  }
};

template <class T>
struct MultiplyAdd {
  T sign; // of the imaginary part of a
  const T *a, *b;
  T* c;
  void operator()(Index i) const {
    const T re = a[2 * i], im = sign * a[2 * i + 1];
    c[2 * i] += re * b[2 * i] - im * b[2 * i + 1];
    c[2 * i + 1] += re * b[2 * i + 1] + im * b[2 * i];
  }
};

// 2 pi k j / N, reduced before it is rounded.
double angle(Index k, Index j, Index extent) {
  return 2 * std::numbers::pi * static_cast<double>(k * j % extent) / static_cast<double>(extent);
}

} // namespace

template <class T>
TruncatedFourier<T>::TruncatedFourier(KernelContextPtr context, Backend backend,
                                      const std::vector<FourierDim>& dims, Index rows)
    : context_(std::move(context)), backend_(backend) {
  const FourierDim& last = dims.back();
  double all = 1;
  for (const FourierDim& dim : dims)
    all *= static_cast<double>(dim.extent);
  last_ = {last.count, last.modes, 1, {}, {}};
  for (Index j = 0; j < last.count; ++j)
    for (Index k = 0; k < last.modes; ++k) {
      const double theta = angle(k, last.begin + j, last.extent);
      last_.re.push_back(T(std::cos(theta)));
      last_.re.push_back(T(-std::sin(theta)));
    }
  for (Index k = 0; k < last.modes; ++k)
    weights_.push_back(T((k == 0 || 2 * k == last.extent ? 1 : 2) / all));
  pieces_ = last.modes;
  for (std::size_t d = dims.size() - 1; d-- > 0;) {
    stages_.push_back(stageOf(dims[d], pieces_));
    pieces_ *= stages_.back().modes;
  }
  planScratch(rows);
}

template <class T>
typename TruncatedFourier<T>::Stage TruncatedFourier<T>::stageOf(const FourierDim& dim,
                                                                 Index inner) {
  Stage stage{dim.count, 2 * dim.modes, inner, {}, {}};
  for (Index row = 0; row < stage.modes; ++row)
    for (Index j = 0; j < dim.count; ++j) {
      const Index k = row < dim.modes ? row : dim.extent - stage.modes + row;
      const double theta = angle(k, dim.begin + j, dim.extent);
      stage.re.push_back(T(std::cos(theta)));
      stage.im.push_back(T(-std::sin(theta)));
    }
  return stage;
}

// For the pairs that lie between two dimensions.
template <class T>
void TruncatedFourier<T>::planScratch(Index rows) {
  Index most = rows * pieces_;
  for (std::size_t s = 0; s < stages_.size(); ++s)
    most = std::max(most, outer(rows, s) * stages_[s].inner *
                              std::max(stages_[s].count, stages_[s].modes));
  ScratchPlan plan;
  first_ = plan.add<T>(2 * most);
  second_ = plan.add<T>(2 * most);
  turned_ = plan.add<T>(2 * most);
  context_->reserve(plan);
}

// Rows, and cells of the dimensions before that of a stage, which are analysed after it.
template <class T>
Index TruncatedFourier<T>::outer(Index rows, std::size_t stage) const {
  for (std::size_t s = stage + 1; s < stages_.size(); ++s)
    rows *= stages_[s].count;
  return rows;
}

// For each of the outer indices y [modes, inner] = F x [count, inner], or back by the conjugate transpose.
template <class T>
void TruncatedFourier<T>::multiply(const Stage& stage, bool adjoint, Index outer, const T* x,
                                   T* y) {
  const Index from = adjoint ? stage.modes : stage.count, to = adjoint ? stage.count : stage.modes;
  const Index width = 2 * stage.inner;
  T* turned = context_->scratch<T>(turned_);
  eachElementOfHost(*context_, outer * from * stage.inner, 2, Turned<T>{x, turned});
  const T sign = adjoint ? -1 : 1;
  for (Index o = 0; o < outer; ++o) {
    gemm<T>(*context_, backend_, adjoint, false, to, width, from, T(1), stage.re.data(),
            stage.count, x + o * from * width, width, T(0), y + o * to * width, width);
    gemm<T>(*context_, backend_, adjoint, false, to, width, from, sign, stage.im.data(),
            stage.count, turned + o * from * width, width, T(1), y + o * to * width, width);
  }
}

template <class T>
void TruncatedFourier<T>::scale(Index rows, const T* from, T* to) const {
  const Index modes = last_.modes, n = rows * pieces_;
  for (Index i = 0; i < n; ++i) {
    const T weight = weights_[static_cast<std::size_t>(i % modes)];
    to[2 * i] = weight * from[2 * i];
    to[2 * i + 1] = weight * from[2 * i + 1];
  }
}

template <class T>
void TruncatedFourier<T>::analyse(Index rows, const T* x, T* coefficients) {
  const Index lines = stages_.empty() ? rows : outer(rows, 0) * stages_[0].count;
  T* now = stages_.empty() ? coefficients : context_->scratch<T>(first_);
  gemm<T>(*context_, backend_, false, false, lines, 2 * last_.modes, last_.count, T(1), x,
          last_.count, last_.re.data(), 2 * last_.modes, T(0), now, 2 * last_.modes);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    T* next = s + 1 == stages_.size() ? coefficients
                                      : context_->scratch<T>(s % 2 == 0 ? second_ : first_);
    multiply(stages_[s], false, outer(rows, s), now, next);
    now = next;
  }
}

template <class T>
void TruncatedFourier<T>::analyseAdjoint(Index rows, const T* coefficients, T* x) {
  const T* now = coefficients;
  for (std::size_t s = stages_.size(); s-- > 0;) {
    T* next = context_->scratch<T>(s % 2 == 0 ? first_ : second_);
    multiply(stages_[s], true, outer(rows, s), now, next);
    now = next;
  }
  const Index lines = stages_.empty() ? rows : outer(rows, 0) * stages_[0].count;
  gemm<T>(*context_, backend_, false, true, lines, last_.count, 2 * last_.modes, T(1), now,
          2 * last_.modes, last_.re.data(), 2 * last_.modes, T(0), x, last_.count);
}

template <class T>
void TruncatedFourier<T>::synthesise(Index rows, const T* coefficients, T* x) {
  T* scaled = context_->scratch<T>(stages_.size() % 2 == 0 ? first_ : second_);
  scale(rows, coefficients, scaled);
  analyseAdjoint(rows, scaled, x);
}

template <class T>
void TruncatedFourier<T>::synthesiseAdjoint(Index rows, const T* x, T* coefficients) {
  analyse(rows, x, coefficients);
  scale(rows, coefficients, coefficients);
}

template <class T>
void complexMultiplyAdd(KernelContext& context, Index n, bool conjugates, const T* a, const T* b,
                        T* c) {
  eachElementOfHost(context, n, 4, MultiplyAdd<T>{conjugates ? T(-1) : T(1), a, b, c});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template class TruncatedFourier<T>;                                                              \
  template void complexMultiplyAdd<T>(KernelContext&, Index, bool, const T*, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
