// SPDX-License-Identifier: BSD-2-Clause
// A conversion as a layer: y is x in a layout that the user gives, on the same mesh or another, and
// the adjoint is the conversion's, C(x -> y)* = C(y* -> x*). Where it stands in a network it ends
// what a layer's choice of signature can reach: the next layer sees the layout given here.
//
// The layout is a pattern for any batch: see layoutLike().
#pragma once

#include "layer/layer.hpp"

namespace tenon {

class RepartitionLayer final : public OneInputLayer {
public:
  RepartitionLayer(CommPtr comm, Layout output);
  const char* type() const noexcept override { return "repartition"; }

private:
  std::string ownSettings() const override;
  std::string ownSummary() const override { return {}; }
  std::unique_ptr<Setup> makeSetup(const Layout& input) override;

  Layout output_;
};

} // namespace tenon
