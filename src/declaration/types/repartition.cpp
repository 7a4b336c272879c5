// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `repartition`: it copies its input x to its output y, which has the same
// elements in another distribution (layout), set by the user with TenonLayerSetOutputLayout(). The
// layout can be on another process grid. For example, x split by rows over 4 ranks becomes y split
// by columns over 2 of them:
//
//   x  layout "S0" on 4 ranks      y  layout "S1" on 2 ranks      y = C(x -> y) x
//
// C is a conversion, the operator that changes the layout of a tensor by communication. The adjoint
// returns the cotangent of x from that of y: C(x -> y)* = C(y* -> x*), where x* and y* are the dual
// layouts, in which partial sums (P) and copies (B) are exchanged.
//
// Use: to fix the distribution of a network at one place. The layers after it receive this layout,
// and the distribution of the layers before it can be chosen freely.
//
// The layout is a pattern for any batch: layoutLike() adapts it to the shape of the input. This
// file only declares the layer, and the library's conversions communicate, without a kernel.
// declareRepartition() is declared in core/types.hpp.
#include "declaration/core/result_layout.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class Repartition final : public Declaration {
public:
  Repartition() : Declaration("repartition", {}) {}
  // A field can consist of patches that links join (a multi-block grid). Copying elements gives the
  // same values on patches as on the joined field.
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  bool takesOutputLayout() const override { return true; }
  void setOutputLayout(const Layout& layout) override { outputLayout_ = layout; }

  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  // A copy is a linear map, which can be applied to each contribution of a partial sum.
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
  }
  // The layouts of the layer. The layout in which the input is read (`uses`) is the layout of the
  // output. A choice of labels would contradict the user's layout.
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
  // The steps of one evaluation: only the conversion.
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
