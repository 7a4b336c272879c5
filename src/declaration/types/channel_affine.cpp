// SPDX-License-Identifier: BSD-2-Clause
// An affine map of each channel: y[n,c,s] = scale[c] x[n,c,s] + shift[c].
//
// Labels on a grid axis: n batch, c channels, S2, S3, ... space, B, R, and P, where the root of the
// axis alone adds the shift.
// Behind them is a parameter as a value.
#include "declaration/core/channel_table.hpp"
#include "declaration/core/declaration.hpp"
#include "declaration/core/elementwise.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "geometry/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kChannelSettings[] = {
    {"channels", OptionSpec::Int, nullptr, "number of channels", nullptr, atLeast(1)}};

// Functions of each element with numbers for each channel.
class OfChannels : public Elementwise {
public:
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (x.size() < 2 || x[1] != integer("channels"))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1},...]", title(),
                              integer("channels"), fmt::join(x, ",")));
    return x;
  }
  std::string summary() const override { return fmt::format("{} channels", integer("channels")); }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 4);
    return {{{"channels", shape[1]}}, {shape}};
  }

protected:
  explicit OfChannels(const char* type) : Elementwise(type, kChannelSettings) {}
};

class ChannelAffine final : public OfChannels {
public:
  ChannelAffine() : OfChannels("channelaffine") {}

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = channelTable(static_cast<int>(inputs.front().size()));
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    table.push_back({"P", P, {B, R}, P});
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    const Layout& use = form.uses.front();
    for (const auto& [index, name] : {std::pair(0, "scale"), {1, "shift"}})
      form.parameters.push_back({.name = name,
                                 .use = makeLayout({shape[1]}, use.gridPtr(),
                                                   form.signature.parameter(index), {{&use, 1}}),
                                 .initial = index == 0 ? 1.0 : 0.0});
    return form;
  }

  // A multiplication and an addition for each element, in the product and in both adjoints.
  Work work(const Form& form, int position) const override {
    const double flops = 2.0 * double(elements(form.uses[0].box(position)));
    return {flops, flops, flops};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .keepsInputs = true, .gradients = Gradients::Apart};
  }

private:
  bool isLinear() const override { return true; }
};

} // namespace

std::unique_ptr<Declaration> declareChannelAffine() {
  return std::make_unique<ChannelAffine>();
}

// A rectifier with a slope for each channel (He et al. 2015): y = x for x > 0, and weight[c] x below.
// It is a sum of the positive part and of the negative part, scaled by channel, as leakyrelu is with
// one slope.
//
// Labels on a grid axis: n batch, c channels, S2, S3, ... space, B, R.

namespace {

class PRelu final : public OfChannels {
public:
  PRelu() : OfChannels("prelu") {}

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = channelTable(static_cast<int>(inputs.front().size()));
    for (SignatureRow& row : table)
      row.parameters.pop_back();
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    const Layout& use = form.uses.front();
    form.parameters.push_back(
        {.name = "weight",
         .use = makeLayout({shape[1]}, use.gridPtr(), form.signature.parameter(0), {{&use, 1}}),
         .initial = 0.25});
    return form;
  }

  MapList maps(const Form& form, const Layouts& storage) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front()), output = list.output("y", form.output);
    KernelEntry slope{.name = "slope", .keepsInputs = true, .gradients = Gradients::Apart};
    addParameterSources(list, form, storage, slope);
    const ValueId u = addUse(list, x, "u", use, false);
    const ValueId above = list.value("above", use), below = list.value("below", use),
                  scaled = list.value("scaled", use);
    list.run({.name = "above", .keepsOutput = true}, {u}, above);
    list.run({.name = "below", .keepsInputs = true}, {u}, below);
    list.run(std::move(slope), {below}, scaled);
    list.apply(OperatorKind::Conversion, above, output);
    list.apply(OperatorKind::Conversion, scaled, output);
    return list;
  }

  Work work(const Form& form, int position) const override {
    const double flops = 2.0 * double(elements(form.uses[0].box(position)));
    return {flops, flops, flops};
  }

private:
  bool isLinear() const override { return false; }
};

} // namespace

std::unique_ptr<Declaration> declarePRelu() {
  return std::make_unique<PRelu>();
}

// A parameter as a value: y = value, whatever the input holds, which says only where y lies. A table
// of positions, a mask of land, the state from which a recurrence begins; frozen, it is a constant.
//
// Labels on a grid axis: B, R, and S0, S1, ... for a dimension of y. Without a choice a dimension of y
// is split where the input's of the same number and extent is, and y is on all ranks else.

namespace {

constexpr OptionSpec kConstantSettings[] = {
    {"shape", OptionSpec::Ints, nullptr, "extents of the value", nullptr, atLeast(0)},
    {"value", OptionSpec::Real, "0", "what all of its elements begin with"}};

class Constant final : public Declaration {
public:
  Constant() : Declaration("constant", kConstantSettings) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }

  Shape outputShape(const std::vector<Shape>&) const override {
    return value<std::vector<Index>>("shape");
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Shape y = outputShape(inputs), &x = inputs.front();
    const Property B = Property::broadcast(), R = Property::root();
    SignatureTable table = {{"B", B, {B}, B}, {"R", R, {R}, R}};
    for (int d = 0; d < static_cast<int>(y.size()); ++d) {
      const Property S = Property::shard(d);
      const bool isLike = d < static_cast<int>(x.size()) && x[d] == y[d];
      table.push_back({fmt::format("S{}", d), isLike ? S : B, {S}, S});
    }
    return table;
  }

  // The input stays where it is.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout x = inputs.front().withoutHalos();
    const Shape shape = outputShape({x.shape()});
    const GridPtr grid = choice.grid ? choice.grid : x.gridPtr();
    const Signature chosen = Signature::choose(rows({x.shape()}), x, grid, choice.letters, title());
    std::vector<CutSource> same(shape.size());
    for (int d = 0; d < std::min(x.rank(), static_cast<int>(shape.size())); ++d)
      same[d] = {&x, d};
    const Layout output = makeLayout(shape, grid, chosen.output(), same);
    return {.signature = chosen,
            .inputs = inputs,
            .uses = inputs,
            .parameters = {{.name = "value", .use = output, .initial = real("value")}},
            .output = output};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .anyStrides = true, .isSource = true, .gradients = Gradients::Within};
  }
  std::string summary() const override {
    return fmt::format("[{}]", fmt::join(value<std::vector<Index>>("shape"), ","));
  }
  Example example(ExampleDraw& draw) const override {
    const Shape x = draw.shape(1, 3);
    Shape y = draw.chance(50) ? x : draw.shape(1, 3);
    return {{{"shape", y}, {"value", 0.5}}, {x}};
  }

private:
  void check() const override {
    if (!isSet("shape"))
      return;
    const Shape shape = value<std::vector<Index>>("shape");
    if (static_cast<int>(shape.size()) > kMaxRank)
      throw Error(TENON_ERR_ARG, fmt::format("the shape of {} is [{}]; pass at most {} extents",
                                             title(), fmt::join(shape, ","), kMaxRank));
  }
};

} // namespace

std::unique_ptr<Declaration> declareConstant() {
  return std::make_unique<Constant>();
}

} // namespace tenon
