// SPDX-License-Identifier: BSD-2-Clause
// Declares poolings over windows of an input [batch, channel, spatial...], and means between cells
// and faces:
//
//   maxpooling, averagepooling   the maximum, or the mean with or without the padding
//   stagger                      the mean of the two cells beside each face of a staggered grid
//   collocate                    the mean of the two faces beside each cell
//
// The base class (core/windowed.hpp) derives the layouts on all ranks and the halos from the
// windows. A maximum stores the position of the largest element of each window in the workspace,
// which derivatives read instead of x.
//
// In poolings padding is ignored rather than zero, unless a boundary mode fills it. If several
// elements are the maximum, derivatives use the first in global row-major order.
//
// stagger and collocate are poolings with windows of 2, whose padding follows from the faces that
// the grid has. Each face is on the rank of its cell, so all fields of a grid have the same
// decomposition:
//
//   cells     | 0 | 1 | 2 |        faces all: 0 to 3; lower: 0 to 2; upper: 1 to 3
//   faces     0   1   2   3
//
// Labels, which state what an axis of the process grid does to x and y: n (splits the batch), c
// (splits channels), d/h/w (splits a spatial dimension), B (x and y are replicated), R (they are on
// the root only); P (partial sums) for means, which are linear.
#include "kernels/pooling/pooling.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "geometry/layout/cuts.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kStrideSetting = {
    "stride",
    OptionSpec::Ints,
    nullptr,
    "step of the window, one number for all spatial dimensions or one each; the window's size "
    "where it is not set",
    nullptr,
    atLeast(1)};
constexpr OptionSpec kCeilSetting = {"ceil", OptionSpec::Flag, "false",
                                     "round the number of outputs up: a last window may reach "
                                     "beyond the padding"};
constexpr OptionSpec kMaximumSettings[] = {
    kKernelSetting,           kStrideSetting,      kDilationSetting,
    kPaddingSetting,          kPaddingHighSetting, kBoundarySetting,
    kBoundaryConstantSetting, kOutputCutsSetting,  kCeilSetting,
    kFilledSetting,           kHaloSetting,        kVectorsSetting};
constexpr OptionSpec kAverageSettings[] = {
    kKernelSetting,
    kStrideSetting,
    kDilationSetting,
    kPaddingSetting,
    kPaddingHighSetting,
    kBoundarySetting,
    kBoundaryConstantSetting,
    kOutputCutsSetting,
    kCeilSetting,
    kFilledSetting,
    kHaloSetting,
    kVectorsSetting,
    {"include_padding", OptionSpec::Flag, "true",
     "divide by the size of the window, padding included, and not by what lies in the domain"}};

template <class T>
class LocalPooling final : public ArrayKernel {
public:
  LocalPooling(const ImageWindows& images, PoolingMode mode, Backend backend,
               const KernelContextPtr& context)
      : kernel_(makePooling<T>({images.batch * images.channels, images.window, mode}, backend,
                               context)),
        images_(images), isMaximum_(mode == PoolingMode::Max) {}

  ChannelOrders channelOrders() override {
    return isMaximum_ ? ChannelOrders::Same : ChannelOrders::First;
  }
  bool infer(Arrays x, KernelParameters, const Finish&, LocalArray& y) override {
    // A user's images of one pixel have both orders, so the output's order counts as well.
    if (!isMaximum_ || !isChannelsLast(x[0]) || !isChannelsLast(y))
      return false;
    maximaChannelsLast<T>(y.context(), images_, x[0].data<T>(), y.mutableData<T>());
    return true;
  }

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer* workspace) override {
    kernel_->forward(x[0].data<T>(), y.mutableData<T>(),
                     workspace ? workspace->data<void>() : nullptr);
  }
  void tangent(const SavedArrays& point, Arrays dx, KernelParameters, LocalArray& dy) override {
    if (dx[0])
      kernel_->tangent(dx[0].data<T>(), point.workspace->data<void>(), dy.mutableData<T>());
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      kernel_->adjoint(dy.data<T>(), point.workspace->data<void>(), dx[0].mutableData<T>());
  }
  std::string describe() const override {
    return fmt::format("backend {}", backendName(kernel_->backend()));
  }

private:
  std::unique_ptr<Pooling<T>> kernel_;
  ImageWindows images_;
  bool isMaximum_;
};

// Windows do not extend over batch and channels, so each pair of these is an independent plane.
std::unique_ptr<ArrayKernel>
makePoolingKernel(const KernelPlace& at, const std::vector<Window>& windows, PoolingMode mode) {
  const Box in = at.input();
  const ImageWindows images{.batch = in[0].size(),
                            .channels = in[1].size(),
                            .window = localWindow(windows, at.use().shape(), in, at.outputs())};
  return makeTyped<LocalPooling>(at.type, images, mode, at.backend, at.context);
}

class PoolingDeclaration final : public Windowed {
public:
  explicit PoolingDeclaration(bool isMaximum)
      : Windowed(isMaximum ? "maxpooling" : "averagepooling",
                 isMaximum ? std::span<const OptionSpec>(kMaximumSettings) : kAverageSettings),
        isMaximum_(isMaximum) {}

  SignatureTable rows(const std::vector<Shape>&) const override {
    return imageTable(spatialRank(), /*linear=*/!isMaximum_);
  }

  std::string computedHaloObstacle() const override { return computedHaloObstacleOfWindows(); }

  Work work(const Form& form, int position) const override {
    double taps = 1;
    for (const Window& window : windows())
      taps *= double(window.kernel);
    return {.columns = taps * double(elements(form.output.box(position)))};
  }
  // Windows that do not overlap have faster kernels.
  std::string kernelKind() const override {
    const bool areDisjoint = std::ranges::all_of(
        windows(), [](const Window& window) { return window.kernel <= window.stride; });
    return areDisjoint ? type() : "overlapping " + type();
  }

  // The derivative of a maximum needs its position, that of a mean needs nothing.
  KernelEntry kernel(const Form& form) const override {
    return {.name = type(),
            .workspace = {.bytes = isMaximum_ ? Index(sizeof(std::int32_t)) : 0,
                          .elementsOf = form.output}};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const PoolingMode mode = isMaximum_                ? PoolingMode::Max
                             : flag("include_padding") ? PoolingMode::AverageIncludePad
                                                       : PoolingMode::AverageExcludePad;
    return makePoolingKernel(at, windows(), mode);
  }

  std::string summary() const override {
    const char* mode = isMaximum_                ? "max"
                       : flag("include_padding") ? "average including padding"
                                                 : "average excluding padding";
    return fmt::format("{}-D, {}, {}", spatialRank(), mode, windowText());
  }

  // Padding is at most half of a window's reach, because a window that covers only padding has no
  // maximum.
  Example example(ExampleDraw& draw) const override {
    Example example = windowExample(draw, /*channels=*/draw.between(1, 4), /*mostPadding=*/50);
    example.settings.emplace_back("ceil", draw.chance(40));
    if (!isMaximum_)
      example.settings.emplace_back("include_padding", draw.chance(50));
    return example;
  }

private:
  bool padsWithZeros() const override { return false; }
  Index defaultStride(Index kernel) const override { return kernel; }
  Index outputChannels(const Shape& input) const override {
    return input.size() > 1 ? input[1] : 0;
  }

  bool isMaximum_;
};

constexpr OptionSpec kFaceSettings[] = {
    {"faces", OptionSpec::String, nullptr,
     "the faces that there are in each spatial dimension, separated by commas: none, where values "
     "stay; all, one more than cells; lower or upper, one for each cell"},
    kBoundarySetting,
    kBoundaryConstantSetting,
    kFilledSetting};

// Faces of n cells in a dimension: All are at 0, 1, ..., n; Lower at 0, ..., n-1 (face i is before
// cell i); Upper at 1, ..., n. The faces that are missing are outside the domain and defined by the
// boundary mode, like the cells before the first and after the last.
enum class Faces { None, All, Lower, Upper };

// The mean of the two cells beside a face (stagger), or of the two faces beside a cell (collocate).
class FaceMeans final : public Windowed {
public:
  explicit FaceMeans(bool toCells)
      : Windowed(toCells ? "collocate" : "stagger", kFaceSettings), toCells_(toCells) {}

  SignatureTable rows(const std::vector<Shape>&) const override {
    return imageTable(spatialRank(), /*linear=*/true);
  }
  // Whether the type can be used on the patches of a multi-block grid. Faces cannot be inputs: on a
  // patch that is turned they are at other positions.
  bool joinsPatches(const std::vector<Shape>&) const override { return !toCells_; }
  Work work(const Form& form, int position) const override {
    double taps = 1;
    for (const Window& window : windows())
      taps *= double(window.kernel);
    return {.columns = taps * double(elements(form.output.box(position)))};
  }
  std::string kernelKind() const override { return "overlapping averagepooling"; }
  KernelEntry kernel(const Form& form) const override {
    return {.name = type(), .workspace = {.bytes = 0, .elementsOf = form.output}};
  }
  // Elements filled by a boundary mode count, missing ones at a wall do not.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makePoolingKernel(at, windows(), PoolingMode::AverageExcludePad);
  }
  std::string summary() const override {
    return fmt::format("{}-D, faces {}, boundary {}{}", spatialRank(), text("faces"),
                       text("boundary"), isFilled() ? ", halos as filled" : "");
  }
  Example example(ExampleDraw& draw) const override;

private:
  const char* sizedBy() const override { return "faces"; }
  std::vector<Faces> faces() const;
  std::vector<Index> windowSizes() const override {
    std::vector<Index> sizes;
    for (const Faces kind : faces())
      sizes.push_back(kind == Faces::None ? 1 : 2);
    return sizes;
  }
  void padWindows(std::vector<Window>& windows) const override;
  bool padsWithZeros() const override { return false; }
  Index outputChannels(const Shape& input) const override {
    return input.size() > 1 ? input[1] : 0;
  }
  void checkInput(const Layout& input, const std::string& labels) const override;
  Layout layoutOfOutputs(const std::vector<Window>& windows, const Layout& plain,
                         const Shape& shape, const TensorSignature& requested,
                         const Choice& choice) const override;

  bool toCells_;
};

std::vector<Faces> FaceMeans::faces() const {
  constexpr std::pair<std::string_view, Faces> kWords[] = {
      {"none", Faces::None}, {"all", Faces::All}, {"lower", Faces::Lower}, {"upper", Faces::Upper}};
  std::vector<Faces> faces;
  std::string words = text("faces");
  std::erase(words, ' ');
  for (const std::string& word : split(words, ',')) {
    const auto entry = std::ranges::find(kWords, word, [](const auto& w) { return w.first; });
    if (entry == std::end(kWords))
      throw Error(TENON_ERR_ARG,
                  fmt::format("faces of {} are \"{}\"; give none, all, lower or upper for each "
                              "spatial dimension, separated by commas",
                              title(), text("faces")));
    faces.push_back(entry->second);
  }
  return faces;
}

// Pads a side by one element if its outermost output has a neighbour that is missing. Face i is
// between cells i-1 and i. From cells to faces, the first face needs padding if it exists; from
// faces to cells, the first cell needs padding if its lower face does not exist.
void FaceMeans::padWindows(std::vector<Window>& windows) const {
  const std::vector<Faces> faces = this->faces();
  for (std::size_t d = 0; d < faces.size(); ++d) {
    const bool hasLower = faces[d] == Faces::All || faces[d] == Faces::Lower;
    const bool hasUpper = faces[d] == Faces::All || faces[d] == Faces::Upper;
    if (faces[d] == Faces::None)
      continue;
    windows[d].padLow = toCells_ != hasLower;
    windows[d].padHigh = toCells_ != hasUpper;
  }
}

// Throws if cells read a missing face without a boundary mode. At a wall, a face can have the value
// of its one cell, but a cell must not have the value of one face.
void FaceMeans::checkInput(const Layout& input, const std::string&) const {
  const std::vector<Window> windowList = windows();
  for (std::size_t d = 0; toCells_ && !isFilled() && d < windowList.size(); ++d) {
    const Window& window = windowList[d];
    const bool low = window.padLow > 0 && window.lowMode == Boundary::None;
    if (low || (window.padHigh > 0 && window.highMode == Boundary::None))
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has no {} face in spatial dimension {} of the input [{}] (faces "
                              "\"{}\"), and no boundary mode there; set boundary (zero for a wall, "
                              "periodic for a period, ...), or faces to all",
                              title(), low ? "first" : "last", d, fmt::join(input.shape(), ","),
                              text("faces")));
  }
}

// Faces are split where the cells are; a last additional face is on the last rank.
Layout FaceMeans::layoutOfOutputs(const std::vector<Window>& windows, const Layout& plain,
                                  const Shape& shape, const TensorSignature& requested,
                                  const Choice& choice) const {
  const Layout output = Windowed::layoutOfOutputs(windows, plain, shape, requested, choice);
  if (outputCuts(choice) == OutputCuts::Balanced)
    return output;
  LayoutSpec spec = output.spec();
  for (int d = kFirstSpatial; d < plain.ndim(); ++d)
    spec.cuts[d] = cutsOfExtent(plain.cuts(d), shape[d]);
  return Layout(std::move(spec));
}

Example FaceMeans::example(ExampleDraw& draw) const {
  Example example{{}, {{draw.between(1, 3), draw.between(1, 4)}}};
  std::vector<std::string> faces, modes;
  const Index dims = draw.between(1, 3);
  bool needsValues = false;
  for (Index d = 0; d < dims; ++d) {
    faces.push_back(draw.of({"none", "all", "all", "lower", "upper"}));
    const bool hasPadding = faces.back() != "none" && (faces.back() != "all" || !toCells_);
    modes.push_back(
        draw.of({"periodic", "symmetric", "odd", "odd_point", "zero", "values", "none"}));
    if (modes.back() == "none" && hasPadding && toCells_)
      modes.back() = "periodic";
    if (modes.back() == "values" && !hasPadding)
      modes.back() = "none";
    needsValues |= modes.back() == "values";
    example.inputs.front().push_back(draw.between(2, dims == 1 ? 9 : 5));
  }
  example.settings = {{"faces", joined(faces, ",")}, {"boundary", joined(modes, ",")}};
  if (needsValues && draw.chance(50))
    example.settings.emplace_back("boundary_constant", 0.5);
  else if (needsValues)
    example.inputs.push_back({1});
  return example;
}

} // namespace

std::unique_ptr<Declaration> declareCollocate() {
  return std::make_unique<FaceMeans>(/*toCells=*/true);
}

std::unique_ptr<Declaration> declareStagger() {
  return std::make_unique<FaceMeans>(/*toCells=*/false);
}

std::unique_ptr<Declaration> declareMaxPooling() {
  return std::make_unique<PoolingDeclaration>(/*isMaximum=*/true);
}

std::unique_ptr<Declaration> declareAveragePooling() {
  return std::make_unique<PoolingDeclaration>(/*isMaximum=*/false);
}

} // namespace tenon
