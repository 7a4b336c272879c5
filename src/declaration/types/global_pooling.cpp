// SPDX-License-Identifier: BSD-2-Clause
// The mean over all of space: y[n,c,0,...] = 1/N sum over s of x[n,c,s]
//
// Labels on a grid axis: n batch, c channel, d/h/w space (y partial), B, R, P. N is the global
// number of elements, so that the addends of the parts sum to the mean, however uneven the parts
// are.
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

class GlobalAveragePooling final : public Declaration {
public:
  GlobalAveragePooling() : Declaration("globalaveragepooling", {}) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    spatialRankOf(x, title());
    if (std::find(x.begin() + kFirstSpatial, x.end(), 0) != x.end())
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs at least 1 element in each "
                              "spatial dimension",
                              title(), fmt::join(x, ",")));
    Shape shape(x.size(), 1);
    std::copy_n(x.begin(), kFirstSpatial, shape.begin());
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = imageTable(spatialRankOf(inputs.front(), title()), true);
    for (SignatureRow& row : table)
      if (row.output.isShard() && row.output.dim >= kFirstSpatial)
        row.output = Property::partial();
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    std::vector<CutSource> cuts(shape.size());
    cuts[0] = {&use, 0};
    cuts[1] = {&use, 1};
    form.output = makeLayout(shape, use.gridPtr(), form.signature.output(), cuts);
    return form;
  }

  Example example(ExampleDraw& draw) const override { return {{}, {draw.shape(3, 5)}}; }
};

} // namespace

std::unique_ptr<Declaration> declareGlobalAveragePooling() {
  return std::make_unique<GlobalAveragePooling>();
}

} // namespace tenon
