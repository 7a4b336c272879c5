// SPDX-License-Identifier: BSD-2-Clause
// The product of two inputs of one shape, element by element. Labels on a grid axis: S0, S1, ...
// (any split), B, R, and Pa, Pb where one input is a sum of addends and the other is on all ranks.
// Both cannot be partial, since the product of two sums is not the sum of the products of their
// addends.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

class Multiply final : public Declaration {
public:
  Multiply() : Declaration("multiply", {}) {}
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override { return "; it multiplies its first by its second"; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    if (inputs[0] != inputs[1])
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} needs two inputs of equal shape, but they have [{}] and [{}]",
                              title(), fmt::join(inputs[0], ","), fmt::join(inputs[1], ",")));
    return inputs[0];
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), P = Property::partial();
    SignatureTable table = elementwiseTable(static_cast<int>(inputs.front().size()), false);
    table.push_back({"Pa", Properties{P, B}, {}, P});
    table.push_back({"Pb", Properties{B, P}, {}, P});
    return table;
  }

  // Both inputs are used where the first one lies, so that only the second one moves.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs[0].shape(), inputs[1].shape()});
    const Layouts plain = {inputs[0].withoutHalos(), inputs[1].withoutHalos()};
    const GridPtr grid = choice.grid ? choice.grid : plain[0].gridPtr();
    const Signature chosen = Signature::choose(rows({shape}), plain, grid, choice.letters, title());
    const Layout a = makeLayoutLike(plain[0], grid, chosen.input(0));
    return {.signature = chosen,
            .inputs = inputs,
            .uses = {a, makeLayoutLike(a, grid, chosen.input(1))},
            .output = makeLayoutLike(a, grid, chosen.output())};
  }

  Work work(const Form& form, int position) const override {
    const double products = double(elements(form.output.box(position)));
    return {products, 2 * products, 0};
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .keepsInputs = true}; }
  std::string summary() const override { return "element by element"; }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    return {{}, {shape, shape}};
  }
};

} // namespace

std::unique_ptr<Declaration> declareMultiply() {
  return std::make_unique<Multiply>();
}

} // namespace tenon
