// SPDX-License-Identifier: BSD-2-Clause
// Declares the matrix product of two inputs, for each matrix along equal leading dimensions
// (batch):
//
//   y[s,m,n] = sum over k of a[s,m,k] b[s,k,n]
//
// A declaration describes a layer without computing it. rows() lists how one axis of the process
// grid can distribute the product, form() makes the layouts of a, b and y on all ranks, and work()
// counts the operations of one rank, from which a plan predicts times. The kernel is in
// layer/types/matmul.cpp; it multiplies local blocks.
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
// These are the rows of Table 1 of DistPar, and R.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

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
    for (int d = 0; d < layout.rank(); ++d)
      cuts.push_back({&layout, d});
    return cuts;
  }
};

} // namespace

std::unique_ptr<Declaration> declareMatmul() {
  return std::make_unique<Matmul>();
}

} // namespace tenon
