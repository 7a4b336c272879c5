// SPDX-License-Identifier: BSD-2-Clause
// Declares two elementwise types with parameters per channel; their kernels are in
// layer/types/channel_affine.cpp:
//
//   channelaffine   y[n,c,s] = scale[c] x[n,c,s] + shift[c]
//   prelu           y = x for x > 0, else weight[c] x
//
// A declaration describes a layer without computing it: rows() lists what an axis of the process
// grid can do to x, the parameters and y, form() makes their layouts on all ranks, and work()
// counts the operations of one rank, from which a plan predicts times.
//
// Labels of the rows: n (the axis splits the batch), c (channels, and with them the parameters),
// S2, S3, ... (space), B (replicates all), R (holds all on its root only). channelaffine also has
// P: x is a partial sum and its contributions are scaled, but only the root of the axis has the
// shift, which is added once.
#include "declaration/core/channel_table.hpp"
#include "declaration/core/elementwise.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
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
    table.push_back({"P", P, {B, R}, P}); // label, x, {scale, shift}, y
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
    return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
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

// PReLU, a rectifier with one slope per channel (He et al. 2015). It is computed as y = max(x, 0) +
// weight[c] min(x, 0), the sum of two values `above` and `scaled`. The type leakyrelu
// (pointwise.cpp) is the same with a single slope.

namespace {

class PRelu final : public OfChannels {
public:
  PRelu() : OfChannels("prelu") {}

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = channelTable(static_cast<int>(inputs.front().size()));
    for (SignatureRow& row : table)
      row.parameters.pop_back(); // the table is for two parameters per channel
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
    const ValueId u = addUse(list, x, "u", use, /*anyStrides=*/false);
    const ValueId above = list.value("above", use), below = list.value("below", use),
                  scaled = list.value("scaled", use);
    list.run({.name = "above", .savesOutput = true}, {u}, above);
    list.run({.name = "below", .savesInputs = true}, {u}, below);
    list.run(std::move(slope), {below}, scaled);
    // Two maps that write one value add up.
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
