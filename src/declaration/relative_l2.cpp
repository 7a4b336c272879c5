// SPDX-License-Identifier: BSD-2-Clause
// The relative error of samples in the Euclidean norm: terms |x_n - t_n| / (|t_n| + epsilon). Weights of
// elements are those of the squares in both norms, weights of samples those of the terms.
//
// The squares are summed over the cells that a rank has of each sample, then over all (S); these sums are
// fixed, and the last kernel declares the total derivative, so that no cotangent of a sum travels.
#include "declaration/declaration_types.hpp"
#include "declaration/loss.hpp"
#include "geometry/holding.hpp"

namespace tenon {

namespace {

constexpr OptionSpec kRelativeL2Settings[] = {
    kReductionSetting,
    kWeightsSetting,
    {"epsilon", OptionSpec::Real, "0", "number added to the norm of a sample's target", nullptr,
     atLeast(0)},
};

class RelativeL2 final : public Loss {
public:
  RelativeL2() : Loss("relativel2", kRelativeL2Settings, "u") {}
  bool termsAreSamples() const override { return true; }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    return {
        .settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})}, {"epsilon", 0.25}},
        .inputs = {shape},
        .target = shape};
  }

private:
  ValueId addAddend(MapList& list, ValueId x, ValueId sum, const Layout& use) const override {
    const Shape shape = {2, use.shape()[kSamples]};
    const ValueId own = list.exact(list.value("s", perSample(use, shape, Property::partial(), 1)));
    list.runFixed(reading(list, "squares"), {x}, own);
    const Layout whole = perSample(use, shape, Property::broadcast(), 1);
    const ValueId squares = sameHolding(list.values()[own].layout, whole)
                                ? own
                                : list.convert("S", own, whole, OperatorKind::Exchange);
    return addTerms(list, {x, squares}, sum, use);
  }
};

} // namespace

std::unique_ptr<Declaration> declareRelativel2() {
  return std::make_unique<RelativeL2>();
}

} // namespace tenon
