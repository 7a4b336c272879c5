// SPDX-License-Identifier: BSD-2-Clause
// Another order of the dimensions: dimension d of y is dimension permutation[d] of x. Splits and
// cuts go with their dimensions, so that nothing moves between ranks. Labels on a grid axis: S0,
// S1, ... for the dimensions of the input, B, R, P.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

constexpr OptionSpec kTransposeSettings[] = {
    {"permutation", OptionSpec::Ints, nullptr,
     "of each dimension of the output, in their order, the dimension of the input", nullptr,
     atLeast(0)}};

class Transpose final : public Declaration {
public:
  Transpose() : Declaration("transpose", kTransposeSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    const std::vector<Index> from = permutation();
    if (x.size() != from.size())
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{}], but {} orders {} dimensions ({}); name "
                              "each dimension of the input once in permutation",
                              fmt::join(x, ","), title(), from.size(), fmt::join(from, ",")));
    Shape shape;
    for (Index d : from)
      shape.push_back(x[d]);
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const std::vector<Index> from = permutation();
    SignatureTable table = elementwiseTable(static_cast<int>(inputs.front().size()), true);
    for (SignatureRow& row : table)
      if (row.output.isShard())
        // The table speaks of the input; in the output its dimension stands where the permutation
        // has it.
        row.output = Property::shard(
            static_cast<int>(std::find(from.begin(), from.end(), row.output.dim) - from.begin()));
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    LayoutSpec spec{.shape = outputShape({use.shape()}),
                    .grid = use.gridPtr(),
                    .properties = form.signature.output().properties};
    // The order of the axes that split a dimension belongs to its cuts, and goes with them.
    for (Index d : permutation()) {
      spec.splitAxes.push_back(use.splitAxes(static_cast<int>(d)));
      spec.cuts.push_back(use.cuts(static_cast<int>(d)));
    }
    form.output = Layout(std::move(spec));
    return form;
  }

  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::string summary() const override {
    return fmt::format("dimensions {}", fmt::join(permutation(), ","));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    std::vector<Index> order(shape.size());
    std::iota(order.begin(), order.end(), Index(0));
    for (std::size_t d = order.size(); d-- > 1;)
      std::swap(order[d], order[draw.between(0, static_cast<Index>(d))]);
    return {{{"permutation", order}}, {shape}};
  }

private:
  std::vector<Index> permutation() const { return value<std::vector<Index>>("permutation"); }

  void check() const override {
    if (!settings().isSet("permutation"))
      return;
    std::vector<Index> sorted = permutation();
    // A permutation of d numbers is what becomes 0, 1, ..., d - 1 when it is sorted.
    std::ranges::sort(sorted);
    for (std::size_t d = 0; d < sorted.size(); ++d)
      if (sorted[d] != static_cast<Index>(d))
        throw Error(
            TENON_ERR_ARG,
            fmt::format("the permutation of {} is {}; name each dimension from 0 to {} once",
                        title(), fmt::join(permutation(), ","), sorted.size() - 1));
  }
};

} // namespace

std::unique_ptr<Declaration> declareTranspose() {
  return std::make_unique<Transpose>();
}

} // namespace tenon
