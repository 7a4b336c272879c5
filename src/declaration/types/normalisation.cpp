// SPDX-License-Identifier: BSD-2-Clause
// Declares the normalisations y = (x - mean) / sqrt(variance + epsilon) * weight + bias of
// normalisation.hpp, which defines the groups of elements over which mean and variance are taken.
// This file has the layouts of the moments (mean and variance) that ranks combine, the steps, and
// the settings of the four types. The kernels are in layer/types/normalisation.cpp.
//
// A batch normalisation of x[n,c,...] whose batch is split over 2 ranks needs, for each channel,
// the moments of both blocks. They are combined in two steps: first the mean over all ranks, then
// the moments relative to this mean. A variance computed from sums of squares in one step would
// lose its digits if the mean is large. The sums are weighted with the element counts of the
// blocks, which every rank knows from the layouts.
//
// With `statistics` the layer also has states, running means and variances, which are not
// differentiated: training updates them, and inference uses them.
#include "declaration/types/normalisation.hpp"

#include "declaration/core/channel_table.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/transpose.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

Shape Normalisation::outputShape(const std::vector<Shape>& inputs) const {
  checkInput(inputs.front());
  return inputs.front();
}

std::vector<Index> Normalisation::order(int rank) const {
  std::vector<Index> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), Index(0));
  return order;
}

Layout Normalisation::inOrder(const Layout& use) const {
  const std::vector<Index> permutation = order(use.ndim());
  return std::ranges::is_sorted(permutation) ? use : permuted(use, permutation);
}

Form Normalisation::form(const Layouts& inputs, const Choice& choice) const {
  outputShape({inputs.front().shape()});
  Form form = formLikeInput(inputs, choice);
  const Layout use = inOrder(form.uses.front());
  const Shape& shape = use.shape();
  if (flag("affine")) {
    const auto [first, count] = weighted(shape);
    // The weights are split like the dimensions of x to which they belong: each rank has the
    // weights of its elements.
    const Shape places(shape.begin() + first, shape.begin() + first + count);
    std::vector<CutSource> cuts;
    for (int d = first; d < first + count; ++d)
      cuts.push_back({&use, d});
    for (const auto& [index, name] : {std::pair(0, "weight"), {1, "bias"}})
      form.parameters.push_back(
          {.name = name,
           .use = makeLayout(places, use.gridPtr(), form.signature.parameter(index), cuts),
           .initial = index == 0 ? 1.0 : 0.0});
  }
  // Running moments have the layout of the combined ones, without the dimension [2] of the two
  // moments.
  if (follows() != Follows::Never) {
    const Layout combined = momentLayouts(use).all;
    LayoutSpec spec = combined.spec();
    spec.cuts.erase(spec.cuts.begin());
    spec.shape.erase(spec.shape.begin());
    spec.splitAxes.erase(spec.splitAxes.begin());
    spec.halos.clear();
    for (Property& p : spec.properties)
      if (p.isShard())
        --p.dim;
    const Layout running(std::move(spec));
    form.states = {{.name = "running_mean", .use = running, .initial = 0},
                   {.name = "running_var", .use = running, .initial = 1}};
  }
  return form;
}

// Moments have the shape [2, groups...]: mean and variance, then one dimension per dimension of x,
// without those that are reduced. For batchnorm of [8,6,32] it is [2,6], for groupnorm with 3
// groups [2,8,3].
Normalisation::MomentLayouts Normalisation::momentLayouts(const Layout& use) const {
  const std::vector<Dimension> dimensions = this->dimensions(use.shape());
  LayoutSpec spec{.shape = {2}, .grid = use.gridPtr(), .properties = use.properties()};
  spec.splitAxes.resize(1);
  spec.cuts.resize(1);
  std::vector<int> momentDimOf(dimensions.size(), 0); // by dimension of x; 0: summed over ranks
  for (int d = 0; d < use.ndim(); ++d) {
    const Index block = dimensions[d].block;
    if (dimensions[d].isReduced())
      continue;
    spec.shape.push_back(use.shape()[d] / block);
    spec.splitAxes.emplace_back();
    spec.cuts.emplace_back();
    std::vector<Index> cuts = use.cuts(d);
    // A group that a split point divides belongs to several ranks. The axes that split this
    // dimension are then axes over which moments are summed, as those of a reduced dimension.
    if (std::ranges::any_of(cuts, [=](Index cut) { return cut % block != 0; }))
      continue;
    momentDimOf[d] = static_cast<int>(spec.shape.size()) - 1;
    for (Index& cut : cuts)
      cut /= block;
    spec.splitAxes.back() = use.splitAxes(d);
    spec.cuts.back() = std::move(cuts);
  }
  // On an axis that splits between groups, each rank has the moments of its own groups. On others,
  // the moments of blocks are stacked along dimension 0, and contributions to them are summed.
  bool isSummed = false;
  Index parts = 1;
  LayoutSpec blockSpec = spec;
  for (int axis = 0; axis < use.grid().axes(); ++axis) {
    // With B or R a rank has all elements along the axis.
    if (!use.property(axis).isShard())
      continue;
    const int momentDim = momentDimOf[use.property(axis).dim];
    blockSpec.properties[axis] = Property::shard(momentDim);
    spec.properties[axis] = momentDim > 0 ? Property::shard(momentDim) : Property::broadcast();
    if (momentDim > 0)
      continue;
    isSummed = isSummed || !use.grid().isTrivial(axis);
    parts *= use.grid().extent(axis);
  }
  LayoutSpec contributions = spec, reference = spec;
  for (int axis = 0; axis < use.grid().axes(); ++axis)
    if (use.property(axis).isShard() && spec.properties[axis].isBroadcast())
      contributions.properties[axis] = Property::partial();
  LayoutSpec mean = contributions;
  mean.shape[0] = reference.shape[0] = 1;
  blockSpec.shape[0] = 2 * parts;
  return {Layout(std::move(blockSpec)),     Layout(std::move(mean)), Layout(std::move(reference)),
          Layout(std::move(contributions)), Layout(std::move(spec)), isSummed};
}

// Adds the maps from u, the input with its dimensions in the order of the kernels, to the combined
// moments M: m, the moments of this rank's block; r, the mean over all blocks; s, the sum of all
// moments relative to r. Both sums have only a few numbers per group. The map to r is not
// differentiated, because M does not depend on the value of r.
void Normalisation::addMomentsOfBatch(MapList& list, const MomentLayouts& layouts, ValueId u,
                                      const std::vector<int>& running, ValueId combined) {
  const ValueId m = list.exact(list.value("m", layouts.parts));
  list.run({.name = "moments", .savesInputs = true, .savesOutput = true, .addsCotangent = true},
           {u}, m);
  std::vector<ValueId> sums = {m};
  if (layouts.isSummed) {
    const ValueId mean = list.exact(list.value("a", layouts.meanContributions));
    list.runFixed({.name = "means"}, {m}, mean);
    const ValueId reference = list.convert("r", mean, layouts.reference);
    const ValueId contributions = list.exact(list.value("b", layouts.contributions));
    list.run({.name = "contributions", .savesInputs = true}, {m, reference}, contributions);
    sums = {list.convert("s", contributions, layouts.all), reference};
  }
  KernelEntry combine{.name = "combine", .savesInputs = true};
  // This kernel has the moments of the whole batch and therefore also updates the running ones.
  combine.sources = running;
  combine.runsOnce = !running.empty();
  list.run(std::move(combine), std::move(sums), combined);
}

// Here a is the weighted sum of this rank's elements, and r, the mean, its sum over ranks; b and s
// are those of the squares of (u - r), s being the variance. The weights of a group sum to 1.
void Normalisation::addMomentsByArea(MapList& list, const MomentLayouts& layouts, ValueId u,
                                     ValueId combined) {
  const auto overAll = [&](const char* name, ValueId part) {
    return haveSameMemory(layouts.meanContributions, layouts.reference)
               ? part
               : list.exact(list.convert(name, part, layouts.reference));
  };
  const ValueId a = list.exact(list.value("a", layouts.meanContributions));
  list.run({.name = "area mean"}, {u}, a);
  const ValueId mean = overAll("r", a);
  const ValueId b = list.exact(list.value("b", layouts.meanContributions));
  list.run({.name = "area variance", .savesInputs = true}, {u, mean}, b);
  list.run({.name = "area moments"}, {mean, overAll("s", b)}, combined);
}

MapList Normalisation::maps(const Form& form, const Layouts& storage) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  list.output("y", form.output);
  KernelEntry normalise{.name = type(),
                        .savesInputs = true,
                        .appliesFunction = true,
                        .gradients = flag("affine") ? Gradients::Within : Gradients::None};
  addParameterSources(list, form, storage, normalise);
  std::vector<int> running;
  for (std::size_t i = 0; i < form.states.size(); ++i)
    running.push_back(list.source({.name = form.states[i].name,
                                   .of = SourceEntry::Of::State,
                                   .use = form.states[i].use,
                                   .parameter = static_cast<int>(i),
                                   .storage = form.states[i].use}));
  const Layout& use = form.uses.front();
  const Layout ordered = inOrder(use);
  ValueId u = addUse(list, x, "u", use, /*anyStrides=*/false);
  const bool isOrdered = std::ranges::is_sorted(order(use.ndim()));
  if (!isOrdered) {
    const ValueId v = list.value("v", ordered);
    list.run({.name = "order", .anyStrides = true}, {u}, v);
    u = v;
  }
  const ValueId output = list.stagedOutput();
  const ValueId y = isOrdered ? output : list.value("w", ordered);
  const MomentLayouts layouts = momentLayouts(ordered);
  const ValueId combined = list.exact(list.value("M", layouts.all));
  if (follows() != Follows::Always) {
    if (follows() == Follows::InInference)
      list.during(When::Training);
    if (area(form.inputs.front().shape()))
      addMomentsByArea(list, layouts, u, combined);
    else
      addMomentsOfBatch(list, layouts, u, running, combined);
  }
  if (follows() != Follows::Never) {
    // The running moments do not depend on x.
    list.during(follows() == Follows::Always ? When::Always : When::Inference);
    KernelEntry fixed{.name = "running", .isSource = true};
    fixed.sources = running;
    list.runFixed(std::move(fixed), {u}, combined);
    list.during(When::Always);
  }
  list.run(normalise, {u, combined}, y);
  if (!isOrdered)
    list.run({.name = "order back", .anyStrides = true}, {y}, output);
  list.unstage(output);
  return list;
}

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kChannels = {"channels",           OptionSpec::Int, nullptr,
                                  "number of channels", nullptr,         atLeast(1)};
constexpr OptionSpec kEpsilon = {"epsilon", OptionSpec::Real,
                                 "1e-5",    "added to variances before their root is taken",
                                 nullptr,   atLeast(0)};
constexpr OptionSpec kAffine = {"affine", OptionSpec::Flag, "true",
                                "whether a weight and a bias follow"};
constexpr OptionSpec kBatch[] = {kChannels,
                                 kEpsilon,
                                 kAffine,
                                 {"momentum",
                                  OptionSpec::Real,
                                  "0.1",
                                  "share of the last batch in running means and variances",
                                  nullptr,
                                  {.least = 0, .most = 1}},
                                 {"statistics", OptionSpec::Choice, "batch",
                                  "in training: batch = mean and variance of the batch, which the "
                                  "running ones follow; running = the running ones, which stay "
                                  "as they are. Inference always takes the running ones",
                                  "batch|running"}};
constexpr OptionSpec kInstance[] = {
    kChannels,
    kEpsilon,
    {"affine", OptionSpec::Flag, "false", "whether a weight and a bias follow"},
    kAreaSetting,
    kAreaDimSetting};
constexpr OptionSpec kGroup[] = {kChannels,
                                 {"groups", OptionSpec::Int, nullptr,
                                  "groups of channels, each with a mean and variance of its own",
                                  nullptr, atLeast(1)},
                                 kEpsilon,
                                 kAffine};
constexpr OptionSpec kLayer[] = {{"shape", OptionSpec::Ints, nullptr,
                                  "extents of the dimensions that are normalised together", nullptr,
                                  atLeast(1)},
                                 {"dim", OptionSpec::Int, nullptr,
                                  "the first of these dimensions, counted from 0; by default they "
                                  "are the last ones",
                                  nullptr, atLeast(0)},
                                 kEpsilon,
                                 kAffine};

// Normalisations of an input [batch, channel, ...] with one weight per channel.
class ChannelNorm : public Normalisation {
public:
  using Normalisation::Normalisation;
  std::pair<int, int> weighted(const Shape&) const override { return {1, 1}; }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return channelTable(static_cast<int>(inputs.front().size()));
  }
  std::string summary() const override {
    return fmt::format("{} channels{}", integer("channels"),
                       settings().has("groups") ? fmt::format(" in {} groups", integer("groups"))
                                                : "");
  }

protected:
  void checkInput(const Shape& x) const override {
    if (x.size() < 2 || x[1] != integer("channels"))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1},...]", title(),
                              integer("channels"), fmt::join(x, ",")));
  }
  // Groups of `samples` samples and `channels` channels, where 0 means all. Space is always
  // reduced.
  static std::vector<Dimension> reducing(const Shape& x, Index samples, Index channels) {
    std::vector<Dimension> dimensions(x.size(), Dimension{.block = 0});
    dimensions[0].block = samples;
    dimensions[1].block = channels;
    return dimensions;
  }
};

class BatchNorm final : public ChannelNorm {
public:
  BatchNorm() : ChannelNorm("batchnorm", kBatch) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  std::vector<Dimension> dimensions(const Shape& x) const override {
    return reducing(x, /*samples=*/0, /*channels=*/1);
  }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 5);
    return {{{"channels", shape[1]},
             {"affine", draw.chance(70)},
             {"epsilon", 0.01},
             {"statistics", std::string(draw.of({"batch", "running"}))}},
            {shape}};
  }
  bool changesStates() const override { return follows() == Follows::InInference; }
  std::string summary() const override {
    return ChannelNorm::summary() + (follows() == Follows::Always ? ", running statistics" : "");
  }

private:
  Follows follows() const override {
    return text("statistics") == "running" ? Follows::Always : Follows::InInference;
  }
};

class InstanceNorm final : public ChannelNorm {
public:
  InstanceNorm() : ChannelNorm("instancenorm", kInstance) {}
  std::vector<Dimension> dimensions(const Shape& x) const override {
    return reducing(x, /*samples=*/1, /*channels=*/1);
  }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    Example example{{{"channels", shape[1]}, {"affine", draw.chance(70)}, {"epsilon", 0.01}},
                    {shape}};
    if (draw.chance(40)) {
      example.settings.emplace_back("area", std::string(draw.of({"gauss", "cells"})));
      example.settings.emplace_back("area_dim",
                                    draw.between(2, static_cast<Index>(shape.size()) - 1));
    }
    return example;
  }
  std::optional<AreaRows> area(const Shape& x) const override { return areaRows(*this, x); }
  // The other kernels work on tensors.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    if (!at.name().starts_with("area"))
      return nullptr;
    return makeAreaMomentKernel(at, *area(at.form.inputs.front().shape()));
  }
  std::string summary() const override {
    return ChannelNorm::summary() +
           (text("area") == "none" ? "" : fmt::format(", by area, grid {}", text("area")));
  }

private:
  void checkInput(const Shape& x) const override {
    ChannelNorm::checkInput(x);
    if (const auto rows = area(x); rows && rows->dim < kFirstSpatial)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} weights elements by area, with latitudes in dimension {}, over "
                              "which it takes no mean; set area_dim to one from {} on",
                              title(), rows->dim, kFirstSpatial));
  }
};

class GroupNorm final : public ChannelNorm {
public:
  GroupNorm() : ChannelNorm("groupnorm", kGroup) {}
  std::vector<Dimension> dimensions(const Shape& x) const override {
    return reducing(x, /*samples=*/1, /*channels=*/integer("channels") / integer("groups"));
  }
  Example example(ExampleDraw& draw) const override {
    Shape shape = draw.shape(2, 4);
    const Index groups = draw.between(1, 3);
    shape[1] = groups * draw.between(1, 3);
    return {{{"channels", shape[1]},
             {"groups", groups},
             {"affine", draw.chance(70)},
             {"epsilon", 0.01}},
            {shape}};
  }

private:
  void check() const override {
    if (isSet("channels") && isSet("groups") && integer("channels") % integer("groups") != 0)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the number of groups, {}, must divide the {} channels of {}",
                              integer("groups"), integer("channels"), title()));
  }
};

class LayerNorm final : public Normalisation {
public:
  LayerNorm() : Normalisation("layernorm", kLayer) {}

  std::vector<Dimension> dimensions(const Shape& x) const override {
    std::vector<Dimension> dimensions(x.size(), Dimension{1});
    for (int d = weighted(x).first; d < static_cast<int>(x.size()); ++d)
      dimensions[d].block = 0;
    return dimensions;
  }
  std::pair<int, int> weighted(const Shape& x) const override {
    const int count = static_cast<int>(normalised().size());
    return {static_cast<int>(x.size()) - count, count};
  }

  // The normalised dimensions become the last ones: with `dim` 1 and one dimension in `shape`, the
  // order of [n,c,y,x] is n, y, x, c.
  std::vector<Index> order(int rank) const override {
    std::vector<Index> order = Normalisation::order(rank);
    const auto first = order.begin() + firstOf(rank);
    std::rotate(first, first + static_cast<std::ptrdiff_t>(normalised().size()), order.end());
    return order;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const int rank = static_cast<int>(inputs.front().size()), first = firstOf(rank),
              last = first + static_cast<int>(normalised().size());
    SignatureTable table =
        elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/false);
    for (SignatureRow& row : table) {
      const Property& x = row.output;
      const Property parameter = !x.isShard()                     ? x
                                 : x.dim < first || x.dim >= last ? Property::broadcast()
                                                                  : Property::shard(x.dim - first);
      row.parameters = {parameter, parameter};
    }
    return table;
  }
  std::string summary() const override {
    return fmt::format("over [{}]{}", fmt::join(normalised(), ","),
                       isSet("dim") ? fmt::format(" from dimension {}", integer("dim")) : "");
  }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    const Index rank = static_cast<Index>(shape.size()), count = draw.between(1, rank),
                first = draw.chance(50) ? rank - count : draw.between(0, rank - count);
    Example example{{{"shape", Shape(shape.begin() + first, shape.begin() + first + count)},
                     {"affine", draw.chance(70)},
                     {"epsilon", 0.01}},
                    {shape}};
    if (first != rank - count)
      example.settings.emplace_back("dim", first);
    return example;
  }

private:
  Shape normalised() const { return value<std::vector<Index>>("shape"); }
  void checkInput(const Shape& x) const override {
    const Shape normalisedShape = normalised();
    const int first = firstOf(static_cast<int>(x.size()));
    if (first < 0 || first + normalisedShape.size() > x.size() ||
        !std::equal(normalisedShape.begin(), normalisedShape.end(), x.begin() + first))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{}], but {} needs {}{}{}", fmt::join(x, ","),
                              title(), isSet("dim") ? "[" : "[...,",
                              fmt::join(normalisedShape, ","),
                              isSet("dim") ? fmt::format("] from dimension {} on", first) : "]"));
  }
  // The first normalised dimension, in the order of the input's dimensions.
  int firstOf(int rank) const {
    return isSet("dim") ? static_cast<int>(integer("dim"))
                        : rank - static_cast<int>(normalised().size());
  }
};

} // namespace

std::unique_ptr<Declaration> declareBatchNorm() {
  return std::make_unique<BatchNorm>();
}

std::unique_ptr<Declaration> declareInstanceNorm() {
  return std::make_unique<InstanceNorm>();
}

std::unique_ptr<Declaration> declareGroupNorm() {
  return std::make_unique<GroupNorm>();
}

std::unique_ptr<Declaration> declareLayerNorm() {
  return std::make_unique<LayerNorm>();
}

} // namespace tenon
