// SPDX-License-Identifier: BSD-2-Clause
// Repartition: a conversion as a layer. y is x in a layout that the user sets, on the same process
// grid or another, and the adjoint is that of the conversion, C(x -> y)* = C(y* -> x*). In a
// network it separates the layers before it, whose labels can be chosen freely, from the next
// layer, which receives this layout.
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
