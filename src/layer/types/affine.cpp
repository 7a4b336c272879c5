// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the affine layer y = x W^T + b, that is, its arithmetic on the arrays of one
// rank, without messages. This rank's blocks are x [samples, inputs], W [outputs, inputs], b
// [outputs] and y [samples, outputs], all row-major. The base class BilinearKernel calls the four
// functions below in Apply, tangent (the derivative in a direction) and adjoint (backpropagation):
//
//   product    y = x W^T + b              adjointX   dx = dy W
//   fill       y = b                      adjointW   dW += dy^T x,  db += column sums of dy
//
// If the input features are split over ranks, y is a contribution that the layer sums over the
// ranks afterwards. Only one of these ranks (the root of the grid axis) must then add the bias; on
// the others the base class passes b = null.
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
      : BilinearKernel(2.0 * double(samples * inputs) * double(outputs)), samples_(samples),
        inputs_(inputs), outputs_(outputs), backend_(backend) {}

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const DTensor& x, const DTensor& w, const DTensor* b, bool adds,
               DTensor& y) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* out = y.mutableData<T>();
      gemm<T>(y.context(), backend_, /*transA=*/false, /*transB=*/true, samples_, outputs_, inputs_,
              /*alpha=*/T(1), x.data<T>(), inputs_, w.data<T>(), inputs_, /*beta=*/T(adds), out,
              outputs_);
      if (b)
        addBias<T>(y.context(), samples_, outputs_, b->data<T>(), out);
    });
  }
  void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      gemm<T>(dy.context(), backend_, /*transA=*/false, /*transB=*/false, samples_, inputs_,
              outputs_, /*alpha=*/T(1), dy.data<T>(), outputs_, w.data<T>(), inputs_, /*beta=*/T(0),
              dx.mutableData<T>(), inputs_);
    });
  }
  void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor* db) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T* g = dy.data<T>();
      // Gradients of parameters accumulate: beta is 1, and rows are added to db.
      gemm<T>(dy.context(), backend_, /*transA=*/true, /*transB=*/false, outputs_, inputs_,
              samples_, /*alpha=*/T(1), g, outputs_, x.data<T>(), inputs_, /*beta=*/T(1),
              dw.mutableData<T>(), inputs_);
      if (db)
        sumRows<T>(dy.context(), samples_, outputs_, g, db->mutableData<T>());
    });
  }
  void fill(const DTensor* b, DTensor& y) override {
    scaleArray(0, y);
    if (b)
      visitFloating(y.dataType(), [&]<class T>(T) {
        addBias<T>(y.context(), samples_, outputs_, b->data<T>(), y.mutableData<T>());
      });
  }

  Index samples_, inputs_, outputs_;
  Backend backend_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeAffineKernel(const KernelSite& at) {
  const Box in = at.input();
  // Load the BLAS library at set-up, where all ranks can still report an error together.
  prepareGemm(*at.context());
  return std::make_unique<LocalAffine>(in[0].size(), in[1].size(), at.outputs()[1].size(),
                                       resolvedBackend(at.layer));
}

} // namespace tenon
