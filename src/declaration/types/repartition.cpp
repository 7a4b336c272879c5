// SPDX-License-Identifier: BSD-2-Clause
// A conversion as a layer: y is x in a layout that the user gives, on the same grid or another, and
// the adjoint is the conversion's, C(x -> y)* = C(y* -> x*). Where it stands in a network it ends
// what a layer's choice of labels can reach: the next layer sees the layout given here.
//
// The layout is a pattern for any batch: see layoutLike().
#include "declaration/core/result_layout.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class Repartition final : public Declaration {
public:
  Repartition() : Declaration("repartition", {}) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  bool takesOutputLayout() const override { return true; }
  void setOutputLayout(const Layout& layout) override { outputLayout_ = layout; }

  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), true);
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    if (!choice.labels.empty())
      throw Error(TENON_ERR_OPTION,
                  fmt::format("{} does not take a signature, but \"{}\" was set; its output layout "
                              "is fixed when it is created",
                              title(), choice.labels));
    if (!outputLayout())
      throw Error(
          TENON_ERR_STATE,
          fmt::format("{} has no output layout; call TenonLayerSetOutputLayout()", title()));
    const Layout& input = inputs.front();
    const Layout output = layoutLike(*outputLayout(), input.shape(), title());
    return {.signature = Signature::following(rows({input.shape()}), output),
            .inputs = inputs,
            .uses = {output},
            .output = output};
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.apply(OperatorKind::Conversion, x, list.output("y", form.output));
    return list;
  }
};

} // namespace

std::unique_ptr<Declaration> declareRepartition() {
  return std::make_unique<Repartition>();
}

} // namespace tenon
