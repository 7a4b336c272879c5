// SPDX-License-Identifier: BSD-2-Clause
// Declares the convolution, in one or more groups of channels:
//     y[n,o,s] = sum over i, t of x[n,i,S] W[o,i,t] + b[o],  S = s stride - pad + t dilation,
// where x outside the domain is defined by the boundary modes of the windows, or zero.
//
// A declaration describes the layer without computing it; the kernel is in
// layer/windows/convolution.cpp. The base classes (core/windowed.hpp) derive from the settings of
// the windows which input elements each rank needs. This file adds the weights, the operation
// counts by which a plan predicts times, and overlap.
//
// Labels, which state what an axis of the process grid does: n splits the batch (data parallel), o
// the output channels (model parallel), i the input channels (y is then a partial sum), g the
// groups, d/h/w a spatial dimension (domain decomposition with a halo); B replicates all, R holds
// all on its root, P has a partial sum as input. Axes can have any mix of labels.
//
// Overlap: if the input only needs a halo exchange, the outputs that do not depend on the halo can
// be computed during the exchange, and the others in strips afterwards (core/window_layout.hpp);
// likewise the cotangent of the input. The cost is one kernel call per strip, and a saved copy of
// the input.
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kConvolutionSettings[] = {
    kInChannelsSetting,
    kOutChannelsSetting,
    kKernelSetting,
    kConvolutionStrideSetting,
    kDilationSetting,
    kPaddingSetting,
    kPaddingHighSetting,
    kBoundarySetting,
    kOutputCutsSetting,
    kBoundaryConstantSetting,
    kFilledSetting,
    kHaloSetting,
    kVectorsSetting,
    kGroupsSetting,
    kBiasSetting,
    {"weight_input", OptionSpec::Flag, "false",
     "the weight is the second input and no parameter, so that other layers may compute it; there "
     "is no bias then"},
    {"overlap", OptionSpec::Choice, "auto",
     "overlap of computation with the halo exchange; auto: where it is predicted to save time, and "
     "not on linked patches",
     "auto|on|off"},
};

class Convolution final : public GroupedWindowed {
public:
  Convolution() : GroupedWindowed("conv", kConvolutionSettings) {}

  int inputCount() const override { return isWeightInput() ? 2 : GroupedWindowed::inputCount(); }
  std::string inputAdvice() const override {
    return isWeightInput() ? "; the weight is its second input, for weight_input is set"
                           : GroupedWindowed::inputAdvice();
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = rowsOf({.output = 0, .input = 1});
    if (isWeightInput())
      for (SignatureRow& row : table)
        row = SignatureRow(row.label, Properties{row.inputs[0], row.parameters[0]}, {}, row.output);
    return table;
  }

  std::string computedHaloObstacle() const override {
    return isWeightInput() ? "its weight is an input" : computedHaloObstacleOfWindows();
  }

  Work work(const Form& form, int position) const override {
    const Box in = form.uses[0].box(position), out = form.output.box(position);
    const double flops = 2.0 * double(elements(out)) *
                         (double(in[1].size()) / double(groupsOf(in))) * double(taps());
    // The im2col matrix has one row per output position and a column per input channel and tap.
    const double pixels = double(elements(out)) / double(std::max<Index>(1, out[1].size()));
    return {.forward = flops,
            .adjoint = flops,
            .adjointParameters = flops,
            .columns = pixels * double(in[1].size() * taps())};
  }
  // Three kernels: strided windows are gathered, others are read in place, and windows of one
  // element are a matrix product.
  std::string kernelKind() const override {
    return windows().back().stride > 1 ? "strided conv" : taps() == 1 ? "single-tap conv" : type();
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .appliesFunction = true,
            .gradients = isWeightInput() ? Gradients::None : Gradients::Separate};
  }

  std::string summary() const override {
    const std::string overlap = text("overlap");
    return fmt::format("{}{}{}{}", channelText(), flag("bias") ? "" : ", no bias",
                       isWeightInput() ? ", its weight an input" : "",
                       overlap == "auto" ? "" : ", overlap " + overlap);
  }

  Example example(ExampleDraw& draw) const override {
    const Index groups = draw.of<Index>({1, 1, 1, 2, 3}), inputs = groups * draw.between(1, 2),
                outputs = groups * draw.between(1, 3);
    Example example = windowExample(draw, inputs, /*mostPadding=*/100);
    example.settings.insert(example.settings.end(), {{"in_channels", inputs},
                                                     {"out_channels", outputs},
                                                     {"groups", groups},
                                                     {"bias", draw.chance(70)}});
    // Examples with an input for boundary values cannot have the weight as a second input too.
    if (example.inputs.size() == 1 && draw.chance(15)) {
      for (auto& [name, value] : example.settings)
        if (std::string_view(name) == "bias")
          value = false;
      Shape weight = {outputs, inputs / groups};
      for (const auto& [name, value] : example.settings)
        if (std::string_view(name) == "kernel")
          for (const Index extent : std::get<std::vector<Index>>(value))
            weight.push_back(extent);
      example.settings.emplace_back("weight_input", true);
      example.inputs.push_back(weight);
    }
    return example;
  }

private:
  bool isWeightInput() const { return flag("weight_input"); }
  void check() const override {
    GroupedWindowed::check();
    if (!isWeightInput())
      return;
    if (flag("bias") && isSet("bias"))
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has both a bias and weight_input; set bias to false, and add a "
                              "bias by a layer behind it",
                              title()));
    if (settings().isSet(sizedBy()) && GroupedWindowed::inputCount() > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has both boundary mode \"values\" and weight_input, which are a "
                              "second input each; set boundary_constant, or another mode",
                              title()));
  }
  // The number of groups in a block with these input channels; 1 if it has no channels.
  Index groupsOf(const Box& in) const { return std::max<Index>(1, in[1].size() / inOfGroup()); }
  // Adds the layouts of weight and bias, or, with weight_input, that of the second input. Each
  // dimension of the weight is split as the channels of the output or input that belong to it.
  void addParameters(const Layout& plain, Form& form) const override {
    const Index outputs = integer("out_channels");
    Shape shape = {outputs, inOfGroup()};
    std::vector<CutSource> cuts = {{&form.output, 1}, {&plain, 1}};
    for (const Index extent : windowSizes()) {
      shape.push_back(extent);
      cuts.push_back({});
    }
    const GridPtr& grid = plain.gridPtr();
    const Signature& signature = form.signature;
    if (isWeightInput()) {
      if (form.inputs.size() != 2 || form.inputs[1].shape() != shape)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} needs a weight of shape [{}] as its second input, but has [{}]",
                                title(), fmt::join(shape, ","),
                                fmt::join(form.inputs.back().shape(), ",")));
      form.uses.push_back(makeLayout(shape, grid, signature.input(1), cuts));
      return;
    }
    form.parameters.push_back({.name = "weight",
                               .use = makeLayout(shape, grid, signature.parameter(0), cuts),
                               .fanIn = inOfGroup() * taps(),
                               .fanOut = outOfGroup() * taps()});
    if (flag("bias"))
      form.parameters.push_back(
          {.name = "bias",
           .use = makeLayout({outputs}, grid, signature.parameter(1), {{&form.output, 1}})});
  }

  bool computesInPieces(const Layouts& inputs, const Layout& plain,
                        const Choice& choice) const override {
    const char* obstacle =
        choice.arrives || !haveSameMemory(inputs.front(), plain)
            ? "its input needs more than a halo exchange (choose a signature that uses the input "
              "layout, or add a repartition before it)"
        : choice.computedHalo
            ? "it computes outputs beside its own part too, for layers that do not "
              "exchange their halos (set halo_depth of its container to 1)"
        : isWeightInput() ? "its weight is an input"
        : userValues()    ? "sides with boundary mode \"values\" are filled after the halo exchange"
                          : nullptr;
    if (obstacle && text("overlap") == "on")
      throw Error(TENON_ERR_SUPPORT, fmt::format("{}: overlap \"on\" is not possible because {}; "
                                                 "set it to \"auto\" or \"off\"",
                                                 title(), obstacle));
    // A rank has many small patches, and one exchange fills the halos of all: strips for each of
    // them would take longer than they save, unless patches are large.
    return !obstacle && (!lists().links() || text("overlap") == "on");
  }
};

} // namespace

std::unique_ptr<Declaration> declareConvolution() {
  return std::make_unique<Convolution>();
}

} // namespace tenon
