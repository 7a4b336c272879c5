// SPDX-License-Identifier: BSD-2-Clause
// One-dimensional transforms as products with dense matrices [modes, elements]. For few modes this
// takes less time than a fast transform. A rank that has a part of a line multiplies the
// corresponding columns of the matrix only.
#include "kernels/base/context.hpp"
#include "kernels/fourier/stage.hpp"
#include "kernels/functors/fourier.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

// The angle 2 pi k j / N. k j is reduced modulo N in integers, since large angles would lose
// digits.
double angle(Index k, Index j, Index extent) {
  return 2 * std::numbers::pi * static_cast<double>(k * j % extent) / static_cast<double>(extent);
}

// The last dimension, with real elements: a matrix [count, 2 modes] of (real, imaginary) pairs,
// with which one product computes both parts.
template <class T>
class DenseRealStage final : public FourierStage<T> {
public:
  DenseRealStage(KernelContext& context, Backend backend, const FourierDim& dim)
      : context_(context), backend_(backend), count_(dim.count), modes_(dim.modes) {
    std::vector<T> matrix;
    for (Index j = 0; j < count_; ++j)
      for (Index k = 0; k < modes_; ++k) {
        const double theta = angle(k, dim.begin + j, dim.extent);
        matrix.push_back(T(std::cos(theta)));
        matrix.push_back(T(-std::sin(theta)));
      }
    matrix_ = {context, std::move(matrix)};
  }
  void analyse(Index outer, const T* x, T* y) override {
    gemm<T>(context_, backend_, false, false, outer, 2 * modes_, count_, T(1), x, count_,
            matrix_.data(), 2 * modes_, T(0), y, 2 * modes_);
  }
  void adjoint(Index outer, const T* y, T* x) override {
    gemm<T>(context_, backend_, false, true, outer, count_, 2 * modes_, T(1), y, 2 * modes_,
            matrix_.data(), 2 * modes_, T(0), x, count_);
  }
  const char* method() const noexcept override { return "matrix"; }

private:
  KernelContext& context_;
  Backend backend_;
  Index count_, modes_;
  ReadList<T> matrix_;
};

// The other dimensions, with complex elements: real and imaginary part [modes, count] of exp(-i
// theta). One product multiplies x by the real part, a second multiplies i x by the imaginary part.
template <class T>
class DenseComplexStage final : public FourierStage<T> {
public:
  DenseComplexStage(KernelContext& context, Backend backend, const FourierStageShape& shape,
                    ScratchPlan& plan)
      : context_(context), backend_(backend), count_(shape.dim.count), modes_(shape.kept()),
        inner_(shape.inner),
        turned_(plan.add<T>(2 * shape.outer * inner_ * std::max(count_, modes_))) {
    const FourierDim& dim = shape.dim;
    std::vector<T> re, im;
    for (Index row = 0; row < modes_; ++row)
      for (Index j = 0; j < count_; ++j) {
        const Index k = row < dim.modes ? row : dim.extent - modes_ + row;
        const double theta = angle(k, dim.begin + j, dim.extent);
        re.push_back(T(std::cos(theta)));
        im.push_back(T(-std::sin(theta)));
      }
    re_ = {context, std::move(re)};
    im_ = {context, std::move(im)};
  }
  void analyse(Index outer, const T* x, T* y) override { multiply(false, outer, x, y); }
  void adjoint(Index outer, const T* y, T* x) override { multiply(true, outer, y, x); }
  const char* method() const noexcept override { return "matrix"; }

private:
  void multiply(bool adjoint, Index outer, const T* x, T* y) {
    const Index from = adjoint ? modes_ : count_, to = adjoint ? count_ : modes_;
    const Index width = 2 * inner_;
    T* turned = context_.scratch<T>(turned_);
    eachElement(context_, outer * from * inner_, 2, functors::Turned<T>{x, turned});
    const BatchStrides strides{0, from * width, to * width};
    gemmBatch<T>(context_, backend_, outer, strides, adjoint, false, to, width, from, T(1),
                 re_.data(), count_, x, width, T(0), y, width);
    gemmBatch<T>(context_, backend_, outer, strides, adjoint, false, to, width, from,
                 T(adjoint ? -1 : 1), im_.data(), count_, turned, width, T(1), y, width);
  }

  KernelContext& context_;
  Backend backend_;
  Index count_, modes_, inner_;
  ReadList<T> re_, im_;
  Index turned_;
};

} // namespace

template <class T>
std::unique_ptr<FourierStage<T>> makeDenseFourierStage(KernelContext& context, Backend backend,
                                                       const FourierStageShape& shape,
                                                       ScratchPlan& plan) {
  if (shape.isReal)
    return std::make_unique<DenseRealStage<T>>(context, backend, shape.dim);
  return std::make_unique<DenseComplexStage<T>>(context, backend, shape, plan);
}

template std::unique_ptr<FourierStage<float>>
makeDenseFourierStage(KernelContext&, Backend, const FourierStageShape&, ScratchPlan&);
template std::unique_ptr<FourierStage<double>>
makeDenseFourierStage(KernelContext&, Backend, const FourierStageShape&, ScratchPlan&);

} // namespace tenon
