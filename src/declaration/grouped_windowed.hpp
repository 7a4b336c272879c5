// SPDX-License-Identifier: BSD-2-Clause
// What convolution and its adjoint share: channels in groups, which are split between groups alone, and
// the settings of both.
#pragma once

#include "declaration/windowed.hpp"

namespace tenon {

class GroupedWindowed : public Windowed {
public:
  using Windowed::Windowed;
  Index groups() const { return integer("groups"); }

protected:
  // Where the weights have the channels of output and input.
  struct WeightDims {
    int output, input;
  };
  SignatureTable rowsOf(const WeightDims& weight) const;
  Index outputChannels(const Shape&) const override { return integer("out_channels"); }
  void check() const override;
  void checkInput(const Layout& input, const std::string& letters) const override;
  // With groups the channels are cut between groups, near the input's cuts.
  Layout plainLayout(const Layout& input, const MeshPtr& mesh,
                     const TensorSignature& asked) const override;
  std::vector<Index> channelCuts(const Layout& plain) const override;
  Index inOfGroup() const { return integer("in_channels") / groups(); }
  Index outOfGroup() const { return integer("out_channels") / groups(); }
  // The product of the windows' extents.
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
