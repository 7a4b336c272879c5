// SPDX-License-Identifier: BSD-2-Clause
// Declares the cross-entropy loss of logits z[samples, classes] and one label per sample: the mean
// or sum over all samples n of the terms
//
//   log(sum over classes c of exp z[n,c]) - z[n, label[n]]
//
// Labels, which state what a grid axis does to z: n (splits the samples), c (splits the classes), B
// (replicates z), R (holds it on its root only).
//
// A rank can have only some of the classes. addContribution() lists these steps, whose kernels are
// in layer/types/cross_entropy.cpp:
//
//   m    largest logit of each sample on this rank
//   M    largest logit over all ranks (one exchange)
//   s    for each sample the sum of exp(z - M) on this rank, and the logit of its label, which is 0
//        on ranks without its class
//   S    sums of s over all ranks (one exchange)
//   a    this rank's part of the loss, a partial sum
//
// m and s are fixed, that is, not differentiated. The last kernel returns the total derivative
// softmax(z) - [c = label] instead, and the adjoint of these steps needs no communication.
// declareCrossEntropy() is declared in core/types.hpp; the kernels are in
// layer/types/cross_entropy.cpp.
#include "declaration/core/types.hpp"
#include "declaration/types/losses.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
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
    SignatureTable table = elementwiseTable(/*rank=*/2, /*linear=*/false);
    table[0].label = "n"; // instead of S0
    table[1].label = "c"; // instead of S1
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
                  fmt::format("the input has shape [{1}], but {0} needs logits [samples,classes]; "
                              "for a class in each pixel move the classes last by transpose, and "
                              "join the other dimensions by reshape",
                              title(), fmt::join(x, ",")));
  }

  SourceEntry target(const Layout& use) const override {
    return {.name = "labels", .of = SourceEntry::Of::Labels, .use = samplesLayout(use)};
  }

  // `sum` is the sum of all weights, or kNoValue. The last kernel saves the label and the weight of
  // each sample, because the caller can set others before the adjoint.
  ValueId addContribution(MapList& list, ValueId z, ValueId sum, const Layout& use) const override {
    // Values have one number per sample, or two for s and S, in the layout perSample(..., dim):
    // dimension `dim` counts samples, and P or B is the property on axes that split the classes.
    const Property P = Property::partial(), B = Property::broadcast();
    const Index samples = use.shape()[kSamples];
    // If classes are not split, each rank has all of its samples' classes and nothing is exchanged.
    const auto overClasses = [&](OperatorKind kind, ValueId local, const char* name,
                                 const Layout& to) {
      return haveSameMemory(list.values()[local].layout, to) ? local
                                                             : list.convert(name, local, to, kind);
    };
    const Layout labels = samplesLayout(use);
    // Values marked as exact are never saved in bfloat16.
    const ValueId m = list.exact(list.value("m", perSample(use, {samples}, P, 0)));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId maxima = overClasses(OperatorKind::Maximum, m, "M", labels);
    const ValueId s = list.exact(list.value("s", perSample(use, {2, samples}, P, 1)));
    list.runFixed(reading(list, "sums"), {z, maxima}, s);
    const ValueId sums =
        overClasses(OperatorKind::Exchange, s, "S", perSample(use, {2, samples}, B, 1));
    const ValueId a = contributionValue(list, use);
    const Index savedBytes = static_cast<Index>(sizeof(std::int64_t)) + elementBytes();
    KernelEntry nll = reading(list, "nll", {.bytes = savedBytes, .elementsOf = labels});
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
