// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of matmul, y = a b for inputs a [..., rows, inner] and b [..., inner, columns]: one
// batched matrix product over all pairs of matrices on this rank. Unlike in a dense layer, both
// factors are inputs, so both are saved and each can have a cotangent:
//
//   product    y = a b        adjointX   da = dy b^T        adjointW   db = a^T dy
//
// The base class BilinearKernel calls these functions in Apply, tangent (the derivative in a
// direction) and adjoint (backpropagation). `X` and `W` in their names are its first and second
// factor.
#include "kernels/products/gemm.hpp"
#include "layer/core/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class LocalMatmul final : public BilinearKernel {
public:
  LocalMatmul(const Box& a, const Box& y, Backend backend)
      : BilinearKernel(2.0 * double(elements(y)) * double(a.back().size())),
        rows_(y.end()[-2].size()), columns_(y.back().size()), inner_(a.back().size()),
        backend_(backend) {
    for (std::size_t d = 0; d + 2 < y.size(); ++d)
      count_ *= y[d].size();
  }

  bool runsOnDevice() const override { return true; }
  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const DTensor& a, const DTensor& b, const DTensor*, bool adds, DTensor& y) override {
    multiply(/*transA=*/false, a, /*transB=*/false, b, adds, y);
  }
  void adjointX(const DTensor& b, const DTensor& dy, DTensor& da) override {
    multiply(/*transA=*/false, dy, /*transB=*/true, b, /*adds=*/false, da);
  }
  void adjointW(const DTensor& a, const DTensor& dy, DTensor& db, DTensor*) override {
    multiply(/*transA=*/true, a, /*transB=*/false, dy, /*adds=*/false, db);
  }

  // c = op(a) op(b), or c += op(a) op(b) if `adds`, where op transposes if the flag before the
  // matrix is set. The extents of this product, op(a) [m, k] and op(b) [k, n], follow from the
  // flags: they are rows, columns and inner of y = a b in another order.
  void multiply(bool transA, const DTensor& a, bool transB, const DTensor& b, bool adds,
                DTensor& c) const {
    const Index m = transA ? inner_ : rows_, n = transB ? inner_ : columns_;
    const Index k = transA ? rows_ : transB ? columns_ : inner_;
    const Index rowStrideA = transA ? m : k, rowStrideB = transB ? k : n;
    visitFloating(c.dataType(), [&]<class T>(T) {
      gemmBatch<T>(c.context(), backend_, count_, {m * k, k * n, m * n}, transA, transB, m, n, k,
                   /*alpha=*/T(1), a.data<T>(), rowStrideA, b.data<T>(), rowStrideB,
                   /*beta=*/T(adds), c.mutableData<T>(), n);
    });
  }

  Index count_ = 1, rows_, columns_, inner_; // pairs of matrices, and their extents
  Backend backend_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeMatmulKernel(const KernelSite& at) {
  // Load the BLAS library at set-up, where all ranks can still report an error together.
  prepareGemm(*at.context());
  return std::make_unique<LocalMatmul>(at.input(), at.outputs(), resolvedBackend(at.layer));
}

} // namespace tenon
