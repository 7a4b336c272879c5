// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/each.hpp"
#include "kernels/fourier_stage.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

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

// Estimated, not measured: elements of a matrix in the time of one step of a fast transform.
constexpr double kMatrixRate = 4;

bool isFftFaster(const FourierStageShape& shape) {
  const double extent = double(shape.dim.extent);
  const double steps = std::log2(std::max(extent, 2.0));
  return double(shape.kept() * shape.dim.count) > kMatrixRate * 2 * extent * steps;
}

} // namespace

template <class T>
TruncatedFourier<T>::TruncatedFourier(KernelContextPtr context, Backend backend,
                                      const std::vector<FourierDim>& dims, Index rows)
    : context_(std::move(context)) {
  double all = 1;
  for (const FourierDim& dim : dims) {
    all *= static_cast<double>(dim.extent);
    isEmpty_ = isEmpty_ || dim.count == 0;
  }
  const FourierDim& last = dims.back();
  for (Index k = 0; k < last.modes; ++k)
    weights_.push_back(T((k == 0 || 2 * k == last.extent ? 1 : 2) / all));
  ScratchPlan plan;
  addStages(backend, dims, rows, plan);
  context_->reserve(plan);
}

template <class T>
TruncatedFourier<T>::~TruncatedFourier() = default;

template <class T>
void TruncatedFourier<T>::addStages(Backend backend, const std::vector<FourierDim>& dims,
                                    Index rows, ScratchPlan& plan) {
  const Backend products = resolveBackend<T>(backend);
  Index most = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    Index lines = 1;
    for (std::size_t before = 0; before < d; ++before)
      lines *= dims[before].count;
    const FourierStageShape shape{dims[d], d + 1 == dims.size(), rows * lines, pieces_};
    const bool isFast =
        shape.dim.count > 0 &&
        (backend == Backend::Fftw || (backend == Backend::Auto && hasFftw() && isFftFaster(shape)));
    stages_.push_back(isFast ? makeFftwStage<T>(*context_, shape, plan)
                             : makeDenseFourierStage<T>(*context_, products, shape, plan));
    lines_.push_back(lines);
    pieces_ *= shape.kept();
    most = std::max(most, shape.outer * shape.inner * shape.kept());
  }
  first_ = plan.add<T>(2 * most);
  second_ = plan.add<T>(2 * most);
}

template <class T>
void TruncatedFourier<T>::scale(Index rows, const T* from, T* to) const {
  const Index modes = static_cast<Index>(weights_.size()), lines = rows * pieces_ / modes;
  const T* weights = weights_.data();
  for (Index line = 0; line < lines; ++line, from += 2 * modes, to += 2 * modes)
    for (Index k = 0; k < modes; ++k) {
      to[2 * k] = weights[k] * from[2 * k];
      to[2 * k + 1] = weights[k] * from[2 * k + 1];
    }
}

template <class T>
void TruncatedFourier<T>::analyse(Index rows, const T* x, T* coefficients) {
  if (isEmpty_) {
    std::fill_n(coefficients, 2 * rows * pieces_, T(0));
    return;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    T* next = s + 1 == stages_.size() ? coefficients : scratch(s);
    stages_[s]->analyse(rows * lines_[s], x, next);
    x = next;
  }
}

template <class T>
void TruncatedFourier<T>::analyseAdjoint(Index rows, const T* coefficients, T* x) {
  if (isEmpty_)
    return;
  for (std::size_t s = stages_.size(); s-- > 0;) {
    T* next = s == 0 ? x : scratch(s);
    stages_[s]->adjoint(rows * lines_[s], coefficients, next);
    coefficients = next;
  }
}

template <class T>
void TruncatedFourier<T>::synthesise(Index rows, const T* coefficients, T* x) {
  T* scaled = scratch(stages_.size());
  scale(rows, coefficients, scaled);
  analyseAdjoint(rows, scaled, x);
}

template <class T>
void TruncatedFourier<T>::synthesiseAdjoint(Index rows, const T* x, T* coefficients) {
  analyse(rows, x, coefficients);
  scale(rows, coefficients, coefficients);
}

template <class T>
std::string TruncatedFourier<T>::methods() const {
  std::string text;
  for (std::size_t s = stages_.size(); s-- > 0;)
    text += std::string(text.empty() ? "" : ", ") + stages_[s]->method();
  return text;
}

template <class T>
double TruncatedFourier<T>::flops(Index rows) const {
  double flops = 0;
  for (std::size_t s = 0; s < stages_.size() && !isEmpty_; ++s)
    flops += stages_[s]->flops(rows * lines_[s]);
  return flops;
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
