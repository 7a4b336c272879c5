// SPDX-License-Identifier: BSD-2-Clause
// A network set up for its inputs: the tensors between its nodes, and who writes where.
#pragma once

#include "layer/layer.hpp"

namespace tenon {

class NetworkSetup final : public Setup {
public:
  // values: the layouts of the network's values, its inputs first.
  NetworkSetup(const Layer& layer, const Layouts& values);

  std::unique_ptr<Frame> makeFrame() override;
  void applyMany(Inputs x, DTensor& y, Frame& frame, bool training) override;
  void tangentMany(Frame& frame, Inputs dx, DTensor& dy) override;
  void adjointMany(Frame& frame, const DTensor& dy, InputCotangents dx) override;
  std::string describe() const override;
  Index bytes() const override;

private:
  // One input of a node. In the adjoint the first edge of a value that is reached writes the
  // value's cotangent; each later one writes an addend of its own.
  struct Edge {
    int value;
    Ref<DTensor> addend; // null for the first
  };
  struct Step {
    Layer* layer;
    std::vector<Edge> edges;
    std::vector<const DTensor*> reads; // arguments of the layer, room kept for them
    std::vector<DTensor*> writes;
  };

  void makeSteps();
  void checkAllRead() const;
  // Tensors of the values that neither come from the caller nor go to him.
  std::vector<Ref<DTensor>> between(const Layouts& layouts) const;
  int inputCount() const { return layer_.inputCount(); }
  void setReads(Step& step, Inputs x, const std::vector<Ref<DTensor>>& values);
  void setWrites(Step& step, InputCotangents dx);
  DTensor* cotangent(int value, InputCotangents dx) const;
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, layer_.dataType());
  }

  const Layer& layer_;
  Layouts values_, duals_;
  int output_;
  std::vector<Step> steps_;
  std::vector<Ref<DTensor>> tangents_, cotangents_;
};

} // namespace tenon
