// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the affine layer y = x W^T + b: one matrix product for the value and one for each
// of the two adjoints (for x and for W). If the input features are split over ranks, each rank
// computes a contribution to y, and only one of them (the root of the grid axis) adds the bias.
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/products/gemm.hpp"
#include "layer/core/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalAffine final : public BilinearKernel {
public:
  LocalAffine(Index samples, Index inputs, Index outputs, Backend backend)
      : BilinearKernel(2.0 * double(samples * inputs) * double(outputs)), n_(samples), i_(inputs),
        o_(outputs), backend_(backend) {}

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
               DTensor& y) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* out = y.mutableData<T>();
      gemm<T>(y.context(), backend_, false, true, n_, o_, i_, T(1), x.data<T>(), i_, w.data<T>(),
              i_, T(adds), out, o_);
      if (b)
        addBias<T>(y.context(), n_, o_, b->data<T>(), out);
    });
  }
  void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      gemm<T>(dy.context(), backend_, false, false, n_, i_, o_, T(1), dy.data<T>(), o_, w.data<T>(),
              i_, T(0), dx.mutableData<T>(), i_);
    });
  }
  void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor* db) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T* g = dy.data<T>();
      // Gradients of parameters accumulate: beta is 1, and rows are added to db.
      gemm<T>(dy.context(), backend_, true, false, o_, i_, n_, T(1), g, o_, x.data<T>(), i_, T(1),
              dw.mutableData<T>(), i_);
      if (db)
        sumRows<T>(dy.context(), n_, o_, g, db->mutableData<T>());
    });
  }
  void fill(const DTensor* b, DTensor& y) override {
    scaleArray(0, y);
    if (b)
      visitFloating(y.dataType(), [&]<class T>(T) {
        addBias<T>(y.context(), n_, o_, b->data<T>(), y.mutableData<T>());
      });
  }

  Index n_, i_, o_;
  Backend backend_;
};

} // namespace

std::unique_ptr<LocalKernel> makeAffineKernel(const KernelSite& at) {
  const Box in = at.input();
  // Load the BLAS library at set-up, where all ranks can still report an error together.
  prepareGemm(*at.context());
  return std::make_unique<LocalAffine>(in[0].size(), in[1].size(), at.outputs()[1].size(),
                                       resolvedBackend(at.layer));
}

} // namespace tenon
