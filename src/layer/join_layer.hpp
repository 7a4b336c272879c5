// SPDX-License-Identifier: BSD-2-Clause
// Layers that join several inputs into one output without parameters:
//
//   add          y = sum over i of x_i
//   concatenate  y = the x_i one after the other along a dimension
//
// Both are  y = sum over i of E_i x_i,  where E_i puts x_i at its place in y (for add: everywhere).
// Let y have the layout L. Then x_i is used in L restricted to its place: the same mesh, properties
// and order of axes, each part cut off at the ends of x_i. In these layouts every rank joins what
// it holds, whatever the properties are, P and a split of the dimension itself included; conversions
// from the inputs' own layouts do the rest. The adjoint hands out y's cotangent likewise.
//
// Letters on a mesh axis: S0, S1, ..., B, R, P. Without a choice y lies as the first input does.
#pragma once

#include "layer/layer.hpp"

#include <optional>

namespace tenon {

class JoinLayer : public Layer {
public:
  // The output lies like this, for any batch: see layoutLike().
  void setOutput(const Layout& pattern);

protected:
  using Layer::Layer;
  // -1 where every input covers the output.
  virtual int dimension() const { return -1; }
  std::string ownSettings() const override;

private:
  void checkShapes(const Layouts& inputs) const;
  Layout outputOf(const Layouts& inputs) const;
  std::unique_ptr<Setup> makeSetupOf(const Layouts& inputs) final;

  std::optional<Layout> output_;
};

class AddLayer final : public JoinLayer {
public:
  explicit AddLayer(CommPtr comm) : JoinLayer(std::move(comm)) {}
  const char* type() const noexcept override { return "add"; }
};

class ConcatenateLayer final : public JoinLayer {
public:
  // Throws TENON_ERR_ARG for a negative dimension.
  ConcatenateLayer(CommPtr comm, int dim);
  const char* type() const noexcept override { return "concatenate"; }

private:
  int dimension() const override { return dim_; }
  int dim_;
};

} // namespace tenon
