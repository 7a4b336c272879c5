// SPDX-License-Identifier: BSD-2-Clause
// Convolution in groups of channels, one by default:
//     y[n,o,s] = sum over i, t of x[n,i,S] W[o,i,t] + b[o],  S = s stride - pad + t dilation,
// where x beyond the domain is what the windows' boundary modes say, or zero.
//
// Labels on a grid axis: n batch (data parallel), o output channels (model parallel), i input
// channels (y partial), g groups, d/h/w a spatial dimension (domain parallel, with halo), B all
// replicated, R all on the root, P a partial input. Any mix on several axes.
//
// Where the input lies as it is used but for a halo, the outputs that read no halo can be computed
// while it travels, and those that do in strips afterwards (core/window_layout.hpp); likewise the
// input's cotangent. The price is a kernel call for each strip, the gain also a copy of the input.
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

  int inputCount() const override { return isGiven() ? 2 : GroupedWindowed::inputCount(); }
  std::string inputAdvice() const override {
    return isGiven() ? "; the weight is its second input, for weight_input is set"
                     : GroupedWindowed::inputAdvice();
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = rowsOf({.output = 0, .input = 1});
    if (isGiven())
      for (SignatureRow& row : table)
        row = SignatureRow(row.label, Properties{row.inputs[0], row.parameters[0]}, {}, row.output);
    return table;
  }

  std::string whyNoComputedHalo() const override {
    return isGiven() ? "its weight is an input" : whyNoComputedHaloOfWindows();
  }

  Work work(const Form& form, int position) const override {
    const Box in = form.uses[0].box(position), out = form.output.box(position);
    const double flops = 2.0 * double(elements(out)) *
                         (double(in[1].size()) / double(groupsOf(in))) * double(taps());
    // The columns are those of im2col, one for each output position and input channel of the part.
    const double pixels = double(elements(out)) / double(std::max<Index>(1, out[1].size()));
    return {flops, flops, flops, pixels * double(in[1].size() * taps())};
  }
  // Strided windows are gathered where others are read in place, and a window of one element is a
  // matrix product.
  std::string kernelKind() const override {
    return windows().back().stride > 1 ? "strided conv" : taps() == 1 ? "single-tap conv" : type();
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .keepsInputs = true,
            .appliesFunction = true,
            .gradients = isGiven() ? Gradients::None : Gradients::Apart};
  }

  std::string summary() const override {
    const std::string overlap = text("overlap");
    return fmt::format("{}{}{}{}", channelText(), flag("bias") ? "" : ", no bias",
                       isGiven() ? ", its weight an input" : "",
                       overlap == "auto" ? "" : ", overlap " + overlap);
  }

  Example example(ExampleDraw& draw) const override {
    const Index groups = draw.of<Index>({1, 1, 1, 2, 3}), inputs = groups * draw.between(1, 2),
                outputs = groups * draw.between(1, 3);
    Example example = windowExample(draw, inputs, 100);
    example.settings.insert(example.settings.end(), {{"in_channels", inputs},
                                                     {"out_channels", outputs},
                                                     {"groups", groups},
                                                     {"bias", draw.chance(70)}});
    // One with an input for its boundary has no further one.
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
  bool isGiven() const { return flag("weight_input"); }
  void check() const override {
    GroupedWindowed::check();
    if (!isGiven())
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
  // The number of groups of a part with these input channels; one where it has no channels.
  Index groupsOf(const Box& in) const { return std::max<Index>(1, in[1].size() / inOfGroup()); }
  void addParameters(const Layout& plain, Form& form) const override {
    const Index outputs = integer("out_channels");
    Shape shape = {outputs, inOfGroup()};
    std::vector<CutSource> cuts = {{&form.output, 1}, {&plain, 1}};
    for (const Index extent : windowSizes()) {
      shape.push_back(extent);
      cuts.push_back({});
    }
    const GridPtr& grid = plain.gridPtr();
    const Signature& chosen = form.signature;
    if (isGiven()) {
      if (form.inputs.size() != 2 || form.inputs[1].shape() != shape)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} needs a weight of shape [{}] as its second input, but has [{}]",
                                title(), fmt::join(shape, ","),
                                fmt::join(form.inputs.back().shape(), ",")));
      form.uses.push_back(makeLayout(shape, grid, chosen.input(1), cuts));
      return;
    }
    form.parameters.push_back({"weight", makeLayout(shape, grid, chosen.parameter(0), cuts),
                               inOfGroup() * taps(), outOfGroup() * taps()});
    if (flag("bias"))
      form.parameters.push_back(
          {"bias", makeLayout({outputs}, grid, chosen.parameter(1), {{&form.output, 1}})});
  }

  bool computesInPieces(const Layouts& inputs, const Layout& plain,
                        const Choice& choice) const override {
    const char* obstacle =
        choice.arrives || !sameHolding(inputs.front(), plain)
            ? "its input needs more than a halo exchange (choose a signature that uses the input "
              "layout, or add a repartition before it)"
        : choice.computedHalo
            ? "it computes outputs beside its own part too, for layers that do not "
              "exchange their halos (set halo_depth of its container to 1)"
        : isGiven()    ? "its weight is an input"
        : userValues() ? "sides with boundary mode \"values\" are filled after the halo exchange"
                       : nullptr;
    if (obstacle && text("overlap") == "on")
      throw Error(TENON_ERR_SUPPORT, fmt::format("{}: overlap \"on\" is not possible because {}; "
                                                 "set it to \"auto\" or \"off\"",
                                                 title(), obstacle));
    // Linked patches are many small ones on a rank, and one exchange fills all their sides: strips
    // of each take longer, unless patches are large.
    return !obstacle && (!lists().links() || text("overlap") == "on");
  }
};

} // namespace

std::unique_ptr<Declaration> declareConvolution() {
  return std::make_unique<Convolution>();
}

} // namespace tenon
