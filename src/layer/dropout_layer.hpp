// SPDX-License-Identifier: BSD-2-Clause
// Dropout (Srivastava et al. 2014), scaled while training: y = m x / (1 - rate), where m is 0 with
// probability rate, else 1; in inference y = x.
//
// The mask is drawn by (seed, stream of the layer and number of the Apply, global index), so it does
// not depend on the partition, and the derivatives draw it again instead of keeping it. Letters on a
// mesh axis: S0, S1, ..., B, R, P: with the mask given the map is linear, and all addends get one
// mask.
#pragma once

#include "layer/kernel_layer.hpp"

namespace tenon {

class DropoutLayer final : public KernelLayer {
public:
  explicit DropoutLayer(CommPtr comm, double rate = 0.5);
  const char* type() const noexcept override { return "dropout"; }
  // At least 0, below 1.
  void setRate(double rate);

  // Seed and stream of the masks, which start anew.
  void initialize(std::uint64_t seed, std::uint64_t stream, Fill fill = Fill::All) override;

private:
  friend class LocalDropout;
  std::string ownSettings() const override;
  KernelPlan plan(const Layout& input) override;

  double rate_ = 0;
  bool hasSeed_ = false;
  std::uint64_t seed_ = 0, stream_ = 0;
  std::uint64_t applied_ = 0; // in training
};

} // namespace tenon
