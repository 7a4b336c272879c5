// SPDX-License-Identifier: BSD-2-Clause
// One-dimensional transforms as products with dense matrices [modes, elements] of exp(-2 pi i k j /
// N), with k a mode, j an element and N the extent of the whole line. For few modes this takes less
// time than a fast transform. Arrays [outer, elements, inner] become [outer, modes, inner]
// (stage.hpp). A rank that has a part of a line multiplies the corresponding columns of the matrix
// only. The adjoint is the product with the transposed matrix.
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
    gemm<T>(context_, backend_, /*transA=*/false, /*transB=*/false, outer, 2 * modes_, count_,
            /*alpha=*/T(1), x, count_, matrix_.data(), 2 * modes_, /*beta=*/T(0), y, 2 * modes_);
  }
  void adjoint(Index outer, const T* y, T* x) override {
    gemm<T>(context_, backend_, /*transA=*/false, /*transB=*/true, outer, count_, 2 * modes_,
            /*alpha=*/T(1), y, 2 * modes_, matrix_.data(), 2 * modes_, /*beta=*/T(0), x, count_);
  }
  const char* method() const noexcept override { return "matrix"; }

private:
  KernelContext& context_;
  Backend backend_;
  Index count_, modes_;
  ReadList<T> matrix_;
};

// The other dimensions, with complex elements: real and imaginary part [modes, count] of exp(-i
// theta). One product multiplies x by the real part, a second multiplies i x by the imaginary part,
// since (re + i im) x = re x + im (i x) and both products then have real matrices.
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
        // The modes 0 .. m-1, then -m .. -1, which are N-m .. N-1 modulo N.
        const Index k = row < dim.modes ? row : dim.extent - modes_ + row;
        const double theta = angle(k, dim.begin + j, dim.extent);
        re.push_back(T(std::cos(theta)));
        im.push_back(T(-std::sin(theta)));
      }
    re_ = {context, std::move(re)};
    im_ = {context, std::move(im)};
  }
  void analyse(Index outer, const T* x, T* y) override { multiply(/*adjoint=*/false, outer, x, y); }
  void adjoint(Index outer, const T* y, T* x) override { multiply(/*adjoint=*/true, outer, y, x); }
  const char* method() const noexcept override { return "matrix"; }

private:
  // y = F x for each outer index, or F' x if `adjoint`: the transposed real part, and minus the
  // transposed imaginary part.
  void multiply(bool adjoint, Index outer, const T* x, T* y) {
    const Index from = adjoint ? modes_ : count_, to = adjoint ? count_ : modes_;
    const Index width = 2 * inner_;
    T* turned = context_.scratch<T>(turned_);
    eachElement(context_, outer * from * inner_, 2, functors::Turned<T>{x, turned});
    const BatchStrides strides{.a = 0, .b = from * width, .c = to * width};
    gemmBatch<T>(context_, backend_, outer, strides, /*transA=*/adjoint, /*transB=*/false, to,
                 width, from, /*alpha=*/T(1), re_.data(), count_, x, width, /*beta=*/T(0), y,
                 width);
    gemmBatch<T>(context_, backend_, outer, strides, /*transA=*/adjoint, /*transB=*/false, to,
                 width, from, /*alpha=*/T(adjoint ? -1 : 1), im_.data(), count_, turned, width,
                 /*beta=*/T(1), y, width);
  }

  KernelContext& context_;
  Backend backend_;
  Index count_, modes_, inner_;
  ReadList<T> re_, im_;
  Index turned_; // offset in the scratch of i x
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
