// SPDX-License-Identifier: BSD-2-Clause
// Declares the matrix product of two inputs, for each matrix along equal leading dimensions
// (batch):
//
//   y[s,m,n] = sum over k of a[s,m,k] b[s,k,n]
//
// The kernel multiplies local blocks, as one batch over all pairs of matrices on the rank. Unlike
// in a dense layer, both factors are inputs, so both are saved and each can have a cotangent.
//
// Along a grid axis, a rank has a block of a dimension (S), a copy (B), a partial sum (P), or
// everything on the root of the axis (R). The rows of the table for two matrices, with one more row
// S0, S1, ... for each leading dimension:
//
//   label   a    b    y
//   m       S0   B    S0    rows of a
//   n       B    S1   S1    columns of b
//   k       S1   S0   P     the summed dimension: y is a partial sum
//   B, R    all replicated, or on the root
//   Pa      P    B    P     a is a partial sum
//   Pb      B    P    P     b is a partial sum
//
// These are the rows of Table 1 of DistPar, and R. declareMatmul() is declared in core/types.hpp.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/products/gemm.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The base class calls a its factor x, and b its factor w.
template <class T>
class LocalMatmul final : public BilinearKernel {
public:
  LocalMatmul(const Box& a, const Box& y, Backend backend)
      : BilinearKernel(2.0 * double(elements(y)) * double(a.back().size())),
        rows_(y.end()[-2].size()), columns_(y.back().size()), inner_(a.back().size()),
        backend_(backend) {
    for (std::size_t d = 0; d + 2 < y.size(); ++d)
      count_ *= y[d].size();
  }

  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const LocalArray& a, const LocalArray& b, const LocalArray&, bool adds,
               LocalArray& y) override {
    multiply(/*transA=*/false, a, /*transB=*/false, b, adds, y);
  }
  void adjointX(const LocalArray& b, const LocalArray& dy, LocalArray& da) override {
    multiply(/*transA=*/false, dy, /*transB=*/true, b, /*adds=*/false, da);
  }
  void adjointW(const LocalArray& a, const LocalArray& dy, LocalArray& db, LocalArray&) override {
    multiply(/*transA=*/true, a, /*transB=*/false, dy, /*adds=*/false, db);
  }

  // c = op(a) op(b), or c += op(a) op(b) if `adds`, where op transposes if the flag before the
  // matrix is set. The extents of this product, op(a) [m, k] and op(b) [k, n], follow from the
  // flags: they are rows, columns and inner of y = a b in another order.
  void multiply(bool transA, const LocalArray& a, bool transB, const LocalArray& b, bool adds,
                LocalArray& c) const {
    const Index m = transA ? inner_ : rows_, n = transB ? inner_ : columns_;
    const Index k = transA ? rows_ : transB ? columns_ : inner_;
    const Index rowStrideA = transA ? m : k, rowStrideB = transB ? k : n;
    gemmBatch<T>(c.context(), backend_, count_, {m * k, k * n, m * n}, transA, transB, m, n, k,
                 /*alpha=*/T(1), a.data<T>(), rowStrideA, b.data<T>(), rowStrideB, /*beta=*/T(adds),
                 c.mutableData<T>(), n);
  }

  Index count_ = 1, rows_, columns_, inner_; // pairs of matrices, and their extents
  Backend backend_;
};

class Matmul final : public Declaration {
public:
  Matmul() : Declaration("matmul", {}) {}
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override { return "; it multiplies its first by its second"; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape &a = inputs[0], &b = inputs[1];
    const std::size_t rank = a.size();
    if (rank < 2 || b.size() != rank || b[rank - 2] != a[rank - 1] ||
        !std::equal(a.begin(), a.end() - 2, b.begin()))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} needs inputs of shapes [...,m,k] and [...,k,n], but they have "
                              "[{}] and [{}]",
                              title(), fmt::join(a, ","), fmt::join(b, ",")));
    Shape shape = a;
    shape.back() = b.back();
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const auto S = [](int d) { return Property::shard(d); };
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    const int row = static_cast<int>(inputs.front().size()) - 2, column = row + 1;
    const auto makeRow = [](std::string label, Property a, Property b, Property y) {
      return SignatureRow(std::move(label), Properties{a, b}, {}, y);
    };
    SignatureTable table;
    for (int d = 0; d < row; ++d)
      table.push_back(makeRow(S(d).describe(), S(d), S(d), S(d)));
    table.push_back(makeRow("m", S(row), B, S(row)));
    table.push_back(makeRow("n", B, S(column), S(column)));
    table.push_back(makeRow("k", S(column), S(row), P));
    table.push_back(makeRow("B", B, B, B));
    table.push_back(makeRow("R", R, R, R));
    table.push_back(makeRow("Pa", P, B, P));
    table.push_back(makeRow("Pb", B, P, P));
    return table;
  }

  // Split points are those of the input that is split, or of the first input if both are split;
  // then only the second input is redistributed.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const auto [shapes, plain, grid, shape, signature] = beginForm(inputs, choice);
    const int row = static_cast<int>(shape.size()) - 2, column = row + 1;
    const Layout a = makeLayout(shapes[0], grid, signature.input(0), cutsOf(plain[0]));
    // Each dimension takes its split points from a dimension of another layout: the rows of b from
    // the columns of a, the columns of b from b itself, and those of y from b.
    std::vector<CutSource> cuts = cutsOf(a);
    cuts[row] = {&a, column};
    cuts[column] = {&plain[1], column};
    const Layout b = makeLayout(shapes[1], grid, signature.input(1), cuts);
    cuts = cutsOf(a);
    cuts[column] = {&b, column};
    return {.signature = signature,
            .inputs = inputs,
            .uses = {a, b},
            .output = makeLayout(shape, grid, signature.output(), cuts)};
  }

  Work work(const Form& form, int position) const override {
    const double products = 2.0 * double(elements(form.output.box(position))) *
                            double(form.uses[0].box(position).back().size());
    // The cotangent of each input is a product of the same size, and there are no parameters.
    return {.forward = products, .adjoint = 2 * products, .adjointParameters = 0};
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .savesInputs = true}; }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    // Load the BLAS library at set-up, where all ranks can still report an error together.
    prepareGemm(*at.context);
    return makeTyped<LocalMatmul>(at.type, at.input(), at.outputs(), at.resolvedBackend());
  }

  std::string summary() const override { return "first input times second"; }

  Example example(ExampleDraw& draw) const override {
    const Shape a = draw.shape(2, 4);
    Shape b = a;
    b[b.size() - 2] = a.back();
    b.back() = draw.between(1, 6);
    return {{}, {a, b}};
  }

private:
  // The sources of split points for a layout that takes over those of all dimensions.
  static std::vector<CutSource> cutsOf(const Layout& layout) {
    std::vector<CutSource> cuts;
    for (int d = 0; d < layout.ndim(); ++d)
      cuts.push_back({&layout, d});
    return cuts;
  }
};

} // namespace

std::unique_ptr<Declaration> declareMatmul() {
  return std::make_unique<Matmul>();
}

} // namespace tenon
