// SPDX-License-Identifier: BSD-2-Clause
// Convolution in groups of channels, one by default:
//     y[n,o,s] = sum over i, t of x[n,i,S] W[o,i,t] + b[o],  S = s stride - pad + t dilation,
// where x beyond the domain is what the windows' boundary modes say, or zero.
//
// Labels on a mesh axis: n batch (data parallel), o output channels (model parallel), i input
// channels (y partial), g groups, d/h/w a spatial dimension (domain parallel, with halo), B all
// replicated, R all on the root, P a partial input. Any mix on several axes.
//
// Where the input lies as it is used but for a halo, the outputs that read no halo can be computed
// while it travels, and those that do in strips afterwards (window_pieces.hpp); likewise the input's
// cotangent. The price is a kernel call for each strip, the gain also a copy of the input.
#include "declaration/declaration_types.hpp"
#include "declaration/windowed.hpp"
#include "geometry/holding.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kSettings[] = {
    {"in_channels", OptionSpec::Int, nullptr, "number of input channels", nullptr, atLeast(1)},
    {"out_channels", OptionSpec::Int, nullptr, "number of output channels", nullptr, atLeast(1)},
    kKernelSetting,
    {"stride", OptionSpec::Ints, "1",
     "step of the window, one number for all spatial dimensions or one each", nullptr, atLeast(1)},
    kDilationSetting,
    kPaddingSetting,
    kPaddingHighSetting,
    kBoundarySetting,
    kBoundaryConstantSetting,
    {"groups", OptionSpec::Int, "1", "groups of channels, each convolved for itself", nullptr,
     atLeast(1)},
    {"bias", OptionSpec::Flag, "true", "whether a bias is added"},
    {"overlap", OptionSpec::Choice, "auto",
     "overlap of computation with the halo exchange; auto: where it is predicted to save time",
     "auto|on|off"},
};

class Convolution final : public Windowed {
public:
  Convolution() : Windowed("conv", kSettings) {}

  SignatureTable rows(const std::vector<Shape>&) const override {
    const auto S = [](int d) { return Property::shard(d); };
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    SignatureTable table = {{"n", S(0), {B, B}, S(0)}};
    if (groups() > 1) {
      table.push_back({"g", S(1), {S(0), S(0)}, S(1)});
    } else {
      table.push_back({"o", B, {S(0), S(0)}, S(1)});
      table.push_back({"i", S(1), {S(1), R}, P});
    }
    for (int s = 0; s < spatialRank(); ++s) {
      const Property space = S(s + kFirstSpatial);
      table.push_back({spatialLetter(s, spatialRank()), space, {B, B}, space});
    }
    table.push_back({"B", B, {B, B}, B});
    table.push_back({"R", R, {R, R}, R});
    table.push_back({"P", P, {B, R}, P});
    return table;
  }

  Work work(const Form& form, int position) const override {
    const Box in = form.uses[0].box(position), out = form.output.box(position);
    double taps = double(in[1].size()) / double(groupsOf(in));
    for (const Window& window : windows())
      taps *= double(window.kernel);
    const double flops = 2.0 * double(cells(out)) * taps;
    return {flops, flops, flops};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .keepsInputs = true, .gradients = Gradients::Apart};
  }

  std::string summary() const override {
    const std::string overlap = text("overlap");
    return fmt::format("{}-D, {} -> {} channels{}, {}{}{}", spatialRank(), integer("in_channels"),
                       integer("out_channels"),
                       groups() > 1 ? fmt::format(" in {} groups", groups()) : "", windowText(),
                       flag("bias") ? "" : ", no bias",
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
    return example;
  }

private:
  Index groups() const { return integer("groups"); }
  // Of which a part with these input channels has some.
  Index groupsOf(const Box& in) const {
    return std::max<Index>(1, in[1].size() / (integer("in_channels") / groups()));
  }
  Index outputChannels(const Shape&) const override { return integer("out_channels"); }

  void check() const override {
    Windowed::check();
    std::vector<std::string> channels;
    bool divides = true;
    for (const auto& [name, noun] : {std::pair("in_channels", "input"), {"out_channels", "output"}})
      if (settings().isSet(name)) {
        channels.push_back(fmt::format("{} {}", integer(name), noun));
        divides &= integer(name) % groups() == 0;
      }
    if (!divides)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the number of groups, {}, must divide the {} channels of {}",
                              groups(), joined(channels, " and "), title()));
  }

  void checkInput(const Layout& input, const std::string& letters) const override {
    const Index channels = integer("in_channels");
    if (input.shape()[1] != channels)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has {2} channels in dimension 1, but {0} needs {1}",
                              title(), channels, input.shape()[1]));
    if (groups() > 1 && letters.find_first_of("oi") != std::string::npos)
      throw Error(TENON_ERR_OPTION,
                  fmt::format("the signature \"{}\" of {} splits channels by o or i, but the "
                              "channels are in {} groups; split them by g",
                              letters, title(), groups()));
  }

  // With groups the channels are cut between groups, near the input's cuts.
  Layout plainLayout(const Layout& input, const MeshPtr& mesh,
                     const TensorSignature& asked) const override {
    Layout plain = Windowed::plainLayout(input, mesh, asked);
    LayoutSpec spec = plain.spec();
    spec.cuts[1] = plain.cuts(1);
    if (groups() == 1 || spec.cuts[1].size() <= 2)
      return plain;
    const Index channels = integer("in_channels") / groups();
    for (Index& cut : spec.cuts[1])
      cut = (cut + channels / 2) / channels * channels;
    return Layout(std::move(spec));
  }

  std::vector<Index> channelCuts(const Layout& plain) const override {
    std::vector<Index> cuts;
    if (groups() > 1)
      for (Index cut : plain.cuts(1))
        cuts.push_back(cut / (integer("in_channels") / groups()) *
                       (integer("out_channels") / groups()));
    return cuts;
  }

  void addParameters(const Layout& plain, Form& form) const override {
    const Index outputs = integer("out_channels");
    const Index inOfGroup = integer("in_channels") / groups(), outOfGroup = outputs / groups();
    Shape shape = {outputs, inOfGroup};
    std::vector<CutSource> cuts = {{&form.output, 1}, {&plain, 1}};
    Index taps = 1;
    for (const Window& window : windows()) {
      shape.push_back(window.kernel);
      cuts.push_back({});
      taps *= window.kernel;
    }
    const MeshPtr& mesh = plain.meshPtr();
    const Signature& chosen = form.signature;
    form.parameters.push_back({"weight", makeLayout(shape, mesh, chosen.parameter(0), cuts),
                               inOfGroup * taps, outOfGroup * taps});
    if (flag("bias"))
      form.parameters.push_back(
          {"bias", makeLayout({outputs}, mesh, chosen.parameter(1), {{&form.output, 1}})});
  }

  bool computesInPieces(const Layouts& inputs, const Layout& plain, const Choice&) const override {
    const char* obstacle =
        !sameHolding(inputs.front(), plain)
            ? "its input needs more than a halo exchange (choose a signature that uses the input "
              "layout, or add a repartition before it)"
        : callersValues() ? "sides with boundary mode \"values\" are filled after the halo exchange"
                          : nullptr;
    if (obstacle && text("overlap") == "on")
      throw Error(TENON_ERR_SUPPORT, fmt::format("{}: overlap \"on\" is not possible because {}; "
                                                 "set it to \"auto\" or \"off\"",
                                                 title(), obstacle));
    return !obstacle;
  }
};

} // namespace

std::unique_ptr<Declaration> declareConv() {
  return std::make_unique<Convolution>();
}

} // namespace tenon
