// SPDX-License-Identifier: BSD-2-Clause
// Convolution in groups of channels, one by default:
//     y[n,o,s] = sum over i, t of x[n,i,S] W[o,i,t] + b[o],  S = s stride - pad + t dilation,
// where x beyond the domain is what the windows' boundary modes say, or zero.
//
// Letters on a mesh axis: n batch (data parallel), o output channels (model parallel), i input
// channels (y partial), g groups, d/h/w a spatial dimension (domain parallel, with halo), B all replicated,
// R all on the root, P a partial input. Any mix on several axes.
//
// Where the input lies as it is used but for a halo, the outputs that read no halo can be computed
// while it travels, and those that do in strips afterwards (window_pieces.hpp); likewise the input's
// cotangent. The price is a kernel call for each strip, the gain also a copy of the input.
#pragma once

#include "layer/windowed_layer.hpp"

namespace tenon {

enum class Overlap { Auto, On, Off };

class ConvolutionLayer final : public WindowedLayer {
public:
  // One window for each spatial dimension, 1 to 3 of them.
  ConvolutionLayer(CommPtr comm, Index inChannels, Index outChannels, std::vector<Window> windows);

  const char* type() const noexcept override { return "convolution"; }
  void setBias(bool bias);
  // Parts of the channels that are convolved each for itself; they divide both numbers of channels.
  void setGroups(Index groups);
  // Of the halo and what needs none. On is refused at set-up (TENON_ERR_SUPPORT) where the input
  // needs another conversion, or a side has the boundary mode values.
  void setOverlap(Overlap overlap);
  // Reads -tenon_[prefix_]overlap too.
  void setFromOptions() override;

private:
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;
  WindowPlan windowPlan(const Layout& input) const override;
  SignatureTable table() const;
  void checkInput(const Layout& input) const;
  void checkSignature() const;
  Layout plainLayout(const Layout& input, const Properties& properties) const;
  std::unique_ptr<LocalKernel> localKernel(const Layout& use, const Layout& output,
                                           const Box& outputs) const;
  bool overlapsHalo(const Layout& input, const WindowPlan& window, std::size_t strips) const;
  void planParameters(const Signature& chosen, const Layout& plain, KernelPlan& plan);

  Index inChannels_, outChannels_, groups_ = 1;
  bool bias_ = true;
  Overlap overlap_ = Overlap::Auto;
};

} // namespace tenon
