// SPDX-License-Identifier: BSD-2-Clause
// Cross-entropy loss with terms log(sum exp z) - z[label] of samples. Labels per grid axis: n
// batch, c classes, B (replicated), R (on the root of the axis only).
//
// Its kernels compute for each sample the largest logit m, then the sum s of exp(z - m) and the
// logit of the sample's label, each over the classes on this rank. If classes are split, one
// exchange combines the maxima (M) and one the sums (S). These steps are fixed, and the last kernel
// declares the total derivative, so the adjoint needs no communication.
#include "declaration/core/types.hpp"
#include "declaration/types/losses.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kCrossEntropySettings[] = {
    kReductionSetting,
    {"loss_weights", OptionSpec::Choice, "none",
     "weights of a loss's terms, of 0 where something is masked: none, or one for each sample",
     "none|sample"},
};

class CrossEntropy final : public Loss {
public:
  CrossEntropy() : Loss("crossentropy", kCrossEntropySettings, "z") {}
  bool termsAreSamples() const override { return true; }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = elementwiseTable(2, false);
    table[0].label = "n";
    table[1].label = "c";
    return table;
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 2);
    return {.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})}},
            .inputs = {shape},
            .target = {shape[0]},
            .classes = shape[1]};
  }

private:
  void checkInput(const Shape& x) const override {
    if (x.size() != 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs logits [samples,classes]",
                              title(), fmt::join(x, ",")));
  }

  SourceEntry target(const Layout& use) const override {
    return {.name = "labels", .of = SourceEntry::Of::Labels, .use = samplesLayout(use)};
  }

  // The last kernel saves the label and the weight of each sample, because the caller can set
  // others before the adjoint.
  ValueId addContribution(MapList& list, ValueId z, ValueId sum, const Layout& use) const override {
    const Property P = Property::partial(), B = Property::broadcast();
    const Index samples = use.shape()[kSamples];
    // If classes are not split, each rank has all of its samples' classes and nothing is exchanged.
    const auto overClasses = [&](OperatorKind kind, ValueId local, const char* name,
                                 const Layout& to) {
      return haveSameMemory(list.values()[local].layout, to) ? local
                                                             : list.convert(name, local, to, kind);
    };
    const Layout labels = samplesLayout(use);
    const ValueId m = list.exact(list.value("m", perSample(use, {samples}, P, 0)));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId maxima = overClasses(OperatorKind::Maximum, m, "M", labels);
    const ValueId s = list.exact(list.value("s", perSample(use, {2, samples}, P, 1)));
    list.runFixed(reading(list, "sums"), {z, maxima}, s);
    const ValueId sums =
        overClasses(OperatorKind::Exchange, s, "S", perSample(use, {2, samples}, B, 1));
    const ValueId a = contributionValue(list, use);
    const Index bytes = static_cast<Index>(sizeof(std::int64_t)) + elementBytes();
    KernelEntry nll = reading(list, "nll", {bytes, labels});
    nll.savesInputs = true;
    std::vector<ValueId> reads = {z, maxima, sums};
    if (sum != kNoValue)
      reads.push_back(sum);
    list.run(std::move(nll), reads, a);
    return a;
  }
};

} // namespace

std::unique_ptr<Declaration> declareCrossEntropy() {
  return std::make_unique<CrossEntropy>();
}

} // namespace tenon
