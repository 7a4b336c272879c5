// SPDX-License-Identifier: BSD-2-Clause
// Base of the types with sliding windows over space (convolution, pooling, padding): the settings
// of their windows, and the layouts of input and output on all ranks. An output is computed where
// the centre of its window is; the elements that a window reads beyond the rank's own block are its
// halo, which an exchange between ranks fills. Below are GroupedWindowed, the base of the two
// convolutions, and the settings that types can include in their tables.
//
// A side without a boundary mode is padded by the kernel. With a mode such as zero, periodic,
// reflect or replicate the halo exchange fills the padding, even if the dimension is not split.
// With mode "values" the caller supplies the padding, by a second input or by a constant.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/core/window_layout.hpp"

namespace tenon {

// The declaration of a type with sliding windows.
class Windowed : public Declaration {
public:
  // One window for each spatial dimension.
  std::vector<Window> windows() const;
  int inputCount() const override;
  std::string inputAdvice() const override;
  // The form of a type with one kernel, in pieces if the type can compute in pieces.
  Form form(const Layouts& inputs, const Choice& choice) const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  // True, because linksOf() checks that windows continue across links.
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  bool keepsPeriod(int dim, const Shape& input) const override;
  // The values outside the domain on sides with boundary mode "values"; none if no side has it.
  std::optional<UserValues> userValues() const;

protected:
  using Declaration::Declaration;
  // The setting with one number per spatial dimension that determines the windows' sizes.
  virtual const char* sizedBy() const { return "kernel"; }
  virtual std::vector<Index> windowSizes() const { return value<std::vector<Index>>("kernel"); }
  // The stride of a window if none was set.
  virtual Index defaultStride(Index /*kernel*/) const { return 1; }
  virtual Index outputChannels(const Shape& input) const = 0;
  virtual void checkInput(const Layout& /*input*/, const std::string& /*labels*/) const {}
  // The input's layout without halos, on the grid, with the properties of the signature.
  virtual Layout plainLayout(const Layout& input, const GridPtr& grid,
                             const TensorSignature& requested) const;
  // The split points of the output's channels if the input's channels are split.
  virtual std::vector<Index> channelCuts(const Layout& plain) const;
  // The layout of the outputs of windows on `plain`.
  virtual Layout layoutOfOutputs(const std::vector<Window>& windows, const Layout& plain,
                                 const Shape& shape, const TensorSignature& requested,
                                 const Choice& choice) const;
  // The padding of windows whose sizes are known.
  virtual void padWindows(std::vector<Window>& windows) const;
  virtual void addParameters(const Layout& /*plain*/, Form& /*form*/) const {}
  // Whether the outputs are computed in pieces. Throws if the settings require it and it is not
  // possible for this input.
  virtual bool computesInPieces(const Layouts&, const Layout& /*plain*/, const Choice&) const {
    return false;
  }
  void check() const override;
  // Checks the text of the setting alone, with as many dimensions as its longest list has modes.
  void checkBoundaryText() const;
  // computedHaloObstacle() for types that use Windowed::form().
  std::string computedHaloObstacleOfWindows() const;
  int spatialRank() const { return static_cast<int>(windowSizes().size()); }
  // One number per spatial dimension; `unset` if the setting has no value.
  std::vector<Index> perDimension(std::string_view name, Index unset) const;
  // Whether a side without a boundary mode is padded with zeros, which can be combined with modes
  // of other channels.
  virtual bool padsWithZeros() const { return true; }
  // Throws TENON_ERR_SHAPE if the boundary modes by channel are for another number of channels than
  // the field beyond which they are, or if it is not a globe and they are those of poles.
  void checkBoundaryShape(const Shape& field) const;
  // How the spatial dimensions of the output are split.
  OutputCuts outputCuts(const Choice& choice) const;
  std::string windowText() const;
  // The rule by which windows on linked patches (of a multi-block grid) read elements of
  // neighbouring patches. `outer` are the extents that the windows cover, and `inner` the numbers
  // of windows. Throws unless the windows continue from patch to patch. Returns none if there are
  // no links, and if the halos have been filled already.
  std::optional<PatchRule> linksOf(const Shape& outer, const Shape& inner,
                                   bool areFilled = false) const;
  // A random example of windows with an input that fits, padded by at most `mostPadding` percent of
  // a window's reach.
  static Example windowExample(ExampleDraw& draw, Index channels, int mostPadding);
  // Makes a globe of some examples: poles in one dimension, and periodic longitudes in another one,
  // which is returned, of an even extent. Returns none otherwise.
  static std::optional<int> drawPoles(ExampleDraw& draw, std::vector<std::string>& boundary,
                                      Shape& field);

  // Whether the caller has filled the halos of the input, both inside and outside the domain.
  bool isFilled() const { return settings().has("filled") && flag("filled"); }

private:
  // The windows for an input with halos that the caller has filled: outside the domain they read
  // the ghost cells of the input, whatever the layer's boundary mode.
  std::vector<Window> filledWindows(const Layout& input) const;
  // Filled halos of an input are used without an exchange. Throws TENON_ERR_LAYOUT unless they hold
  // `use`.
  void checkHalo(const Layout& input, const Layout& use) const;
  // Throws TENON_ERR_LAYOUT if ghost cells outside the domain were filled but no window is padded
  // to read them, which would make the output smaller than the domain.
  void checkReadsGhosts(const std::vector<Window>& windows, const Layout& input) const;
  void checkBoundaryValues(const Layout& values, const Layout& use) const;
  void readBoundary(std::vector<Window>& windows) const; // window_boundary.cpp
  void readPoles(std::vector<Window>& windows) const;
  void checkFollowOn(const Window& window, int dim, Index outer, Index inner) const;
  void addPieces(const std::vector<Window>& windows, const Layout& plain, Form& form) const;
};

// The channels listed by the setting "vectors", if the type has it. Throws TENON_ERR_ARG for
// channels that do not exist.
std::vector<int> vectorChannels(const Declaration& type, Index channels, int spatialRank);

// Settings that types with windows can include in their tables. The fields of a setting are name,
// type, default (nullptr: none), help, choices and bounds.
inline constexpr OptionSpec kKernelSetting = {
    "kernel", OptionSpec::Ints, nullptr, "size of the window, one number per spatial dimension",
    nullptr,  atLeast(1)};
inline constexpr OptionSpec kDilationSetting = {
    "dilation",
    OptionSpec::Ints,
    "1",
    "spacing of the elements of a window, one number for all spatial dimensions or one each",
    nullptr,
    atLeast(1)};
inline constexpr OptionSpec kPaddingSetting = {
    "padding", OptionSpec::Ints, "0",
    "elements of padding before and after the domain, one number for all spatial dimensions or one "
    "each; negative: elements of the domain that are skipped"};
inline constexpr OptionSpec kPaddingHighSetting = {
    "padding_high", OptionSpec::Ints, nullptr,
    "elements of padding after the domain, where they differ from those before it"};
inline constexpr OptionSpec kBoundarySetting = {
    "boundary", OptionSpec::String, "none",
    "boundary mode of the padding: none, zero, periodic, reflect, replicate, values, symmetric, "
    "odd, odd_point, linked, pole or pole_point, or low/high of these; one for all spatial "
    "dimensions, or one each, separated by commas; such a list for all channels, or one each, "
    "separated by semicolons, or 0=list, 0:2=list for channels alone"};
inline constexpr OptionSpec kFilledSetting = {
    "filled", OptionSpec::Flag, "false",
    "whether the caller has filled the halos of the input, inside the domain and outside: then "
    "nothing is exchanged, and no boundary mode applies"};
inline constexpr OptionSpec kHaloSetting = {
    "halo", OptionSpec::Choice, "auto",
    "halo of the input: exchange, between ranks; compute, by the layers before, each of which "
    "works on the halo too, so that only the first of them exchanges one; auto: as the setting "
    "halo_depth of the container says",
    "auto|exchange|compute"};
inline constexpr OptionSpec kVectorsSetting = {
    "vectors",
    OptionSpec::Ints,
    nullptr,
    "channels that are components of vectors along the spatial dimensions, as many for each "
    "vector; "
    "they turn with the grid where linked patches meet turned, and beyond a pole those along "
    "latitudes and longitudes change their sign",
    nullptr,
    atLeast(0)};
inline constexpr OptionSpec kOutputCutsSetting = {
    "output_cuts", OptionSpec::Choice, "follow",
    "how the spatial dimensions of the output are cut: follow, where the centres of the windows "
    "are "
    "cut in the input, or balanced, into parts of equal size",
    "follow|balanced"};
inline constexpr OptionSpec kBoundaryConstantSetting = {
    "boundary_constant", OptionSpec::Real, nullptr,
    "value used for boundary mode values instead of a second input"};

// Base of convolution and transposed convolution: channels in groups, which are split only between
// groups, and the settings of both.

class GroupedWindowed : public Windowed {
public:
  using Windowed::Windowed;
  Index groups() const { return integer("groups"); }

protected:
  // The dimensions of the weights that correspond to the channels of output and input.
  struct WeightDims {
    int output, input;
  };
  SignatureTable rowsOf(const WeightDims& weight) const;
  Index outputChannels(const Shape&) const override { return integer("out_channels"); }
  void check() const override;
  void checkInput(const Layout& input, const std::string& labels) const override;
  // With groups, channels are split between groups, close to the split points of the input.
  Layout plainLayout(const Layout& input, const GridPtr& grid,
                     const TensorSignature& requested) const override;
  std::vector<Index> channelCuts(const Layout& plain) const override;
  Index inOfGroup() const { return integer("in_channels") / groups(); }
  Index outOfGroup() const { return integer("out_channels") / groups(); }
  // Number of elements of a window.
  Index taps() const;
  // "2-D, 4 -> 6 channels in 2 groups, kernel 3x3, ..."
  std::string channelText() const;
};

inline constexpr OptionSpec kInChannelsSetting = {
    "in_channels", OptionSpec::Int, nullptr, "number of input channels", nullptr, atLeast(1)};
inline constexpr OptionSpec kOutChannelsSetting = {
    "out_channels", OptionSpec::Int, nullptr, "number of output channels", nullptr, atLeast(1)};
inline constexpr OptionSpec kConvolutionStrideSetting = {
    "stride", OptionSpec::Ints,
    "1",      "step of the window, one number for all spatial dimensions or one each",
    nullptr,  atLeast(1)};
inline constexpr OptionSpec kGroupsSetting = {
    "groups", OptionSpec::Int, "1", "groups of channels, each convolved for itself",
    nullptr,  atLeast(1)};
inline constexpr OptionSpec kBiasSetting = {"bias", OptionSpec::Flag, "true",
                                            "whether a bias is added"};

} // namespace tenon
