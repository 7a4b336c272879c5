// SPDX-License-Identifier: BSD-2-Clause
// Declares losses, layers that compare their input x with a target t and return one number
// (losses.hpp). The simplest ones have one term for the error d = x - t of each element; the
// gradient penalty and the relative L2 error are defined below, and the cross entropy in
// cross_entropy.cpp.
//
//   meansquarederror   d^2
//   meanabsoluteerror  |d|
//   huber              d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)
//
// The value is the sum of all terms of the global batch, or their mean. Each rank computes the
// contribution of its elements, already divided by the global count or sum of weights, and one
// reduction adds the contributions; a mean of the ranks' means would give too much weight to small
// blocks. Loss::maps() lists these steps, and the kernels are in layer/types/losses.cpp:
//
//   z   x in its use layout
//   W   the sum of the weights, of contributions w
//   a   this rank's contribution to the value
//   y   the sum of a over all ranks
//
// A declaration computes nothing and communicates nothing itself. `use` is everywhere the layout in
// which the kernels read x.
#include "declaration/losses/losses.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

std::vector<double> spacing(const std::string& text, int dims, const std::string& who) {
  std::vector<double> numbers;
  for (const auto& word : split(text, ',')) {
    const auto number = parseReal(word);
    if (!number || !std::isfinite(*number) || !(*number > 0))
      throw Error(TENON_ERR_ARG,
                  fmt::format("the spacing \"{}\" of {} holds \"{}\"; give positive numbers, "
                              "separated by commas",
                              text, who, word));
    numbers.push_back(*number);
  }
  if (dims > 0 && numbers.size() == 1)
    numbers.resize(static_cast<std::size_t>(dims), numbers.front());
  if (dims > 0 && numbers.size() != static_cast<std::size_t>(dims))
    throw Error(TENON_ERR_ARG,
                fmt::format("the spacing \"{}\" of {} has {}, but the input has {}; give one for "
                            "all or one each",
                            text, who, counted(static_cast<Index>(numbers.size()), "number"),
                            counted(dims, "spatial dimension")));
  return numbers;
}

// Gradient penalty: the squared gradient of a field e, which is the error x - t or x itself, by
// first differences in space:
//
//   term of element i   sum over d of ((e[i + 1 in d] - e[i]) / spacing_d)^2
//
// Differences past the domain's last element are omitted, or wrap around if periodic. Each rank
// computes the differences whose lower end it owns, and reads one more element per dimension (a
// halo).

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kGradientPenaltySettings[] = {
    kReductionSetting,
    kWeightsSetting,
    kAreaSetting,
    kAreaDimSetting,
    {"spacing", OptionSpec::String, "1",
     "distance of grid points: one number for all spatial dimensions, or one each as in 0.1,0.2"},
    {"periodic", OptionSpec::Flag, "false",
     "differences go round from the last element to the first"},
    {"with_target", OptionSpec::Flag, "true",
     "penalize the gradient of the error, input minus target, instead of that of the input"},
};

class GradientPenalty final : public Loss {
public:
  GradientPenalty() : Loss("gradientpenalty", kGradientPenaltySettings, "u") {}
  bool takesTarget() const override { return flag("with_target"); }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    return {.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})},
                         {"spacing", draw.of<std::string>({"1", "0.5"})},
                         {"periodic", draw.chance(50)}},
            .inputs = {shape},
            .target = shape};
  }

private:
  void check() const override { spacing(text("spacing"), 0, title()); }

  void checkInput(const Shape& x) const override {
    const int spatial = static_cast<int>(x.size()) - kFirstSpatial;
    if (spatial < 1 || spatial > kMaxSpatial)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the input has shape [{1}], but {0} needs 1 to {2} spatial dimensions "
                      "behind batch and channel",
                      title(), fmt::join(x, ","), kMaxSpatial));
    spacing(text("spacing"), spatial, title());
  }

  // The layout of x with one more element at the end of each block of a spatial dimension: 8
  // elements split at 0, 4, 8 are stored as [0, 5) and [4, 8), or [4, 9) if periodic.
  Layout readLayout(const Layout& use) const override {
    LayoutSpec spec = use.spec();
    for (int d = kFirstSpatial; d < use.ndim(); ++d) {
      const bool periodic = flag("periodic");
      // A single block needs no halo, unless the periodic difference reads past its end.
      if (use.parts(d) == 1 && !periodic)
        continue;
      Halo halo{.boxes = {}, .high = periodic ? Boundary::Periodic : Boundary::None};
      const Index last = use.shape()[d] + (periodic ? 1 : 0);
      for (int part = 0; part < use.parts(d); ++part) {
        const Interval owned = use.owned(d, part);
        halo.boxes.push_back(
            // Unless periodic, the last block has no difference past the domain's end, and an empty
            // block has none at all.
            {owned.begin, owned.empty() ? owned.end : std::min(owned.end + 1, last)});
      }
      spec.halos[d] = std::move(halo);
    }
    return Layout(std::move(spec));
  }
};

} // namespace

std::unique_ptr<Declaration> declareGradientPenalty() {
  return std::make_unique<GradientPenalty>();
}

// Relative L2 error, with terms |x_n - t_n| / (|t_n| + epsilon) in the Euclidean norm of sample n.
// Weights of elements apply to the squares in both norms, weights of samples to the terms.
//
// The squares are summed over this rank's elements of each sample (s), then over all ranks that
// hold the sample (S). These sums are fixed, and the last kernel declares the total derivative, so
// cotangents of the sums are not communicated.

namespace {

constexpr OptionSpec kRelativeL2Settings[] = {
    kReductionSetting,
    kWeightsSetting,
    kAreaSetting,
    kAreaDimSetting,
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
  ValueId addContribution(MapList& list, ValueId x, ValueId sum, const Layout& use) const override {
    const Shape shape = {2, use.shape()[kSamples]}; // the squares of x - t, and those of t
    const ValueId local =
        list.exact(list.value("s", perSample(use, shape, Property::partial(), 1)));
    list.runFixed(reading(list, "squares"), {x}, local);
    const Layout whole = perSample(use, shape, Property::broadcast(), 1);
    const ValueId squares = haveSameMemory(list.values()[local].layout, whole)
                                ? local
                                : list.convert("S", local, whole, OperatorKind::Exchange);
    return addTerms(list, {x, squares}, sum, use);
  }
};

} // namespace

std::unique_ptr<Declaration> declareRelativeL2() {
  return std::make_unique<RelativeL2>();
}

Layout scalarLayout(const Layout& use, Property split) {
  // Axes with B or R keep their property, since a copy is not a contribution.
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = split;
  return makeLayout({1}, use.gridPtr(), properties, {CutSource()});
}

Layout perSample(const Layout& use, const Shape& shape, Property others, int dim) {
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p == Property::shard(kSamples))
      p = Property::shard(dim);
    else if (p.isShard())
      p = others;
  std::vector<CutSource> cuts(shape.size());
  cuts[dim] = {&use, kSamples};
  return makeLayout(shape, use.gridPtr(), properties, cuts);
}

Shape Loss::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  checkInput(x);
  if (std::ranges::any_of(x, [](Index extent) { return extent < 1; }))
    throw Error(TENON_ERR_SHAPE, fmt::format("the input has shape [{1}], but {0} needs at least "
                                             "1 element",
                                             title(), fmt::join(x, ",")));
  areaOfTerms(x); // its errors
  return {1};
}

std::optional<AreaRows> Loss::areaOfTerms(const Shape& x) const {
  std::optional<AreaRows> area;
  if (settings().has("area"))
    area = areaRows(*this, x);
  if (area && area->dim == kSamples)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} weights elements by area, with latitudes in dimension 0, which "
                            "counts samples; set area_dim",
                            title()));
  return area;
}

Form Loss::form(const Layouts& inputs, const Choice& choice) const {
  outputShape({inputs.front().shape()});
  // The value is replicated on all ranks that hold the input: each can use it without
  // communication.
  Form form = Elementwise::form(inputs, choice);
  form.uses.front() = readLayout(form.uses.front());
  form.output = scalarLayout(form.uses.front(), Property::broadcast());
  return form;
}

MapList Loss::maps(const Form& form, const Layouts&) const {
  MapList list;
  const Layout& use = form.uses.front();
  const ValueId x = list.input("x", form.inputs.front());
  if (takesTarget())
    list.source(target(use));
  if (takesTargetWeights())
    list.source({.name = "weights",
                 .of = SourceEntry::Of::Weights,
                 .use = text("loss_weights") == "sample" ? samplesLayout(termsLayout(use))
                                                         : termsLayout(use)});
  // The input is exact, because a rounding of it would appear as a difference from the target.
  const ValueId z = list.exact(
      haveSameMemory(form.inputs.front(), use) ? list.staged(x) : list.convert(used_, x, use));
  const ValueId sum = hasWeightSum() ? addWeightSum(list, z, use) : kNoValue;
  const ValueId contribution = addContribution(list, z, sum, use);
  list.apply(OperatorKind::Conversion, contribution, list.output("y", form.output));
  return list;
}

ValueId Loss::addWeightSum(MapList& list, ValueId z, const Layout& use) const {
  const ValueId local = list.exact(list.value("w", scalarLayout(use, Property::partial())));
  list.runFixed(reading(list, "weights"), {z}, local);
  const Layout whole = scalarLayout(use, Property::broadcast());
  return haveSameMemory(list.values()[local].layout, whole) ? local
                                                            : list.convert("W", local, whole);
}

KernelEntry Loss::reading(const MapList& list, std::string name, Workspace workspace) {
  KernelEntry kernel{.name = std::move(name), .workspace = std::move(workspace)};
  kernel.sources.resize(list.sources().size());
  // Every kernel of a loss can read the target and the weights, its only sources.
  std::iota(kernel.sources.begin(), kernel.sources.end(), 0);
  return kernel;
}

ValueId Loss::contributionValue(MapList& list, const Layout& use) {
  return list.value("a", scalarLayout(use, Property::partial()));
}

ValueId Loss::addTerms(MapList& list, std::vector<ValueId> reads, ValueId sum,
                       const Layout& use) const {
  const ValueId a = contributionValue(list, use);
  if (sum != kNoValue)
    reads.push_back(sum);
  // The derivative is one number per element and cheap to compute in the forward kernel. It is
  // saved instead of input, target and weights, which can have changed when the adjoint runs.
  list.run(reading(list, type(), {.bytes = elementBytes(), .elementsOf = use}), std::move(reads),
           a);
  return a;
}

std::string Loss::summary() const {
  const std::string weights = text("loss_weights");
  std::string words = isSet("loss_reduction") ? text("loss_reduction") : "";
  const auto add = [&](const std::string& more) {
    words += fmt::format("{}{}", words.empty() ? "" : ", ", more);
  };
  if (weights != "none")
    add("weights by " + weights);
  if (settings().has("area") && text("area") != "none")
    add("by area, grid " + text("area"));
  return words;
}

namespace {

constexpr OptionSpec kHuberSettings[] = {
    kReductionSetting,
    kWeightsSetting,
    kAreaSetting,
    kAreaDimSetting,
    {"delta", OptionSpec::Real, "1",
     "error up to which the Huber loss is quadratic, and linear beyond", nullptr, above(0)},
};

class ElementLoss final : public Loss {
public:
  ElementLoss(const char* type, std::span<const OptionSpec> table) : Loss(type, table, "u") {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    Example drawn{.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})}},
                  .inputs = {shape},
                  .target = shape};
    if (settings().has("delta"))
      drawn.settings.emplace_back("delta", 0.25 * static_cast<double>(draw.between(1, 4)));
    return drawn;
  }

private:
  std::string summary() const override {
    const std::string words = Loss::summary();
    return settings().has("delta")
               ? fmt::format("delta {}{}{}", real("delta"), words.empty() ? "" : ", ", words)
               : words;
  }
};

} // namespace

std::unique_ptr<Declaration> declareMeanSquaredError() {
  return std::make_unique<ElementLoss>("meansquarederror", kFieldLossSettings);
}

std::unique_ptr<Declaration> declareMeanAbsoluteError() {
  return std::make_unique<ElementLoss>("meanabsoluteerror", kFieldLossSettings);
}

std::unique_ptr<Declaration> declareHuber() {
  return std::make_unique<ElementLoss>("huber", kHuberSettings);
}

} // namespace tenon
