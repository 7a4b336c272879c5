// SPDX-License-Identifier: BSD-2-Clause
// Flatten: [batch, channel, spatial...] becomes [batch, features], row-major. Labels on a grid
// axis: n batch, c channel (a part of the channels is a run of features), B, R, P. Splits of space
// must be given up first, since their features are no run.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

class Flatten final : public Declaration {
public:
  Flatten() : Declaration("flatten", {}) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (x.size() < 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs [batch,channel,...]",
                              title(), fmt::join(x, ",")));
    return {x[0], x[1] * featuresPerChannel(x)};
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = elementwiseTable(2, true);
    table[0].letter = "n";
    table[1].letter = "c";
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout& input = inputs.front();
    const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
    LayoutSpec spec{.shape = outputShape({input.shape()}), .grid = grid, .properties = {}};
    const Signature chosen = Signature::choose(rows({}), input, grid, choice.letters, title());
    const Layout use = makeLayoutLike(input, grid, chosen.input());
    spec.properties = chosen.output().properties;
    spec.splitAxes = {use.splitAxes(0), use.splitAxes(1)};
    spec.cuts = {use.cuts(0), use.cuts(1)};
    for (Index& cut : spec.cuts[1])
      // A channel is a run of features, so a cut between channels is one between features.
      cut *= featuresPerChannel(input.shape());
    return {
        .signature = chosen, .inputs = inputs, .uses = {use}, .output = Layout(std::move(spec))};
  }

  Example example(ExampleDraw& draw) const override { return {{}, {draw.shape(2, 4)}}; }

private:
  static Index featuresPerChannel(const Shape& x) {
    Index features = 1;
    for (std::size_t d = 2; d < x.size(); ++d)
      features *= x[d];
    return features;
  }
};

} // namespace

std::unique_ptr<Declaration> declareFlatten() {
  return std::make_unique<Flatten>();
}

} // namespace tenon
