// SPDX-License-Identifier: BSD-2-Clause
// Declares the transposed convolution: the shape of its output, the cuts, and the halos of partial
// sums. The kernel writes what its inputs reach, also in parts of neighbours, into a tensor whose
// halo holds contributions; so the exchange that a split of space needs comes after the kernel and
// not before it.
#include "declaration/windows/transposed_convolution.hpp"

#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kTransposedConvolutionSettings[] = {
    kInChannelsSetting,
    kOutChannelsSetting,
    kKernelSetting,
    kConvolutionStrideSetting,
    kDilationSetting,
    {"padding", OptionSpec::Ints, "0",
     "elements that the output loses before and after it, one number for all spatial dimensions or "
     "one each; negative: elements that are added"},
    kPaddingHighSetting,
    {"output_padding", OptionSpec::Ints, "0",
     "elements added to the end of the output, one number for all spatial dimensions or one each; "
     "below the stride or the dilation",
     nullptr, atLeast(0)},
    kBoundarySetting,
    kOutputCutsSetting,
    kVectorsSetting,
    kGroupsSetting,
    kBiasSetting,
};

// The output's cut for a cut of the input: the middle of an input's window belongs to the input's
// part, so that as few contributions as possible leave it.
Index cutOfOutput(const Window& window, Index inputCut, Index outputs) {
  const Index centre = (window.reach() - 1) / 2 - window.padLow;
  const Index middle = checkedSum(checkedProduct(inputCut, window.stride, "the middle of a window"),
                                  centre, "the middle of a window");
  return std::clamp<Index>(
      checkedDifference(middle, (window.stride - 1) / 2, "the middle of a window"), 0, outputs);
}

} // namespace

TransposedConvolution::TransposedConvolution()
    : GroupedWindowed("transposedconv", kTransposedConvolutionSettings) {}

void TransposedConvolution::check() const {
  GroupedWindowed::check();
  if (!isSet(sizedBy()))
    return;
  const std::vector<Index> more = perDimension("output_padding", 0);
  const std::vector<Window> all = windows();
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (more[s] >= std::max(all[s].stride, all[s].dilation))
      throw Error(TENON_ERR_ARG,
                  fmt::format("the output padding of {} in spatial dimension {} is {}; it must be "
                              "below the stride, {}, or the dilation, {}",
                              title(), s, more[s], all[s].stride, all[s].dilation));
    // What a kernel computes beyond the domain is folded back by the adjoint of the boundary mode,
    // and values of a caller have no place to fold to.
    if (hasUserMode(all[s]))
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has boundary mode \"values\", but nothing is read beyond the "
                              "output of a transposed convolution; use none, zero, periodic, "
                              "reflect, replicate, symmetric, odd, odd_point or linked",
                              title()));
  }
}

Shape TransposedConvolution::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  const std::vector<Window> all = windows();
  const int spatial = spatialRankOf(x, title());
  if (spatial != spatialRank())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has shape [{}], but {} needs {} dimensions (batch, channel "
                            "and {} spatial)",
                            fmt::join(x, ","), title(), spatialRank() + kFirstSpatial,
                            spatialRank()));
  const std::vector<Index> more = perDimension("output_padding", 0);
  Shape shape = {x[0], integer("out_channels")};
  for (int s = 0; s < spatial; ++s) {
    const Index in = x[s + kFirstSpatial];
    const Window& window = all[s];
    constexpr const char* kWhat = "the extent of the output of a transposed convolution";
    const Index span =
        checkedSum(checkedProduct(in - 1, window.stride, kWhat), window.reach(), kWhat);
    const Index out = checkedSum(
        checkedDifference(checkedDifference(span, window.padLow, kWhat), window.padHigh, kWhat),
        more[s], kWhat);
    if (in < 1 || out < 1)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the input of {} has extent {} in spatial dimension {}, which gives an "
                      "output of {} with padding {} + {}; use a larger input or less padding",
                      title(), in, s, out, window.padLow, window.padHigh));
    shape.push_back(out);
  }
  checkBoundaryChannels(shape[kChannelDim]);
  return shape;
}

SignatureTable TransposedConvolution::rows(const std::vector<Shape>&) const {
  return rowsOf({.output = 1, .input = 0});
}

Form TransposedConvolution::form(const Layouts& inputs, const Choice& choice) const {
  const Layout& input = inputs.front();
  const Shape shape = outputShape({input.shape()});
  checkInput(input, choice.labels);
  const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
  const Signature chosen =
      Signature::choose(rows({input.shape()}), input, grid, choice.labels, title());
  const Layout plain = plainLayout(input, grid, chosen.input());
  LayoutSpec spec{.shape = shape, .grid = grid, .properties = chosen.output().properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  const auto follow = [&](int d, std::vector<Index> cuts) {
    spec.splitAxes[d] = plain.splitAxes(d);
    spec.cuts[d] = std::move(cuts);
  };
  follow(0, plain.cuts(0));
  if (groups() > 1)
    follow(1, channelCuts(plain));
  const std::vector<Window> all = windows();
  for (int d = kFirstSpatial; d < plain.rank(); ++d) {
    std::vector<Index> cuts;
    for (Index cut : plain.cuts(d))
      cuts.push_back(cutOfOutput(all[d - kFirstSpatial], cut, shape[d]));
    // The first and the last part take what no window's middle covers, such as output padding.
    cuts.front() = 0;
    cuts.back() = shape[d];
    // Without cuts of its own a dimension is cut in balance.
    follow(d, outputCuts(choice) == OutputCuts::Balanced ? std::vector<Index>() : std::move(cuts));
  }
  Form form{
      .signature = chosen, .inputs = inputs, .uses = {plain}, .output = Layout(std::move(spec))};
  if (auto links = linksOf(shape, input.shape()); links && contributions(form).hasLinkedHalos())
    form.links = std::move(links);
  addParameters(plain, form);
  return form;
}

// A part has all elements that it owns, even those that its inputs do not reach, because the kernel
// adds the bias to them, and beyond them what its inputs reach.
Layout TransposedConvolution::contributions(const Form& form) const {
  const Layout &plain = form.uses.front(), &output = form.output;
  LayoutSpec spec = output.spec();
  const std::vector<Window> all = windows();
  for (int d = kFirstSpatial; d < output.rank(); ++d) {
    const Window& window = all[d - kFirstSpatial];
    Halo halo = haloOf(window, output.shape()[kChannelDim]);
    halo.isPartial = true;
    bool needed = false;
    for (int part = 0; part < output.parts(d); ++part) {
      const Interval owned = output.owned(d, part);
      Interval box = windowBox(window, output.shape()[d], plain.owned(d, part));
      if (box.empty())
        box = owned;
      else if (!owned.empty())
        box = {std::min(box.begin, owned.begin), std::max(box.end, owned.end)};
      needed |= !(box == owned);
      halo.boxes.push_back(box);
    }
    if (needed)
      spec.halos[d] = std::move(halo);
  }
  return Layout(std::move(spec));
}

MapList TransposedConvolution::maps(const Form& form, const Layouts& storage) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  const ValueId output = list.output("y", form.output);
  KernelEntry entry = kernel(form);
  addParameterSources(list, form, storage, entry);
  const ValueId use = addUse(list, x, "u", form.uses.front(), false);
  const Layout sums = contributions(form);
  // Without a halo nothing is to be added elsewhere, and the kernel writes the output itself.
  if (sums == form.output) {
    const ValueId y = list.stagedOutput();
    list.run(std::move(entry), {use}, y);
    list.unstage(y);
    return list;
  }
  const ValueId a = list.value("a", sums);
  list.run(std::move(entry), {use}, a);
  if (form.links)
    list.applyLinks(*form.links, true, a, output);
  else
    list.apply(OperatorKind::Conversion, a, output);
  return list;
}

void TransposedConvolution::addParameters(const Layout& plain, Form& form) const {
  Shape shape = {integer("in_channels"), outOfGroup()};
  std::vector<CutSource> cuts = {{&plain, 1}, {&form.output, 1}};
  for (const Window& window : windows()) {
    shape.push_back(window.kernel);
    cuts.push_back({});
  }
  const GridPtr& grid = plain.gridPtr();
  const Signature& chosen = form.signature;
  form.parameters.push_back({"weight", makeLayout(shape, grid, chosen.parameter(0), cuts),
                             inOfGroup() * taps(), outOfGroup() * taps()});
  if (flag("bias"))
    form.parameters.push_back({"bias", makeLayout({integer("out_channels")}, grid,
                                                  chosen.parameter(1), {{&form.output, 1}})});
}

Work TransposedConvolution::work(const Form& form, int position) const {
  const Box in = form.uses[0].box(position), out = form.output.box(position);
  // In a group each input meets the outputs of its group alone.
  const Index channels = groups() > 1 ? outOfGroup() : out[1].size();
  const double flops = 2.0 * double(elements(in)) * double(channels) * double(taps());
  return {flops, flops, flops};
}

std::string TransposedConvolution::summary() const {
  const std::vector<Index> more = perDimension("output_padding", 0);
  const bool adds = std::ranges::any_of(more, [](Index m) { return m > 0; });
  return fmt::format("{}{}{}", channelText(),
                     adds ? fmt::format(", output padding {}", fmt::join(more, "x")) : "",
                     flag("bias") ? "" : ", no bias");
}

Example TransposedConvolution::example(ExampleDraw& draw) const {
  const int dims = draw.of({1, 1, 2, 2, 3});
  const Index groups = draw.of<Index>({1, 1, 2}), inputs = groups * draw.between(1, 2),
              outputs = groups * draw.between(1, 2);
  std::vector<Index> kernel, stride, dilation, low, high, more;
  std::vector<std::string> boundary;
  Shape input = {draw.between(1, 3), inputs};
  for (int d = 0; d < dims; ++d) {
    kernel.push_back(draw.between(1, dims == 3 ? 3 : 4));
    stride.push_back(draw.of<Index>({1, 2, 2, 3}));
    dilation.push_back(draw.of<Index>({1, 1, 2}));
    const Index reach = (kernel[d] - 1) * dilation[d];
    low.push_back(draw.between(0, reach));
    high.push_back(draw.between(0, reach));
    more.push_back(draw.between(0, std::max(stride[d], dilation[d]) - 1));
    boundary.push_back(draw.of({"none", "none", "zero", "periodic", "reflect/replicate",
                                "replicate/reflect", "odd", "symmetric/odd_point"}));
    // The smallest extent whose output is not empty.
    const Index least =
        1 + std::max<Index>(0, low[d] + high[d] - reach + stride[d] - 1) / stride[d];
    input.push_back(draw.between(least, least + (dims == 1 ? 6 : 3)));
  }
  return {{{"kernel", kernel},
           {"stride", stride},
           {"dilation", dilation},
           {"padding", low},
           {"padding_high", high},
           {"output_padding", more},
           {"boundary", joined(boundary, ",") + (draw.chance(25) ? ";0=odd" : "")},
           {"output_cuts", draw.of({"follow", "follow", "balanced"})},
           {"in_channels", inputs},
           {"out_channels", outputs},
           {"groups", groups},
           {"bias", draw.chance(70)}},
          {input}};
}

std::unique_ptr<Declaration> declareTransposedConvolution() {
  return std::make_unique<TransposedConvolution>();
}

} // namespace tenon
