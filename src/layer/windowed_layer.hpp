// SPDX-License-Identifier: BSD-2-Clause
// What the layers with sliding windows over space share: the windows with their padding and boundary
// modes, and how input and output lie.
//
// A side without a mode is padding of the kernel's. With zero, periodic, reflect or replicate the
// padding is filled by the halo exchange, whether the dimension is split or not; with values by the
// caller: the layer then has a second input (kernel_layer.hpp), or a constant in its place.
#pragma once

#include "geometry/window.hpp"
#include "layer/kernel_layer.hpp"

namespace tenon {

class WindowedLayer : public KernelLayer {
public:
  // As many as there are spatial dimensions.
  void setWindows(std::vector<Window> windows);
  const std::vector<Window>& windows() const noexcept { return windows_; }
  // What lies beyond sides of mode values.
  void setBoundaryConstant(double value);
  // Reads -tenon_[prefix_]boundary and boundary_constant too.
  void setFromOptions() override;
  // Where the second input lies, unless it is one number: the input's use layout, in which the
  // cells beyond sides of mode values count and no others. Throws TENON_ERR_STATE for a layer
  // without such an input.
  Layout boundaryLayout(const Layout& input) const;

protected:
  // `plain` is the input's use layout without margins.
  struct WindowPlan {
    Signature signature;
    Layout plain, output, use;
  };

  // Throws TENON_ERR_ARG unless there are 1 to 3 windows.
  WindowedLayer(CommPtr comm, std::vector<Window> windows);
  virtual WindowPlan windowPlan(const Layout& input) const = 0;
  // Halos of the input are taken as they are filled. Throws TENON_ERR_LAYOUT unless they hold `use`.
  void checkHalo(const Layout& input, const Layout& use) const;
  int spatialRank() const noexcept { return static_cast<int>(windows_.size()); }
  // What the plan says of sides of mode values.
  std::optional<CallersValues> callersValues() const;
  std::string describeWindows() const;

private:
  void readBoundary(const std::string& text);

  std::vector<Window> windows_;
  std::optional<double> constant_;
};

} // namespace tenon
