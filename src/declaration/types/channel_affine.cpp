// SPDX-License-Identifier: BSD-2-Clause
// Channel affine: y[n,c,s] = scale[c] x[n,c,s] + shift[c].
//
// Labels per grid axis: n batch, c channels, S2, S3, ... space, B (replicated), R (on the root of
// the axis only), and P (partial sums), for which only the root adds the shift.
#include "declaration/core/channel_table.hpp"
#include "declaration/core/elementwise.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kChannelSettings[] = {
    {"channels", OptionSpec::Int, nullptr, "number of channels", nullptr, atLeast(1)}};

// Base of elementwise functions with parameters per channel.
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

  // One multiplication and one addition per element, in Apply and in both adjoints.
  Work work(const Form& form, int position) const override {
    const double flops = 2.0 * double(elements(form.uses[0].box(position)));
    return {flops, flops, flops};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .savesInputs = true, .gradients = Gradients::Separate};
  }

private:
  bool isLinear() const override { return true; }
};

} // namespace

std::unique_ptr<Declaration> declareChannelAffine() {
  return std::make_unique<ChannelAffine>();
}

// PReLU, a rectifier with one slope per channel (He et al. 2015): y = x for x > 0, else weight[c]
// x. It is the sum of the positive part and of the negative part scaled by channel; leakyrelu is
// the same with a single slope.
//
// Labels per grid axis: n batch, c channels, S2, S3, ... space, B, R.

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
    KernelEntry slope{.name = "slope", .savesInputs = true, .gradients = Gradients::Separate};
    addParameterSources(list, form, storage, slope);
    const ValueId u = addUse(list, x, "u", use, false);
    const ValueId above = list.value("above", use), below = list.value("below", use),
                  scaled = list.value("scaled", use);
    list.run({.name = "above", .savesOutput = true}, {u}, above);
    list.run({.name = "below", .savesInputs = true}, {u}, below);
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

} // namespace tenon
