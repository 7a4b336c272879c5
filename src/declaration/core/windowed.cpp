// SPDX-License-Identifier: BSD-2-Clause
// The base of layer types with sliding windows over space: reads the settings of the windows
// (kernel, stride, padding, ...) and derives the form, that is, the layouts of input and output on
// all ranks with the halos that windows read (windowed.hpp, window_layout.hpp). The boundary modes
// are parsed in window_boundary.cpp, and windows on linked patches are checked in
// linked_windows.cpp.
//
// Settings are made one by one and checked as soon as the number of spatial dimensions is known,
// because all lists must have that length.
//
// GroupedWindowed, at the beginning, is the base of the two convolutions: their signature table,
// which lists what a grid axis can do to x, {weight, bias} and y, and the groups of channels, which
// are split between groups only. With 6 channels in 3 groups, a split at 3 moves to 4.
#include "declaration/core/windowed.hpp"

#include "declaration/core/window_layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

SignatureTable GroupedWindowed::rowsOf(const WeightDims& weight) const {
  const auto S = [](int d) { return Property::shard(d); };
  const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
  // The columns are the label and the properties of x, of {weight, bias} and of y. In rows i and P
  // the output is a partial sum, so the bias is stored on the root alone to be added only once.
  // With groups, channels are split between groups, and the labels o and i, which would split a
  // group, do not exist.
  SignatureTable table = {{"n", S(0), {B, B}, S(0)}};
  if (groups() > 1) {
    table.push_back({"g", S(1), {S(0), S(0)}, S(1)});
  } else {
    table.push_back({"o", B, {S(weight.output), S(0)}, S(1)});
    table.push_back({"i", S(1), {S(weight.input), R}, P});
  }
  for (int s = 0; s < spatialRank(); ++s) {
    const Property space = S(s + kFirstSpatial);
    table.push_back({spatialLabel(s, spatialRank()), space, {B, B}, space});
  }
  table.push_back({"B", B, {B, B}, B});
  table.push_back({"R", R, {R, R}, R});
  table.push_back({"P", P, {B, R}, P});
  return table;
}

void GroupedWindowed::check() const {
  Windowed::check();
  std::vector<std::string> channels;
  // The numbers can be set in any order: those not set yet cannot contradict the groups.
  bool divides = true;
  for (const auto& [name, noun] : {std::pair("in_channels", "input"), {"out_channels", "output"}})
    if (settings().isSet(name)) {
      channels.push_back(fmt::format("{} {}", integer(name), noun));
      divides &= integer(name) % groups() == 0;
    }
  if (!divides)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of groups, {}, must divide the {} channels of {}", groups(),
                            joined(channels, " and "), title()));
}

void GroupedWindowed::checkInput(const Layout& input, const std::string& labels) const {
  const Index channels = integer("in_channels");
  if (input.shape()[1] != channels)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has {2} channels in dimension 1, but {0} needs {1}", title(),
                            channels, input.shape()[1]));
  // With groups the table has no rows o and i. Report the reason here, since the message about an
  // unknown label would hide it.
  if (groups() > 1 && labels.find_first_of("oi") != std::string::npos)
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} splits channels by o or i, but the "
                            "channels are in {} groups; split them by g",
                            labels, title(), groups()));
}

Layout GroupedWindowed::plainLayout(const Layout& input, const GridPtr& grid,
                                    const TensorSignature& requested) const {
  const Layout plain = Windowed::plainLayout(input, grid, requested);
  return groups() == 1 ? plain : cutAtMultiples(plain, kChannelDim, inOfGroup());
}

std::vector<Index> GroupedWindowed::channelCuts(const Layout& plain) const {
  std::vector<Index> cuts;
  if (groups() > 1)
    for (Index cut : plain.cuts(1))
      // plainLayout() has moved the input's split points to group boundaries: the division is
      // exact.
      cuts.push_back(cut / inOfGroup() * outOfGroup());
  return cuts;
}

Index GroupedWindowed::taps() const {
  Index taps = 1;
  for (const Index extent : windowSizes())
    taps *= extent;
  return taps;
}

std::string GroupedWindowed::channelText() const {
  return fmt::format("{}-D, {} -> {} channels{}, {}", spatialRank(), integer("in_channels"),
                     integer("out_channels"),
                     groups() > 1 ? fmt::format(" in {} groups", groups()) : "", windowText());
}

std::vector<Index> Windowed::perDimension(std::string_view name, Index unset) const {
  const auto setting = settings().find(name);
  const auto dims = static_cast<std::size_t>(spatialRank());
  if (!setting)
    return std::vector<Index>(dims, unset);
  auto numbers = std::get<std::vector<Index>>(*setting);
  if (numbers.size() == 1)
    numbers.resize(dims, numbers.front());
  if (numbers.size() != dims)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} of {} has {}, but {} has {}; give one for all spatial dimensions "
                            "or one each",
                            name, title(), counted(static_cast<Index>(numbers.size()), "number"),
                            sizedBy(), dims));
  return numbers;
}

std::vector<Window> Windowed::windows() const {
  const std::vector<Index> kernel = windowSizes();
  std::vector<Window> windows;
  for (Index k : kernel)
    windows.push_back({.kernel = k});
  checkWindows(windows, title());
  const bool hasStride = settings().find("stride").has_value();
  const auto stride = perDimension("stride", 0), dilation = perDimension("dilation", 1);
  const bool ceil = settings().has("ceil") && flag("ceil");
  for (std::size_t d = 0; d < windows.size(); ++d) {
    windows[d].stride = hasStride ? stride[d] : defaultStride(kernel[d]);
    windows[d].dilation = dilation[d];
    windows[d].ceil = ceil;
  }
  padWindows(windows);
  readBoundary(windows);
  readPoles(windows);
  return windows;
}

void Windowed::padWindows(std::vector<Window>& windows) const {
  const auto low = perDimension("padding", 0);
  // Padding is the same on both sides unless padding_high was set.
  const auto high = settings().isSet("padding_high") ? perDimension("padding_high", 0) : low;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    windows[d].padLow = low[d];
    windows[d].padHigh = high[d];
  }
}

void Windowed::check() const {
  // windows() throws if settings do not fit.
  if (settings().isSet(sizedBy()))
    windows();
  else if (settings().has("boundary") && isSet("boundary"))
    checkBoundaryText();
}

std::optional<UserValues> Windowed::userValues() const {
  if (isFilled() || std::ranges::none_of(windows(), hasUserMode))
    return std::nullopt;
  const auto constant = settings().find("boundary_constant");
  return UserValues{constant ? std::optional(std::get<double>(*constant)) : std::nullopt};
}

int Windowed::inputCount() const {
  const auto values = userValues();
  return values && !values->constant ? 2 : 1;
}

std::string Windowed::inputAdvice() const {
  const auto values = userValues();
  if (!values)
    return {};
  return values->constant
             ? "; it has sides with boundary mode \"values\" and a boundary constant"
             : "; it has sides with boundary mode \"values\" and no boundary constant, so that it "
               "needs a second input: pass the layout of TenonLayerGetBoundaryLayout() or one of "
               "shape [1] to TenonLayerSetUpMany(), or set boundary_constant";
}

Shape Windowed::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  const Shape shape = windowOutputShape(windows(), x, outputChannels(x), title());
  checkBoundaryShape(x);
  return shape;
}

std::vector<Window> Windowed::filledWindows(const Layout& input) const {
  std::vector<Window> windows = this->windows();
  for (std::size_t s = 0; s < windows.size(); ++s) {
    const int d = static_cast<int>(s) + kFirstSpatial;
    Window& window = windows[s];
    const Halo inputHalo = input.halo(d).value_or(Halo{});
    // Without a mode in both layer and input, the kernel pads the side.
    const auto lacks = [](Boundary layerMode, Boundary inputMode, Index padding) {
      return padding > 0 && layerMode != Boundary::None && inputMode == Boundary::None;
    };
    const bool low = lacks(window.lowMode, inputHalo.low, window.padLow);
    if (low || lacks(window.highMode, inputHalo.high, window.padHigh))
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the windows of {} read ghost cells {} dimension {} and take them as "
                              "filled, but the input has none there: its layout is {}; give its "
                              "halo a boundary mode on that side (values, for one)",
                              title(), low ? "before" : "after", d, input.describe()));
    window.lowMode = inputHalo.low;
    window.highMode = inputHalo.high;
    window.bands = inputHalo.bands;
    window.longitudes = inputHalo.longitudes < 0 ? -1 : inputHalo.longitudes - kFirstSpatial;
  }
  return windows;
}

void Windowed::checkHalo(const Layout& input, const Layout& use) const {
  if (isFilled() && use.hasHalos() && !input.hasHalos())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} takes the halos of its input as filled, but the input has none "
                            "({}); pass it in layout {}, or set filled to false",
                            title(), input.describe(), use.describe()));
  if (input.hasHalos() && userValues())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the input of {} has halos ({}), but a side of the window has boundary "
                            "mode \"values\"; pass the input without halos, or set filled if "
                            "they hold these values",
                            title(), input.describe()));
  checkFilledHalo(input, use, title());
}

void Windowed::checkReadsGhosts(const std::vector<Window>& windows, const Layout& input) const {
  // Types without the setting "padding" pad by themselves, and windows that do not overlap need no
  // ghost cells.
  if (!isFilled() || !settings().has("padding"))
    return;
  int missedDim = 0;
  for (std::size_t s = 0; s < windows.size(); ++s) {
    const Window& window = windows[s];
    const auto halo = input.halo(static_cast<int>(s) + kFirstSpatial);
    if (window.padLow > 0 || window.padHigh > 0)
      return;
    if (missedDim == 0 && halo && (halo->low != Boundary::None || halo->high != Boundary::None) &&
        window.reach() > window.stride)
      missedDim = static_cast<int>(s) + kFirstSpatial;
  }
  if (missedDim > 0)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("the filled halo of the input of {} is read by no window: nothing is padded, "
                    "and the ghost cells beyond dimension {} are left out; set the padding "
                    "(TenonLayerSetPadding()) so that windows reach them, or leave `filled`",
                    title(), missedDim));
}

void Windowed::checkBoundaryValues(const Layout& values, const Layout& use) const {
  if (!isNumber(values) && !(values == use))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the boundary values of {} have layout {}; pass them in the layout of "
                            "TenonLayerGetBoundaryLayout(), {}, or as one number of shape [1]",
                            title(), values.describe(), use.describe()));
}

Layout Windowed::plainLayout(const Layout& input, const GridPtr& grid,
                             const TensorSignature& requested) const {
  return makeLayoutLike(input, grid, requested);
}

std::vector<Index> Windowed::channelCuts(const Layout& plain) const {
  return plain.cuts(1);
}

OutputCuts Windowed::outputCuts(const Choice& choice) const {
  const bool balances = settings().has("output_cuts") && text("output_cuts") == "balanced";
  return choice.cuts.value_or(balances ? OutputCuts::Balanced : OutputCuts::Follow);
}

Layout Windowed::layoutOfOutputs(const std::vector<Window>& windows, const Layout& plain,
                                 const Shape& shape, const TensorSignature& requested,
                                 const Choice& choice) const {
  return windowOutputLayout(windows, plain, shape, requested, channelCuts(plain),
                            outputCuts(choice));
}

std::string Windowed::computedHaloObstacleOfWindows() const {
  if (isFilled())
    return "it takes its halo as the caller has filled it";
  if (userValues())
    return "a side has boundary mode \"values\"";
  if (std::ranges::any_of(windows(), [](const Window& window) { return window.longitudes >= 0; }))
    return "a side is a pole";
  return lists().links() ? "links join its patches" : "";
}

namespace {

// Whether a window reads exactly the point of its output.
bool isOnePoint(const Window& window) {
  return window.reach() == 1 && window.stride == 1 && window.padLow == 0 && window.padHigh == 0;
}

} // namespace

// The last condition is that the windows follow on from one period of the input to the next.
bool Windowed::keepsPeriod(int dim, const Shape& input) const {
  const Window window = windows()[dim - kFirstSpatial];
  return isOnePoint(window) || (window.bands.empty() && window.lowMode == Boundary::Periodic &&
                                window.highMode == Boundary::Periodic &&
                                outputShape({input})[dim] * window.stride == input[dim]);
}

// `plain` is the input's layout without halos on the requested grid. From its split points follow
// those of the output, and from these the halo that the windows of each block read, in uses[0].
Form Windowed::form(const Layouts& inputs, const Choice& choice) const {
  const Layout& input = inputs.front();
  const Shape shape = outputShape({input.shape()});
  std::vector<Window> windows = isFilled() ? filledWindows(input) : this->windows();
  // Checked before the labels are looked up, to report an impossible label with its reason.
  checkInput(input, choice.labels);
  const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
  const Signature signature =
      Signature::choose(rows({input.shape()}), input, grid, choice.labels, title());
  const Layout plain = plainLayout(input, grid, signature.input());
  Layout output = layoutOfOutputs(windows, plain, shape, signature.output(), choice);
  if (choice.computedHalo) {
    output = withHalosOf(*choice.computedHalo, output);
    // Outside the domain such a window reads at the points of the outputs that are requested there.
    for (int d = kFirstSpatial; d < output.ndim(); ++d)
      if (Window& window = windows[d - kFirstSpatial]; isOnePoint(window) && output.halo(d))
        window.lowMode = window.highMode = output.halo(d)->low;
  }
  Form form{.signature = signature,
            .inputs = inputs,
            .uses = {windowUseLayout(windows, plain, output)},
            .output = output,
            .userValues = userValues()};
  if (auto links = linksOf(input.shape(), shape, isFilled() || input.hasHalos());
      links && form.uses.front().hasLinkedHalos())
    form.links = std::move(links);
  checkHalo(input, form.uses.front());
  checkReadsGhosts(windows, input);
  if (inputs.size() > 1 && form.userValues)
    checkBoundaryValues(inputs[1], form.uses.front());
  addParameters(plain, form);
  // With halos that the caller has filled there is no exchange to overlap.
  if (choice.overlap && !input.hasHalos() && computesInPieces(inputs, plain, choice))
    addPieces(windows, plain, form);
  return form;
}

void Windowed::addPieces(const std::vector<Window>& windows, const Layout& plain,
                         Form& form) const {
  std::vector<FormPiece> pieces = windowPieces(windows, plain, form.output);
  // Without strips no block reads elements of other ranks, so no exchange is needed.
  if (pieces.size() < 2)
    return;
  form.uses.front() = plain;
  form.pieces = std::move(pieces);
}

namespace {

// Other modes on the sides that have one, for one of several channels. Longitudes are periodic for
// all of them.
std::string drawOtherModes(ExampleDraw& draw, const std::vector<std::string>& boundary,
                           std::optional<int> longitudes) {
  std::vector<std::string> modes;
  for (int d = 0; d < static_cast<int>(boundary.size()); ++d)
    modes.push_back(boundary[d] == "none" || boundary[d] == "values/none" || d == longitudes
                        ? boundary[d]
                        : draw.of({"odd", "zero"}));
  return joined(modes, ",");
}

} // namespace

Example Windowed::windowExample(ExampleDraw& draw, Index channels, int mostPadding) {
  const int dims = draw.of({1, 1, 2, 2, 2, 3}); // what is listed twice is drawn twice as often
  std::vector<Index> kernel, stride, dilation, low, high;
  std::vector<std::string> boundary;
  Shape input = {draw.between(1, 3), channels};
  for (int d = 0; d < dims; ++d) {
    kernel.push_back(draw.between(1, dims == 3 ? 3 : 4));
    stride.push_back(draw.of<Index>({1, 1, 2, 3}));
    dilation.push_back(draw.of<Index>({1, 1, 2}));
    const Index reach = (kernel[d] - 1) * dilation[d], maxPadding = reach * mostPadding / 100;
    low.push_back(draw.between(0, maxPadding));
    high.push_back(draw.between(0, maxPadding));
    // Windows without a boundary mode are the common case and are drawn most often.
    boundary.push_back(
        draw.of({"none", "none", "none", "zero", "periodic", "reflect/replicate",
                 "replicate/reflect", "values", "values/none", "odd", "symmetric/odd_point"}));
    // The smallest extent with at least one output.
    const Index minExtent = std::max<Index>(1, reach + 1 - low[d] - high[d]);
    input.push_back(draw.between(minExtent, minExtent + (dims == 1 ? 8 : 4)));
  }
  const std::optional<int> longitudes = drawPoles(draw, boundary, input);
  std::string modes = joined(boundary, ",");
  if (channels > 1 && draw.chance(25))
    modes += fmt::format(";{}={}", channels - 1, drawOtherModes(draw, boundary, longitudes));
  Example example{{{"kernel", kernel},
                   {"stride", stride},
                   {"dilation", dilation},
                   {"padding", low},
                   {"padding_high", high},
                   {"boundary", modes},
                   {"output_cuts", draw.of({"follow", "follow", "balanced"})}},
                  {input}};
  if (longitudes && channels >= dims) {
    std::vector<Index> vectors;
    for (int d = 0; d < dims; ++d)
      vectors.push_back(channels - 1 - d);
    example.settings.emplace_back("vectors", vectors);
  }
  if (std::ranges::none_of(boundary, [](const auto& mode) { return mode.starts_with("values"); }))
    return example;
  if (draw.chance(50))
    example.settings.emplace_back("boundary_constant", 0.5);
  else
    example.inputs.push_back({1});
  return example;
}

std::optional<int> Windowed::drawPoles(ExampleDraw& draw, std::vector<std::string>& boundary,
                                       Shape& field) {
  const int dims = static_cast<int>(boundary.size());
  if (dims < 2 || !draw.chance(30))
    return std::nullopt;
  const int y = static_cast<int>(draw.between(0, dims - 1)),
            x = (y + static_cast<int>(draw.between(1, dims - 1))) % dims;
  std::ranges::replace(boundary, std::string("periodic"), std::string("replicate"));
  boundary[y] = draw.of({"pole", "pole_point", "pole/zero", "symmetric/pole", "pole_point/pole"});
  boundary[x] = "periodic";
  field[x + kFirstSpatial] += field[x + kFirstSpatial] % 2;
  field[y + kFirstSpatial] = std::max<Index>(2, field[y + kFirstSpatial]);
  return x;
}

std::string Windowed::windowText() const {
  const auto constant = settings().find("boundary_constant");
  const std::vector<Window> windowList = windows();
  const bool hasPoles =
      std::ranges::any_of(windowList, [](const Window& window) { return window.longitudes >= 0; });
  return describe(windowList) +
         (haveModesByChannel(windowList) ? fmt::format(", boundary {}", text("boundary")) : "") +
         (hasPoles && settings().has("vectors") && isSet("vectors")
              ? fmt::format(", vectors {}", fmt::join(value<std::vector<Index>>("vectors"), ","))
              : "") +
         (isFilled() ? ", halos as filled" : "") +
         (constant ? fmt::format(", boundary constant {}", std::get<double>(*constant)) : "");
}

} // namespace tenon
