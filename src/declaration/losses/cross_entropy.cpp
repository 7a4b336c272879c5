// SPDX-License-Identifier: BSD-2-Clause
// Declares the cross-entropy loss of logits z[samples, classes, space...], with any number of
// dimensions of space or none, and one label for each element of [samples, space...]: the mean or
// sum over the labels i of the terms
//
//   log(sum over classes c of exp z[i,c]) - z[i, label[i]]
//
// where z[i,c] are the logits of label i. Terms can have weights, the user's and those by area on a
// sphere (sphere/area.hpp).
//
// Labels of the signature, which state what a grid axis does to z: n (splits the samples), c
// (splits the classes), d, h, w (split space), B (replicates z), R (holds it on its root only).
//
// A rank can have only some of the classes. addContribution() lists these steps, whose kernels are
// in layer/types/cross_entropy.cpp:
//
//   m    largest logit of each label on this rank
//   M    largest logit over all ranks (one exchange)
//   s    for each label the sum of exp(z - M) on this rank, and the logit of its class, which is 0
//        on ranks without this class
//   S    sums of s over all ranks (one exchange)
//   a    this rank's part of the loss, a partial sum
//
// m and s are fixed, that is, not differentiated. The last kernel returns the total derivative
// softmax(z) - [c = label] instead, and the adjoint of these steps needs no communication.
// declareCrossEntropy() is declared in core/types.hpp; the kernels are in
// layer/types/cross_entropy.cpp.
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/losses/losses.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr int kClasses = 1; // the dimension that counts classes

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kCrossEntropySettings[] = {
    kReductionSetting,
    {"loss_weights", OptionSpec::Choice, "none",
     "weights of a loss's terms, of 0 where something is masked: none, one for each sample, or one "
     "for each label",
     "none|sample|element"},
    kAreaSetting,
    kAreaDimSetting,
};

Shape labelsShape(Shape logits) {
  logits.erase(logits.begin() + kClasses);
  return logits;
}

// A layout of `numbers` arrays of the labels' shape (without a dimension for them if it is 1),
// split like the logits, and with the property `classes` on axes that split the classes.
Layout perLabel(const Layout& use, Property classes, Index numbers = 1) {
  const int added = numbers == 1 ? 0 : 1;
  Shape shape = labelsShape(use.shape());
  shape.insert(shape.begin(), static_cast<std::size_t>(added), numbers);
  std::vector<CutSource> cuts(static_cast<std::size_t>(added));
  for (int d = 0; d < use.ndim(); ++d)
    if (d != kClasses)
      cuts.push_back({&use, d});
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p == Property::shard(kClasses))
      p = classes;
    else if (p.isShard())
      p = Property::shard(p.dim - (p.dim > kClasses ? 1 : 0) + added);
  return makeLayout(shape, use.gridPtr(), properties, cuts);
}

class CrossEntropy final : public Loss {
public:
  CrossEntropy() : Loss("crossentropy", kCrossEntropySettings, "z") {}
  bool splitsTerms(int dim) const override { return dim != kClasses; }
  Layout termsLayout(const Layout& use) const override {
    return perLabel(use, Property::broadcast());
  }

  std::optional<AreaRows> areaOfTerms(const Shape& x) const override {
    std::optional<AreaRows> area = Loss::areaOfTerms(x);
    if (!area)
      return area;
    // The last dimension as latitudes has the one before as longitudes (area.cpp).
    const int rank = static_cast<int>(x.size()),
              longitudes = area->dim + 1 < rank ? area->dim + 1 : area->dim - 1;
    if (area->dim == kClasses || longitudes == kClasses)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} weights labels by area, with latitudes in dimension {} and "
                              "longitudes in dimension {} of [{}], but dimension 1 counts classes; "
                              "set area_dim, to a dimension of [samples,classes,space...] in space",
                              title(), area->dim, longitudes, fmt::join(x, ",")));
    --area->dim; // labels have no dimension of classes
    return area;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkInput(x);
    const int spatial = static_cast<int>(x.size()) - kFirstSpatial;
    if (spatial >= 1 && spatial <= kMaxSpatial)
      return imageTable(spatial, /*linear=*/false);
    SignatureTable table = elementwiseTable(static_cast<int>(x.size()), /*linear=*/false);
    table[kSamples].label = "n"; // instead of S0
    table[kClasses].label = "c"; // instead of S1
    return table;
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 4);
    Example example{.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})}},
                    .inputs = {shape},
                    .target = labelsShape(shape),
                    .classes = shape[kClasses]};
    if (shape.size() == 4 && draw.chance(50)) {
      example.settings.emplace_back("area", draw.of<std::string>({"gauss", "cells"}));
      example.settings.emplace_back("area_dim", draw.between(2, 3));
    }
    return example;
  }

private:
  void checkInput(const Shape& x) const override {
    if (x.size() < 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs logits [samples,classes], "
                              "or [samples,classes,space...]",
                              title(), fmt::join(x, ",")));
  }

  SourceEntry target(const Layout& use) const override {
    return {.name = "labels", .of = SourceEntry::Of::Labels, .use = termsLayout(use)};
  }

  // `sum` is the sum of all weights, or kNoValue. The last kernel saves the class and the weight of
  // each label, because the caller can set others before the adjoint.
  ValueId addContribution(MapList& list, ValueId z, ValueId sum, const Layout& use) const override {
    const Property P = Property::partial(), B = Property::broadcast();
    // If classes are not split, each rank has all logits of its labels and nothing is exchanged.
    const auto overClasses = [&](OperatorKind kind, ValueId local, const char* name,
                                 const Layout& to) {
      return haveSameMemory(list.values()[local].layout, to) ? local
                                                             : list.convert(name, local, to, kind);
    };
    const Layout labels = termsLayout(use);
    // Values marked as exact are never saved in bfloat16.
    const ValueId m = list.exact(list.value("m", perLabel(use, P)));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId maxima = overClasses(OperatorKind::Maximum, m, "M", labels);
    const ValueId s = list.exact(list.value("s", perLabel(use, P, 2)));
    list.runFixed(reading(list, "sums"), {z, maxima}, s);
    const ValueId sums = overClasses(OperatorKind::Exchange, s, "S", perLabel(use, B, 2));
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
